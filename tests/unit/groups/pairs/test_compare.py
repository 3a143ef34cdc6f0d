"""The valley of similarities: found where there are two kinds of pairs, and only there.

Learning from texts as they come: from the same ones in whatever order, in parts or whole.
"""

from __future__ import annotations

import random
from base64 import urlsafe_b64decode
from dataclasses import replace
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.groups import of_texts
from es_simhash.groups.of_texts import LowestTexts, group_texts, learn_from
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs import compare
from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.groups.pairs.compare import PairSample, valley_of
from es_simhash.quality.similarity_histogram import histogram
from es_simhash.scheme.own_fields import content_hash
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Similarities, rarity_of
from tests.support.fuzzing import examples
from tests.support.random_corpus import texts_of_two_kinds

VERIFICATION = Verification(0.8, measure="balanced", features="text")
SCHEME = Scheme(verification=VERIFICATION)


def two_modes(seed: int, low: int, high: int) -> Similarities:
    """Some pairs of about .25, and others of about .8; hardly any from .45 to .65."""
    rng = np.random.default_rng(seed)
    return np.concatenate([0.2 + 0.3 * rng.beta(1, 3, low), 0.6 + 0.4 * rng.beta(4, 2, high)])


@pytest.mark.parametrize(("low", "high"), [(200, 60), (60, 200), (3_000, 100), (40, 40), (5_000, 5_000)])
@pytest.mark.parametrize("seed", range(3))
def test_the_valley_lies_between_two_modes(low: int, high: int, seed: int) -> None:
    found = valley_of(two_modes(seed, low, high))
    assert found is not None
    assert 0.45 < found < 0.7


@pytest.mark.parametrize("count", [0, 1, 50, 1_000, 16_000])
def test_one_mode_has_no_valley(count: int) -> None:
    rng = np.random.default_rng(count)
    for shape in ((1, 1), (1, 4), (3, 3), (5, 1)):
        assert valley_of(0.2 + 0.8 * rng.beta(*shape, count)) is None
    assert valley_of(np.full(count, 0.9)) is None


def test_a_few_pairs_of_another_kind_are_not_enough() -> None:
    assert valley_of(two_modes(1, 300, 6)) is None


def test_what_is_below_the_lowest_similarity_does_not_count() -> None:
    some = two_modes(2, 200, 200)
    assert valley_of(np.concatenate([some, np.zeros(100_000)])) == valley_of(some)


def test_a_wide_valley_has_its_middle() -> None:
    rng = np.random.default_rng(3)
    wide = np.concatenate([rng.uniform(0.2, 0.3, 200), rng.uniform(0.9, 1.0, 200)])
    assert valley_of(wide) == pytest.approx(0.6, abs=0.01)


def test_a_sample_is_the_same_in_whatever_parts_pairs_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "_MOST", 1_000)
    rng = np.random.default_rng(1)
    first = np.arange(8_000)
    codes, similarities = pair_codes(first, first + 1), two_modes(1, 7_000, 1_000)
    found = set()
    for parts in (1, 7, 800):
        sample = PairSample()
        for some in np.array_split(rng.permutation(len(codes)), parts):
            taken = some[sample.takes(codes[some])]
            sample.add(codes[taken], similarities[taken])
        assert 400 < len(sample) <= 1_000
        found.add(sample.valley)
    assert len(found) == 1
    assert None not in found


@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.95])
def test_texts_part_between_those_that_share_a_frame_and_copies_whatever_is_near(threshold: float) -> None:
    documents = [(str(place), text) for place, text in enumerate(texts_of_two_kinds())]
    random.Random(1).shuffle(documents)
    scheme = replace(SCHEME, verification=replace(VERIFICATION, similarity=threshold))
    with group_texts(documents, scheme, GroupOptions(threads=1)) as duplicates:
        assert duplicates.counts.valley is not None
        assert 0.45 < duplicates.counts.valley < 0.85
        assert all((block["similarity"] >= threshold).all() for block in duplicates.pairs())


def test_a_histogram_has_the_valley_of_the_measure_of_the_scheme() -> None:
    documents = [(str(place), text) for place, text in enumerate(texts_of_two_kinds())]
    found = histogram(SCHEME, documents, examples=0)
    assert found.valley is not None
    assert 0.45 < found.valley < 0.85
    assert (found.threshold, found.near) == (0.8, 60)
    assert histogram(SCHEME, documents[::2], examples=0).valley is None


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8])
def test_following_the_hint_gives_what_it_promises(threshold: float) -> None:
    """Copies are found, what shares a frame is not, and a minimum a little different changes hardly any pair."""
    documents = [(str(place), text) for place, text in enumerate(texts_of_two_kinds())]
    with group_texts(documents, SCHEME, GroupOptions(threads=1, similarity=threshold)) as found:
        valley = found.counts.valley
    assert valley is not None
    near = {}
    for least in (valley - 0.03, valley, valley + 0.03):
        with group_texts(documents, SCHEME, GroupOptions(threads=1, similarity=least)) as found:
            near[least] = found.counts.near
            copies = {tuple(sorted(map(int, group))) for group in found.ids()}
        if least == valley:
            assert copies == {(place, place + 1) for place in range(0, 120, 2)}
    assert max(near.values()) - min(near.values()) <= 2


LEARNING = Scheme()
TEXTS = st.lists(st.text("abc 文档", max_size=12), max_size=40)


@given(texts=TEXTS, order=st.randoms(use_true_random=False), size=st.integers(1, 9), most=st.integers(1, 20))
@examples(60)
def test_the_texts_with_the_lowest_content_hashes_are_learnt_from(
    texts: list[str], order: Random, size: int, most: int
) -> None:
    lowest, shuffled = LowestTexts(), list(texts)
    order.shuffle(shuffled)
    with patch.object(of_texts, "SAMPLE", most):
        for start in range(0, len(shuffled), size):
            lowest.add(shuffled[start : start + size])
        found = list(lowest.found().values())
    assert found == sorted({*texts}, key=content_number)[:most]


@given(texts=TEXTS)
@examples(20)
def test_a_deduplicator_learns_from_its_documents_each_text_once(texts: list[str]) -> None:
    documents = [(str(number), text) for number, text in enumerate(texts * 2)]
    assert learn_from(documents, LEARNING) == rarity_of(LEARNING, sorted({*texts}))


def content_number(text: str) -> int:
    return int.from_bytes(urlsafe_b64decode(content_hash(text)), "big")
