from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import distinct_sorted
from es_simhash.groups.pairs.candidates import Candidates, Linker, entries, pair_codes, positions
from es_simhash.groups.pairs.sorting import Numbers, sorted_pieces
from es_simhash.groups.pairs.spool import Spools

Lists = list[list[int]]

numbers = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 20), st.just(2**64 - 1))


def reader(lists: Lists) -> Iterator[Numbers]:
    return (np.array(each, dtype=np.uint64) for each in lists)


@given(st.lists(st.lists(numbers, max_size=20), max_size=5), st.integers(1, 30))
def test_pieces_hold_all_numbers_in_order_however_few_fit_into_one(lists: Lists, limit: int) -> None:
    flat = sorted(number for each in lists for number in each)
    pieces = list(sorted_pieces(lambda: reader(lists), len(flat), 1 << 64, limit))
    assert [number for piece in pieces for number in piece.tolist()] == flat
    assert all(len(piece) <= limit or len(distinct_sorted(piece)) == 1 for piece in pieces)


@given(st.lists(numbers, max_size=30))
def test_distinct_keeps_each_number_once(values: list[int]) -> None:
    assert distinct_sorted(np.array(sorted(values), dtype=np.uint64)).tolist() == sorted(set(values))


def pairs_of(keys: list[int], bounds: tuple[int, int], cuts: list[int]) -> tuple[set[tuple[int, int]], int, int]:
    """The pairs that a linker finds among keys whose sorted entries are cut into pieces; their number; the left out."""
    ordered = np.sort(entries(np.array(keys, dtype=np.uint64).reshape(-1, 1), 0))
    linker = Linker(*bounds)
    found = [
        pair
        for batch in linker.pairs(np.split(ordered, sorted(cuts)))
        for pair in zip(*(side.tolist() for side in positions(batch)), strict=True)
    ]
    return set(found), len(found), linker.left_out


@given(
    st.lists(st.integers(0, 3), max_size=30),
    st.integers(1, 6),
    st.integers(1, 6),
    st.lists(st.integers(0, 30), max_size=4),
)
def test_documents_are_paired_with_all_before_them_that_share_the_key_or_with_the_nearest_few(
    keys: list[int], most: int, few: int, cuts: list[int]
) -> None:
    few = min(few, most)
    sharing = [(a, b) for a, b in combinations(range(len(keys)), 2) if keys[a] == keys[b]]
    near = {(a, b) for a, b in sharing if keys[:b].count(keys[b]) <= most or keys[a + 1 : b + 1].count(keys[a]) <= few}
    found, count, left_out = pairs_of(keys, (most, few), cuts)
    assert found == near
    assert count == len(near)
    assert left_out == len(sharing) - len(near)


def test_a_key_that_all_share_makes_work_in_proportion_to_the_documents() -> None:
    count, few = 100_000, 3
    pieces = np.array_split(entries(np.zeros((count, 1), dtype=np.uint64), 0), 7)
    linker = Linker(32, few)
    found = sum(len(batch) for batch in linker.pairs(pieces))
    assert found < (few + 1) * count
    assert found + linker.left_out == count * (count - 1) // 2


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20), max_size=8), st.integers(2, 30))
def test_each_pair_is_a_candidate_once(batches: list[list[tuple[int, int]]], limit: int) -> None:
    with Spools(1) as spools:
        candidates = Candidates(spools, limit)
        for batch in batches:
            array = np.array(batch, dtype=np.int64).reshape(-1, 2)
            candidates.add(pair_codes(array[:, 0], array[:, 1]))
        found = [number for piece in candidates.distinct(10) for number in piece.tolist()]
    assert found == sorted({a << 32 | b for batch in batches for a, b in batch})


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_equal_keys_and_hardly_any_others_have_equal_hashes(columns: int) -> None:
    keys = np.random.default_rng(1).integers(0, 256, (20_000, columns)).astype(np.uint8)
    hashes = entries(keys, 0) >> np.uint64(32)
    assert len(np.unique(hashes)) == pytest.approx(len(np.unique(keys, axis=0)), abs=2)
