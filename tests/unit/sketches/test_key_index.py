"""An index of keys finds what a dictionary of sets finds, as documents come and go."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.sketches import key_index
from es_simhash.sketches.key_index import KeyIndex, Keys

COLUMNS = 3
# Numbers at both ends of what fits, so that some are equal and others nearly.
ROWS = st.lists(st.lists(st.sampled_from([0, 1, 2, 2**31, 2**32 - 1]), min_size=COLUMNS, max_size=COLUMNS), max_size=8)
STEPS = st.lists(st.tuples(ROWS, st.lists(st.integers(0, 40), max_size=10)), max_size=8)
TYPES = st.sampled_from([np.uint32, np.uint64])


class Oracle:
    """Documents in sets, by the column and the number of each key."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[int, int], set[int]] = defaultdict(set)
        self.there: dict[int, list[int]] = {}
        self._next = 0

    def add(self, rows: Sequence[list[int]]) -> None:
        for row in rows:
            for key in enumerate(row):
                self._by_key[key].add(self._next)
            self.there[self._next] = row
            self._next += 1

    def remove(self, place: int) -> None:
        for key in enumerate(self.there.pop(place, [])):
            self._by_key[key].discard(place)

    def sharing(self, rows: Sequence[list[int]], least: int) -> Iterator[tuple[int, int, int]]:
        for number, row in enumerate(rows):
            counts = Counter(place for key in enumerate(row) for place in self._by_key[key])
            yield from sorted((number, place, count) for place, count in counts.items() if count >= least)


def array(rows: Sequence[list[int]], dtype: type[Any] = np.uint64) -> Keys:
    return np.array(rows, dtype=dtype).reshape(len(rows), COLUMNS)


@pytest.mark.parametrize("recent", [0, 5, 512])
@given(steps=STEPS, asked=ROWS, least=st.integers(1, COLUMNS), dtype=TYPES)
def test_documents_are_those_of_a_dictionary_of_sets(
    recent: int, steps: list[tuple[list[list[int]], list[int]]], asked: list[list[int]], least: int, dtype: type[Any]
) -> None:
    """Of the ``recent`` ones no table is made."""
    index, oracle = KeyIndex(COLUMNS, dtype), Oracle()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_RECENT": recent, "_ENTRIES": 20, "_CELLS": 40}.items():
            patch.setattr(key_index, name, value)
        for rows, gone in steps:
            before = len(index)
            added = index.add(array(rows, dtype))
            oracle.add(rows)
            assert len(added) == len(rows) == len(index) - before
            index.remove(set(gone))
            for place in gone:
                oracle.remove(place)
            assert len(index) == len(oracle.there)
            shared = index.sharing(array(asked, dtype), least)
            assert list(zip(*(each.tolist() for each in shared), strict=True)) == list(oracle.sharing(asked, least))
    there = np.array(sorted(oracle.there), dtype=np.int64)
    assert index.keys_at(there).tolist() == [oracle.there[place] for place in there.tolist()]


def test_thousands_of_documents_are_found_by_the_keys_that_they_share() -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2000, (6000, 12), dtype=np.uint64)
    index = KeyIndex(12)
    for part in np.split(keys, [1, 2, 3, 400, 1000, 1001, 4000]):
        index.add(part)
    index.remove(range(0, 6000, 3))
    rows, places, counts = index.sharing(keys[:50], 2)
    equal = (keys[:50, np.newaxis] == keys[np.newaxis]).sum(axis=2)
    equal[:, ::3] = 0
    expected = np.nonzero(equal >= 2)
    assert np.array_equal(expected, (rows, places))
    assert np.array_equal(equal[expected], counts)


def test_what_comes_and_goes_takes_no_more_memory() -> None:
    index = KeyIndex(4)
    for number in range(40):
        added = index.add(np.full((1000, 4), number, dtype=np.uint64))
        index.remove(range(added.start))
    assert len(index) == 1000
    assert sum(len(part.places) for part in index._parts) <= 4000
