"""Samples of features: whatever bounds them, texts are compared by what both samples have, with a known error."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import numpy as np
import pytest

from es_simhash.groups.pairs.candidates import positions
from es_simhash.quality.ceiling import FeatureSamples, feature_batches, sampled, similar_pairs
from es_simhash.quality.predictions import first_positions
from es_simhash.scheme.scheme import Scheme

SCHEME = Scheme()
LONG, SHORT = (4_000, 4_000, 2_000, 2_000, 1_000), 30


def _texts() -> list[str]:
    """Long texts, each with copies that are rewritten more and more; and short ones, in pairs."""
    rng, found = random.Random(3), list[str]()
    for length in LONG:
        words = _words(rng, length)
        for share in (0.0, 0.02, 0.1, 0.2, 0.3):
            rewritten = [word if rng.random() >= share else "".join(rng.choices("abcdef", k=6)) for word in words]
            found.append(" ".join(rewritten))
    for _ in range(40):
        words = _words(rng, SHORT)
        found += [" ".join(words), " ".join([*words[:-3], "other", "three", "words"])]
    return found


def _words(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choices("abcdefghijklmnop", k=7)) for _ in range(count)]


TEXTS = _texts()


def samples_of(texts: list[str], most: int) -> FeatureSamples:
    found = sampled(feature_batches(SCHEME, texts), most)
    assert found
    return found


def by_text(samples: FeatureSamples) -> list[set[int]]:
    return [set(samples.features.hashes[a:b].tolist()) for a, b in pairwise(samples.features.offsets.tolist())]


def test_samples_are_no_more_than_asked_for_and_short_texts_are_whole() -> None:
    whole, some = samples_of(TEXTS, 1 << 30), samples_of(TEXTS, 40_000)
    assert not whole.levels.any()
    assert some.levels.any()
    assert len(some.features.hashes) <= 40_000 < len(whole.features.hashes)
    for text, level, all_, kept in zip(TEXTS, some.levels.tolist(), by_text(whole), by_text(some), strict=True):
        assert (level == 0) == (len(text) < 1_000)
        assert kept == all_ if level == 0 else kept < all_


def test_the_samples_are_the_same_in_whatever_order_texts_come() -> None:
    order = list(range(len(TEXTS)))
    random.Random(1).shuffle(order)
    there, here = samples_of([TEXTS[place] for place in order], 40_000), samples_of(TEXTS, 40_000)
    assert by_text(there) == [by_text(here)[place] for place in order]
    assert there.levels.tolist() == here.levels[order].tolist()


def test_totals_are_those_of_the_features_that_both_samples_would_have() -> None:
    some, whole = samples_of(TEXTS, 40_000), by_text(samples_of(TEXTS, 1 << 30))
    totals, own = some.totals(), by_text(some)
    assert len(set(some.levels.tolist())) > 2
    rng = random.Random(2)
    for a, b in rng.sample(list(combinations(range(len(TEXTS)), 2)), 300):
        first, second = some.totals_of(totals, np.array([a]), np.array([b]))
        higher = a if some.levels[a] >= some.levels[b] else b
        other = b if higher == a else a
        assert own[a] & own[b] == own[higher] & whole[other]
        sizes = {a: int(first[0]), b: int(second[0])}
        assert sizes[higher] == len(own[higher])
        assert sizes[other] <= len(own[other])
        assert len(own[a] & own[b]) <= min(sizes.values())


def test_estimates_are_within_a_few_standard_errors_and_short_texts_are_compared_exactly() -> None:
    originals = first_positions(TEXTS)
    exact = similar_pairs(SCHEME, TEXTS, originals).predicted
    found = similar_pairs(SCHEME, TEXTS, originals, most_features=40_000)
    assert not found.is_complete
    assert 0 < found.standard_error < 0.03
    are_exact = found.predicted.are_exact.tolist()
    pairs = zip(*(side.tolist() for side in positions(found.predicted.pairs)), strict=True)
    assert are_exact == [len(TEXTS[a]) < 1_000 for a, b in pairs]
    known = exact.of(found.predicted.pairs).similarities
    errors = np.abs(known - found.predicted.similarities)
    assert errors[found.predicted.are_exact] == pytest.approx(0)
    assert 0 < np.nanmax(errors) < 4 * found.standard_error
    clear = exact.pairs[exact.similarities > 0.3]
    assert not np.isnan(found.predicted.of(clear).similarities).any()


def test_fewer_postings_are_counted_of_smaller_samples() -> None:
    whole = samples_of(TEXTS, 1 << 30)
    fewer = similar_pairs(SCHEME, TEXTS, first_positions(TEXTS), most_postings=whole.postings // 3)
    assert not fewer.is_complete
    assert 0 < fewer.standard_error < 0.03


def test_too_many_texts_are_not_sampled() -> None:
    assert sampled(feature_batches(SCHEME, TEXTS), 2_000) is None
    assert sampled(iter(()), 2_000) is not None
