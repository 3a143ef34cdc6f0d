"""Exact similarities."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import HashError, InputError, WeightError
from es_simhash.sketches.similarity import Features, containment, cosine, jaccard, overlap, weighted_jaccard

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
