from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import SortedRuns, sorted_pieces

Lists = list[list[int]]

numbers = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 20), st.just(2**64 - 1))
lists_of_numbers = st.lists(st.lists(numbers, max_size=40), max_size=8)


def added(runs: SortedRuns, lists: Lists) -> None:
    for each in lists:
        runs.add(np.array(each, dtype=np.uint64))


@given(lists_of_numbers, st.integers(1, 300), st.sampled_from([1, 7, 1 << 32]))
def test_pieces_hold_all_numbers_in_order_however_few_fit_into_one(lists: Lists, limit: int, grain: int) -> None:
    with Spools(1) as spools:
        arrays = (np.array(each, dtype=np.uint64) for each in lists)
        pieces = [piece.tolist() for piece in sorted_pieces(arrays, spools, limit, grain)]
    assert [number for piece in pieces for number in piece] == sorted(number for each in lists for number in each)
    ends = [(before[-1], after[0]) for before, after in pairwise(pieces) if before and after]
    assert all(one // grain < other // grain for one, other in ends)


def test_pieces_are_hardly_longer_than_what_fits_into_memory() -> None:
    limit, rng = 6_400, np.random.default_rng(1)
    with Spools(1) as spools:
        # An uneven spread, as that of hashed keys never is.
        arrays = ((rng.random(1_000) ** 9 * 2**63).astype(np.uint64) for _ in range(100))
        sizes = [len(piece) for piece in sorted_pieces(arrays, spools, limit)]
    assert sum(sizes) == 100_000
    assert max(sizes) <= limit
    assert len(sizes) < 30


@given(lists_of_numbers, st.integers(1, 300), numbers)
def test_distinct_numbers_come_once_from_any_place_on(lists: Lists, limit: int, low: int) -> None:
    with Spools(1) as spools:
        runs = SortedRuns(spools, limit, distinct=True)
        added(runs, lists)
        every = {number for each in lists for number in each}
        for start in (0, low):
            found = [number for piece in runs.pieces(low=start) for number in piece.tolist()]
            assert found == sorted(number for number in every if number >= start)


def test_numbers_that_fit_stay_in_memory() -> None:
    with Spools(1) as spools:
        runs = SortedRuns(spools, 100, distinct=True)
        for _ in range(1_000):
            runs.add(np.arange(40, dtype=np.uint64))
        assert runs.ends == []
        assert [piece.tolist() for piece in runs.pieces()] == [list(range(40))]
