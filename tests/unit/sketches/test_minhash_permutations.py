"""MinHash by explicit permutations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import HashError, SchemeError
from es_simhash.sketches.minhash.permutations import random_orders, signatures
from tests.support.minhashes import assert_mean, batch, fmix64

ROWS = np.arange(5, dtype=np.uint64)


def test_the_textbook_example() -> None:
    """Rows a … e, the order b e a d c, four sets: their MinHashes are a, c, b and a."""
    sets = ["ad", "c", "bde", "acd"]
    order = np.array([["abcde".index(row) for row in "beadc"]], dtype=np.uint32)
    table = signatures(batch([["abcde".index(row) for row in members] for members in sets]), ROWS, order)
    assert ["abcde"[value] for value in table[:, 0]] == ["a", "c", "b", "a"]


@given(st.lists(st.sets(st.integers(0, 29)), max_size=5), st.permutations(range(30)))
def test_the_value_is_the_first_row_of_the_order_that_is_a_feature(texts: list[set[int]], universe: list[int]) -> None:
    orders = random_orders(4, 30)
    expected = [
        [next((row for row in order if universe[row] in text), 0xFFFFFFFF) for order in orders.tolist()]
        for text in texts
    ]
    rows = np.array(universe, dtype=np.uint64)
    assert signatures(batch([sorted(text) for text in texts]), rows, orders).tolist() == expected


@given(st.integers(1, 20), st.integers(0, 20))
def test_random_orders_are_permutations_as_defined(size: int, rows: int) -> None:
    expected = [sorted(range(rows), key=lambda row: fmix64(i * 2**32 + row)) for i in range(size)]
    assert random_orders(size, rows).tolist() == expected


def test_every_row_is_as_likely_to_be_first() -> None:
    counts = np.bincount(random_orders(4000, 8)[:, 0], minlength=8)
    assert ((counts - 500) ** 2 / 500).sum() < 24.3  # chi-square of 7 degrees of freedom at 0.001


def test_the_share_of_equal_values_estimates_the_jaccard_similarity() -> None:
    universe = np.arange(60, dtype=np.uint64)
    a, b = signatures(batch([range(40), range(15, 60)]), universe, random_orders(4000, 60))
    assert_mean((a == b).astype(np.float64), 25 / 60)


def test_features_outside_the_universe_are_refused() -> None:
    for universe in (ROWS, ROWS[:0]):
        with pytest.raises(HashError, match="The feature 7 is not in the universe"):
            signatures(batch([[7]]), universe, random_orders(2, len(universe)))


def test_a_universe_that_repeats_a_row_is_refused() -> None:
    with pytest.raises(HashError, match="the same feature"):
        signatures(batch([[1]]), np.array([1, 2, 1], dtype=np.uint64), random_orders(2, 3))


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 1, 2, 3, 3], [1, 2, 3, 4, 5]])
def test_orders_that_are_not_permutations_are_refused(order: list[int]) -> None:
    with pytest.raises(SchemeError, match="do not permute 5 rows"):
        signatures(batch([[1]]), ROWS, np.array([order], dtype=np.uint32))
