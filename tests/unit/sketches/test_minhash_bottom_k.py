"""Bottom-k sketches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import SchemeError
from es_simhash.sketches.minhash.bottom_k import cardinality, estimate, sketches, union
from tests.support.minhashes import assert_mean, batch, documents, pairs, words

hash_lists = st.lists(words, max_size=30)


@given(documents, st.integers(1, 12))
def test_a_sketch_is_the_smallest_distinct_hashes(texts: list[list[int]], k: int) -> None:
    assert [s.tolist() for s in sketches(batch(texts), k)] == [sorted(set(text))[:k] for text in texts]


@given(hash_lists, hash_lists, st.integers(1, 12))
def test_the_sketch_of_a_union_comes_from_its_parts(a: list[int], b: list[int], k: int) -> None:
    of_a, of_b, of_both = sketches(batch([a, b, a + b]), k)
    assert union(of_a, of_b, k).tolist() == of_both.tolist()


@given(hash_lists, hash_lists, st.integers(1, 12))
def test_the_estimate_is_the_share_of_the_unions_sketch_in_both(a: list[int], b: list[int], k: int) -> None:
    smallest = sorted({*a, *b})[:k]
    expected = sum(h in a and h in b for h in smallest) / len(smallest) if smallest else 1.0
    of_a, of_b = sketches(batch([a, b]), k)
    assert estimate(of_a, of_b, k) == expected


@given(hash_lists, hash_lists)
def test_large_sketches_are_exact(a: list[int], b: list[int]) -> None:
    of_a, of_b = sketches(batch([a, b]), 1000)
    both = {*a, *b}
    assert estimate(of_a, of_b, 1000) == (len({*a} & {*b}) / len(both) if both else 1.0)
    assert cardinality(of_a, 1000) == len({*a})


@pytest.mark.parametrize(("shared", "only_a", "only_b"), [(30, 10, 10), (60, 100, 140), (450, 20, 30)])
def test_the_jaccard_similarity_is_estimated(shared: int, only_a: int, only_b: int) -> None:
    """Without bias, and with the variance of k draws without replacement from the union."""
    k, n = 32, shared + only_a + only_b
    jaccard = shared / n
    a, b = pairs(k, 1500, shared, only_a, only_b)
    found = np.array([estimate(x, y, k) for x, y in zip(sketches(a, k), sketches(b, k), strict=True)])
    assert_mean(found, jaccard)
    assert 0.8 <= found.var() / (jaccard * (1 - jaccard) / k * (n - k) / (n - 1)) <= 1.2


@pytest.mark.parametrize(("features", "k"), [(100, 2), (100, 20), (1000, 64)])
def test_the_number_of_distinct_features_is_estimated_without_bias(features: int, k: int) -> None:
    a, _ = pairs(features, 3000, features, 0, 0)
    assert_mean(np.array([cardinality(sketch, k) for sketch in sketches(a, k)]), features)


@pytest.mark.parametrize("k", [0, -1, 2.0, True])
def test_sketches_of_no_hashes_are_refused(k: int) -> None:
    with pytest.raises(SchemeError, match="Choose a whole number from 1"):
        sketches(batch([[1]]), k)


def test_one_hash_counts_nothing() -> None:
    with pytest.raises(SchemeError, match="Choose k from 2"):
        cardinality(sketches(batch([[1]]), 1)[0], 1)
