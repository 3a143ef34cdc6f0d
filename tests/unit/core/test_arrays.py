from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import offsets_from_counts, positions_in_rows, rows_of, select, spread, spread_chunks

COUNTS = st.lists(st.integers(0, 9), max_size=20)


def slow_spread(counts: list[int]) -> list[tuple[int, int]]:
    return [(owner, place) for owner, count in enumerate(counts) for place in range(count)]


@given(COUNTS)
def test_every_item_has_its_owner_and_its_place(counts: list[int]) -> None:
    owners, places = spread(np.array(counts, dtype=np.int64))
    assert list(zip(owners.tolist(), places.tolist(), strict=True)) == slow_spread(counts)


@given(COUNTS, st.integers(1, 12))
def test_chunks_are_the_same_items_in_pieces_of_bounded_size(counts: list[int], limit: int) -> None:
    chunks = list(spread_chunks(np.array(counts, dtype=np.int64), limit))
    assert all(1 <= len(owners) == len(places) <= limit for owners, places in chunks)
    items = [item for owners, places in chunks for item in zip(owners.tolist(), places.tolist(), strict=True)]
    assert items == slow_spread(counts)


@given(COUNTS)
def test_offsets_rows_and_positions_agree(counts: list[int]) -> None:
    sizes = np.array(counts, dtype=np.int64)
    offsets = offsets_from_counts(sizes)
    assert np.diff(offsets).tolist() == counts
    assert list(zip(rows_of(offsets).tolist(), positions_in_rows(sizes).tolist(), strict=True)) == slow_spread(counts)


@given(COUNTS, st.integers(1, 4))
def test_selected_elements_stay_in_their_rows(counts: list[int], divisor: int) -> None:
    offsets = offsets_from_counts(np.array(counts, dtype=np.int64))
    values = np.arange(offsets[-1])
    kept, kept_offsets = select(values, offsets, values % divisor == 0)
    rows = [[v for v in range(a, b) if v % divisor == 0] for a, b in pairwise(offsets)]
    assert [kept[a:b].tolist() for a, b in pairwise(kept_offsets)] == rows
