"""Exact similarities.

The weight of the features that texts share, and texts whose features are held; against sets and sums of Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import Integers, offsets_from_counts
from es_simhash.errors import HashError, InputError, WeightError
from es_simhash.sketches import similarity as module
from es_simhash.sketches.similarity import (
    Features,
    SetCache,
    WeightedSet,
    containment,
    cosine,
    jaccard,
    overlap,
    shared_weights,
    weighted_jaccard,
    weighted_sets,
)
from es_simhash.text.features import FeatureBatch

Similarity = Callable[[Features, Features], float]

ALL: list[Similarity] = [jaccard, weighted_jaccard, containment, overlap, cosine]
OF_WEIGHTS: list[Similarity] = [weighted_jaccard, containment, overlap, cosine]

features = st.integers(0, 12) | st.integers(0, 2**64 - 1)
sets = st.sets(features, max_size=12)
mappings = st.dictionaries(features, st.integers(0, 9) | st.floats(0, 100), max_size=12)
exact = st.dictionaries(features, st.integers(1, 9), max_size=12)


def as_array(weights: dict[int, float]) -> tuple[Any, Any]:
    """The array form of a mapping."""
    hashes = np.array(sorted(weights), dtype=np.uint64)
    return hashes, np.array([weights[h] for h in sorted(weights)], dtype=np.float64)


def share(part: int, whole: int, a: object, b: object) -> Fraction:
    if not a or not b:
        return Fraction(not a and not b)
    return Fraction(part, whole)


@given(sets, sets)
def test_similarities_of_sets_are_as_defined(a: set[int], b: set[int]) -> None:
    shared = len(a & b)
    expected = {
        jaccard: share(shared, len(a | b), a, b),
        weighted_jaccard: share(shared, len(a | b), a, b),
        containment: share(shared, len(a), a, b),
        overlap: share(shared, min(len(a), len(b)), a, b),
    }
    for similarity, value in expected.items():
        assert similarity(a, b) == float(value)
    expected_cosine = shared / math.sqrt(len(a) * len(b)) if a and b else float(not a and not b)
    assert cosine(a, b) == pytest.approx(expected_cosine)


@given(exact, exact)
def test_similarities_of_weights_are_as_defined(a: dict[int, int], b: dict[int, int]) -> None:
    both = a.keys() | b.keys()
    lesser = sum(min(a.get(f, 0), b.get(f, 0)) for f in both)
    of_a, of_b = sum(a.values()), sum(b.values())
    assert weighted_jaccard(a, b) == float(share(lesser, of_a + of_b - lesser, a, b))
    assert containment(a, b) == float(share(lesser, of_a, a, b))
    assert overlap(a, b) == float(share(lesser, min(of_a, of_b), a, b))
    product = sum(a[f] * b[f] for f in a.keys() & b.keys())
    lengths = math.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
    assert cosine(a, b) == pytest.approx(product / lengths if lengths else float(not a and not b))


@given(mappings, mappings)
def test_arrays_are_as_similar_as_mappings(a: dict[int, float], b: dict[int, float]) -> None:
    for similarity in ALL:
        assert similarity(as_array(a), as_array(b)) == pytest.approx(similarity(a, b))


@given(sets, sets)
def test_arrays_without_weights_are_as_similar_as_sets(a: set[int], b: set[int]) -> None:
    arrays = [np.array(sorted(members), dtype=np.uint64) for members in (a, b)]
    for similarity in ALL:
        assert similarity(arrays[0], arrays[1]) == pytest.approx(similarity(a, b))


@given(mappings, mappings)
def test_similarities_lie_between_0_and_1(a: dict[int, float], b: dict[int, float]) -> None:
    for similarity in ALL:
        assert 0.0 <= similarity(a, b) <= 1.0
        assert 0.0 <= similarity(as_array(a), as_array(b)) <= 1.0


@given(mappings)
def test_every_document_is_wholly_similar_to_itself(a: dict[int, float]) -> None:
    in_other_order = dict(sorted(a.items()))
    for similarity in ALL:
        assert similarity(a, in_other_order) == 1.0
        assert similarity(as_array(a), as_array(in_other_order)) == 1.0


@given(mappings, mappings)
def test_all_but_containment_are_symmetric(a: dict[int, float], b: dict[int, float]) -> None:
    for similarity in (jaccard, weighted_jaccard, overlap, cosine):
        assert similarity(a, b) == pytest.approx(similarity(b, a))


@given(mappings)
def test_documents_without_weight_are_similar_to_each_other_only(a: dict[int, float]) -> None:
    for nothing in ({}, {5: 0.0}, {5: 0.0, 6: 0.0}):
        for similarity in OF_WEIGHTS:
            assert similarity(nothing, a) == similarity(a, nothing) == float(not any(a.values()))


def test_a_part_is_contained_in_the_whole() -> None:
    part, whole = {"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0, "c": 9.0}
    assert containment(part, whole) == overlap(part, whole) == overlap(whole, part) == 1.0
    assert containment(whole, part) == weighted_jaccard(part, whole) == 0.25


def test_the_overlap_of_idf_weights_is_the_idf_containment() -> None:
    idf = {"the": 0.1, "rare": 5.0, "word": 2.0, "other": 3.0}
    a, b = {"the", "rare", "word"}, {"the", "rare", "other"}
    weighed = ({word: idf[word] for word in words} for words in (a, b))
    assert overlap(*weighed) == pytest.approx(5.1 / 7.1)


def test_the_cosine_takes_negative_weights() -> None:
    assert cosine({1: 1.0, 2: -1.0}, {1: -2.0, 2: 2.0}) == -1.0
    assert cosine({1: 1.0, 2: 1.0}, {1: 1.0, 2: -1.0}) == 0.0


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_cosine_holds_for_tiny_and_huge_weights(scale: float) -> None:
    assert cosine({1: 3 * scale, 2: 4 * scale}, {1: 4 * scale, 2: 3 * scale}) == pytest.approx(24 / 25)


@pytest.mark.parametrize("similarity", OF_WEIGHTS)
@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf])
def test_weights_that_are_not_numbers_are_refused(similarity: Similarity, weight: float) -> None:
    for a in ({1: 1.0, 2: weight}, as_array({1: 1.0, 2: weight})):
        for pair in ((a, a), (a, as_array({}) if isinstance(a, tuple) else {})):
            with pytest.raises(WeightError, match="Give finite weights"):
                similarity(*pair)


@pytest.mark.parametrize("similarity", [weighted_jaccard, containment, overlap])
def test_negative_weights_are_refused(similarity: Similarity) -> None:
    with pytest.raises(WeightError, match=r"the weight -1\.0.*take the cosine"):
        similarity({1: 1.0}, {1: -1.0})


@pytest.mark.parametrize("similarity", [weighted_jaccard, containment, overlap])
def test_weights_that_add_up_to_infinity_are_refused(similarity: Similarity) -> None:
    with pytest.raises(WeightError, match="add up to infinity"):
        similarity({1: 1e308, 2: 1e308}, {1: 1e308, 2: 1e308})


@pytest.mark.parametrize("similarity", ALL)
@pytest.mark.parametrize(
    "hashes",
    [np.array([2, 1], np.uint64), np.array([1, 1], np.uint64), np.array([1, 2]), np.zeros((1, 2), np.uint64)],
)
def test_arrays_that_are_not_sorted_distinct_hashes_are_refused(similarity: Similarity, hashes: Any) -> None:
    good = np.array([1, 2], dtype=np.uint64)
    for pair in ((hashes, good), (good, hashes)):
        with pytest.raises(HashError, match="does not hold sorted, distinct hashes"):
            similarity(*pair)


@pytest.mark.parametrize("similarity", OF_WEIGHTS)
def test_weights_that_do_not_fit_their_hashes_are_refused(similarity: Similarity) -> None:
    hashes = np.array([1, 2], dtype=np.uint64)
    with pytest.raises(WeightError, match="do not fit 2 hashes"):
        similarity((hashes, np.array([1.0])), (hashes, np.array([1.0, 2.0])))


@pytest.mark.parametrize("similarity", ALL)
@pytest.mark.parametrize("other", [[1, 2], (1, 2), "ab", np.array([1], dtype=np.uint64), None])
def test_forms_that_cannot_be_compared_are_refused(similarity: Similarity, other: Any) -> None:
    for pair in (({1, 2}, other), (other, {1, 2})):
        with pytest.raises(InputError, match="Give both documents as sets or mappings, or both as arrays"):
            similarity(*pair)


# Hashes that differ in few bits, and are of several texts, meet in a table as often as can be.
weighted_features = st.lists(
    st.dictionaries(st.integers(0, 40), st.integers(0, 1 << 20), max_size=30), min_size=1, max_size=5
)


def all_sets(texts: list[dict[int, int]], heavy: int = 0) -> list[WeightedSet]:
    weights = np.array([weight for text in texts for weight in text.values()], dtype=np.int64)
    hashes = np.array([feature for text in texts for feature in text], dtype=np.uint64)
    batch = FeatureBatch(hashes, offsets_from_counts(np.array([len(text) for text in texts])))
    return list(weighted_sets(batch, weights, weights >= heavy))


def every_pair(count: int) -> Integers:
    first, second = np.divmod(np.arange(count * count), count)
    return np.stack([first, second])


@given(weighted_features)
def test_what_texts_share_weighs_what_the_second_text_says(texts: list[dict[int, int]]) -> None:
    first, second = every_pair(len(texts))
    expected = [
        sum(weight for feature, weight in texts[b].items() if feature in texts[a])
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    assert shared_weights(all_sets(texts), first, second).tolist() == expected


@pytest.mark.parametrize("at_once", [1, 1_000])
def test_it_is_the_same_however_many_features_are_looked_up_at_a_time(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    texts = [dict.fromkeys(rng.integers(0, 900, 300).tolist(), 7) for _ in range(20)]
    first, second = rng.permutation(every_pair(20), axis=1)
    expected = shared_weights(all_sets(texts), first, second)
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    assert shared_weights(all_sets(texts), first, second).tolist() == expected.tolist()


@given(weighted_features, st.integers(0, 1 << 20))
def test_an_outline_has_the_heavy_features_and_says_what_the_rest_weighs(
    texts: list[dict[int, int]], heavy: int
) -> None:
    for text, whole in zip(texts, all_sets(texts, heavy), strict=True):
        outline = whole.outline
        kept = {feature: weight for feature, weight in text.items() if weight >= heavy}
        assert whole.total == outline.total == sum(text.values())
        if 2 * len(kept) > len(text):
            assert outline is whole
        else:
            assert dict(zip(outline.hashes.tolist(), outline.weights.tolist(), strict=True)) == kept
            assert outline.rest == sum(text.values()) - sum(kept.values())


# ---- texts that are held

TEXTS = ["a", "bb", "a longer text", "x" * 60, "y" * 60, "z" * 200]


class Preparing:
    """Makes one feature of each text, and notes the texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Iterable[str]) -> Iterator[WeightedSet]:
        for text in texts:
            self.texts.append(text)
            yield from all_sets([{hash(text) & 0xFFFF: 1}])


