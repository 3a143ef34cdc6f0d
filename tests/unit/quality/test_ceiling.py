"""All pairs by their exact Jaccard similarity, as comparing each with each finds them; and which of them keys meet."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.quality.ceiling import LEAST, KeyMatcher, similar_pairs
from es_simhash.quality.labels import PredictedPairs, first_positions
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.text.tokens import Chars
from tests.support.corpus import corpus, edited
from tests.support.fuzzing import examples
from tests.support.labelled import documents

SCHEME = Scheme(verification=None)
TEXTS = [text for _, text in documents()]


def listed(found: PredictedPairs) -> dict[tuple[int, int], float]:
    pairs = zip(*(side.tolist() for side in positions(found.pairs)), strict=True)
    return dict(zip(pairs, found.similarities.tolist(), strict=True))


@examples(40)
@given(st.lists(st.text("abc", max_size=12), max_size=12))
def test_all_pairs_are_found_that_are_similar(texts: list[str]) -> None:
    scheme = Scheme(tokens=Chars(2))
    similar = similar_pairs(scheme, texts, first_positions(texts))
    expected = {
        (a, b): scheme.exact_jaccard(texts[a], texts[b])
        for a, b in combinations(range(len(texts)), 2)
        if texts[a] and texts[b]
    }
    assert similar.is_complete
    assert listed(similar.predicted) == pytest.approx({pair: j for pair, j in expected.items() if j >= LEAST})


@pytest.mark.parametrize("most", [{"most_postings": 10}, {"most_features": 10}])
def test_generous_keys_find_the_same_pairs_where_all_would_take_too_long(most: dict[str, int]) -> None:
    apart = first_positions(TEXTS)
    all_pairs, by_keys = similar_pairs(SCHEME, TEXTS, apart), similar_pairs(SCHEME, TEXTS, apart, **most)
    assert (all_pairs.is_complete, by_keys.is_complete) == (True, False)
    found, expected = listed(by_keys.predicted), listed(all_pairs.predicted)
    assert {pair: found.get(pair) for pair, j in expected.items() if j > 0.4} == pytest.approx(
        {pair: j for pair, j in expected.items() if j > 0.4}
    )


def test_keys_meet_as_the_texts_of_keys_do() -> None:
    original = corpus(1)[0]
    texts = [original["body"], "", *(edited(original, 4 * number)["body"] for number in range(12))]
    keys = KeyMatcher(SCHEME, Criteria.of(SCHEME, "minhash"), texts)
    first, second = np.array(list(combinations(range(len(texts)), 2))).T
    fingerprints = list(SCHEME.fingerprints(texts))
    expected = [
        bool({*SCHEME.band_keys(fingerprints[a])} & {*SCHEME.band_keys(fingerprints[b])})
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    assert keys.meet(pair_codes(first, second)).tolist() == expected
    assert {True, False} == set(expected)


def test_blocks_meet_whatever_is_within_the_distance() -> None:
    criteria = Criteria.of(SCHEME, "simhash")
    keys = KeyMatcher(SCHEME, criteria, TEXTS)
    fingerprints = list(SCHEME.fingerprints(TEXTS))
    for a, b in combinations(range(len(TEXTS) - 1), 2):
        [met] = keys.meet(pair_codes(np.array([a]), np.array([b]))).tolist()
        shared = {*SCHEME.block_keys(fingerprints[a])} & {*SCHEME.block_keys(fingerprints[b])}
        assert met == (len(shared) >= 3)
        assert met or SCHEME.distance(fingerprints[a], fingerprints[b]) > 3
