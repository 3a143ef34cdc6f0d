"""Search by sorted tables of keys: the common base of pigeonhole and Manku's tables."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from es_simhash._core.arrays import spread
from es_simhash.sketches import hamming
from es_simhash.sketches.in_memory.base import Ids, Search, SearchResult, ranked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from es_simhash._core.bit_codes import Codes

# Queries are answered in one batch, for speed, as long as they read no more postings than this, for memory.
_MAX_POSTINGS = 1 << 22


class SortedTable:
    """Keys in ascending order with the ids they belong to; keys are looked up by binary search."""

    def __init__(self, keys: Codes) -> None:
        self._ids: Ids = np.argsort(keys, kind="stable")
        self._keys = keys[self._ids]

    def ranges(self, keys: Codes) -> tuple[Ids, Ids]:
        """Return where the matches of each key start in the table, and how many there are."""
        starts = np.searchsorted(self._keys, keys, side="left")
        return starts, np.searchsorted(self._keys, keys, side="right") - starts

    def matches(self, starts: Ids, counts: Ids) -> tuple[Ids, Ids]:
        """Return all matches within `ranges`: the row of the key, and an id that has this key."""
        rows, places = spread(counts)
        return rows, self._ids[starts[rows] + places]


class TableSearch(Search):
    """A `SortedTable` for each kind of key. Candidates are the fingerprints met in enough of the tables."""

    def __init__(self, codes: Codes, bits: int, k: int) -> None:
        super().__init__(codes, bits, k)
        self._tables = [SortedTable(keys) for keys in self._keys(codes)]

    @abstractmethod
    def _keys(self, codes: Codes) -> Iterable[Codes]:
        """Yield, table by table, the key of each code, a number of up to 64 bits."""

    @abstractmethod
    def _min_tables(self, k: int) -> int:
        """Return the number of tables in which a fingerprint within ``k`` is sure to be met."""

    def search_many(self, queries: Codes, k: int) -> list[SearchResult]:
        """Find the fingerprints within ``k`` of each query."""
        self._check(queries, k)
        ranges = [table.ranges(keys) for table, keys in zip(self._tables, self._keys(queries), strict=True)]
        postings = np.sum([counts for _, counts in ranges], axis=0)
        if len(queries) > 1 and postings.sum() > _MAX_POSTINGS:
            half = len(queries) // 2
            return self.search_many(queries[:half], k) + self.search_many(queries[half:], k)
        rows, ids = self._candidates(ranges, self._min_tables(k))
        distances = hamming.distances(self.codes[ids], queries[rows])
        bounds = np.searchsorted(rows, np.arange(len(queries) + 1))
        results = []
        for start, stop, read in zip(bounds[:-1], bounds[1:], postings, strict=True):
            near = start + np.flatnonzero(distances[start:stop] <= k)
            results.append(ranked(ids[near], distances[near], int(stop - start), int(read)))
        return results

    def _candidates(self, ranges: list[tuple[Ids, Ids]], min_tables: int) -> tuple[Ids, Ids]:
        """Return rows of queries, and ids of the fingerprints they meet in enough tables, in ascending order."""
        matches = [table.matches(*range_) for table, range_ in zip(self._tables, ranges, strict=True)]
        # Row and id in one number, so that one sort counts the tables of every pair.
        pairs = np.concatenate([rows * len(self.codes) + ids for rows, ids in matches])
        pairs, tables = np.unique(pairs, return_counts=True)
        rows, ids = np.divmod(pairs[tables >= min_tables], max(len(self.codes), 1))
        return rows, ids