def held(preparing: Preparing, limit: int) -> SetCache:
    sizes = np.array(list(map(len, TEXTS)))
    return SetCache(preparing, lambda rows: [TEXTS[row] for row in rows.tolist()], sizes.__getitem__, limit)


@pytest.mark.parametrize("limit", [1, 500, 2_000, 1 << 20])
def test_parts_have_each_pair_once_and_no_more_text_than_there_is_room_for(limit: int) -> None:
    pairs = np.array(list(combinations(range(len(TEXTS)), 2))).T
    parts = list(held(Preparing(), limit).parts(pairs))
    assert sorted(np.concatenate(parts).tolist()) == list(range(pairs.shape[1]))
    for part in parts:
        texts = np.unique(pairs[:, part]).tolist()
        assert len(texts) <= 2 or sum(len(TEXTS[text]) for text in texts) * 12 <= limit + 2 * 12 * max(map(len, TEXTS))
    assert list(held(Preparing(), limit).parts(np.empty((2, 0), dtype=np.int64))) == []


def test_features_are_made_once_while_there_is_room() -> None:
    preparing = Preparing()
    texts = held(preparing, 1 << 20)
    for rows in ([0, 1, 2], [1, 2, 3], [0, 3]):
        assert [outline.total for outline in texts.outlines(np.array(rows))] == [1] * len(rows)
    assert preparing.texts == TEXTS[:4]


def test_features_that_came_first_make_room_for_others() -> None:
    preparing = Preparing()
    texts = held(preparing, 1_000)  # three of these
    texts.outlines(np.array([0, 1, 2]))
    texts.outlines(np.array([2, 3, 4]))
    texts.outlines(np.array([2, 3, 4]))
    texts.outlines(np.array([0]))
    assert preparing.texts == [*TEXTS[:5], TEXTS[0]]
