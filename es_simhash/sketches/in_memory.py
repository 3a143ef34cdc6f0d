"""Five exact searches of a set of fingerprints in memory; `Search` is their common interface.

``SEARCHES[name](codes, bits, k)`` builds the search of that name for distances up to ``k``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes, check_codes
from es_simhash.errors import SchemeError
from es_simhash.sketches import hamming
from es_simhash.sketches.blocks import Blocks, PrefixTables
from es_simhash.sketches.hamming import Distances, check_distance
from es_simhash.sketches.key_index import KeyIndex

Ids = npt.NDArray[np.int64]

_MAX_VARIANTS = 1 << 20


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found, and its cost. An id is a fingerprint's row in the set that is searched."""

    ids: Ids
    """All fingerprints within the distance, the nearest first, equally near ones in ascending order."""
    distances: Distances
    """Their Hamming distances."""
    candidates: int
    """The number of fingerprints that the query met and was compared with, each counted once."""
    postings: int
    """The number of index entries that were read; a fingerprint met several times counts each time."""


class Search(ABC):
    """An exact search of a fixed set of fingerprints for those within a Hamming distance of a query.

    A search is built for distances up to ``k``, which some searches need to know beforehand. All give the same ids and
    distances; they differ in time, memory, and the candidates and postings of the result.
    """

    def __init__(self, codes: Codes, bits: int, k: int) -> None:
        self.codes = check_codes(codes, bits).copy()
        self.bits = bits
        self.k = check_distance(k)

    def search_many(self, queries: Codes, k: int) -> list[SearchResult]:
        """Find the fingerprints within ``k`` of each query."""
        check_codes(queries, self.bits)
        if check_distance(k) > self.k:
            raise SchemeError(
                f"A search built for distances up to {self.k} cannot answer for {k}. Build it with k={k}."
            )
        return self._results(queries, k)

    @abstractmethod
    def _results(self, queries: Codes, k: int) -> list[SearchResult]: ...

    def search(self, query: int, k: int) -> SearchResult:
        """Find the fingerprints within ``k`` of the query, a code given as an integer."""
        return self.search_many(arrays.from_ints([query], self.bits), k)[0]


class BruteForce(Search):
    """No index: all N fingerprints are candidates of every query."""

    def _results(self, queries: Codes, k: int) -> list[SearchResult]:
        return [self._search(query, k) for query in queries]

    def _search(self, query: Codes, k: int) -> SearchResult:
        distances = hamming.distances(self.codes, query)
        ids = np.flatnonzero(distances <= k)
        return ranked(ids, distances[ids], len(self.codes), len(self.codes))


class BitPositions(Search):
    """A posting list for each bit position and value: for 64 bits, 64 maps of two keys.

    A query reads, for each position, the list of its own bit. A fingerprint in c of the lists is at distance
    ``bits - c``, so nothing needs to be compared; but each list holds half of all fingerprints, and a query meets
    nearly every one. It shows why an index needs longer keys.
    """

    def __init__(self, codes: Codes, bits: int, k: int) -> None:
        super().__init__(codes, bits, k)
        columns = [arrays.extract(codes, bits, position, 1) for position in range(bits)]
        self._postings = [
            tuple(np.flatnonzero(column == value).astype(np.uint32) for value in (0, 1)) for column in columns
        ]

    def _results(self, queries: Codes, k: int) -> list[SearchResult]:
        return [self._search(query, k) for query in arrays.to_ints(queries)]

    def _search(self, query: int, k: int) -> SearchResult:
        agreeing = np.zeros(len(self.codes), dtype=np.uint8)
        postings = 0
        for position, lists in enumerate(self._postings):
            ids = lists[query >> (self.bits - 1 - position) & 1]
            agreeing[ids] += np.uint8(1)
            postings += len(ids)
        distances = np.uint8(self.bits) - agreeing
        found = np.flatnonzero(distances <= k)
        return ranked(found, distances[found], int(np.count_nonzero(agreeing)), postings)


class Variants(Search):
    """A map from codes to ids, in which all variants of a query are looked up: 43,745 for 64 bits and k = 3.

    All fingerprints met match, and the cost of a query does not depend on the size of the map.
    """

    def __init__(self, codes: Codes, bits: int, k: int) -> None:
        super().__init__(codes, bits, k)
        count = variant_count(bits, k)
        if count > _MAX_VARIANTS:
            raise SchemeError(
                f"A code of {bits} bits has {count:,} variants within distance {k}, more than "
                f"{_MAX_VARIANTS:,}. Choose a smaller k or another search."
            )
        self._ids: defaultdict[int, list[int]] = defaultdict(list)
        for row, code in enumerate(arrays.to_ints(codes)):
            self._ids[code].append(row)
        self._masks = list(_masks(bits, k))

    def _results(self, queries: Codes, k: int) -> list[SearchResult]:
        masks = self._masks[: variant_count(self.bits, k)]
        return [self._search(query, masks) for query in arrays.to_ints(queries)]

    def _search(self, query: int, masks: list[int]) -> SearchResult:
        met = [query ^ mask for mask in masks if query ^ mask in self._ids]
        ids = np.array([row for code in met for row in self._ids[code]], dtype=np.int64)
        distances = hamming.distances(self.codes[ids], arrays.from_ints([query], self.bits))
        return ranked(ids, distances, len(ids), len(ids))


class TableSearch(Search):
    """A table for each kind of key. Candidates are the fingerprints met in enough of the tables."""

    def __init__(self, codes: Codes, bits: int, k: int) -> None:
        super().__init__(codes, bits, k)
        keys = self._keys(codes)
        self._index = KeyIndex(keys.shape[1])
        self._index.add(keys)

    @abstractmethod
    def _keys(self, codes: Codes) -> Codes:
        """Return the keys of each code, a column a table, as numbers of up to 64 bits."""

    @abstractmethod
    def _min_tables(self, k: int) -> int:
        """Return the number of tables in which a fingerprint within ``k`` is sure to be met."""

    def _results(self, queries: Codes, k: int) -> list[SearchResult]:
        rows, ids, tables = self._index.sharing(self._keys(queries))
        postings = np.bincount(rows, tables, len(queries)).astype(np.int64)
        met = tables >= self._min_tables(k)
        rows, ids = rows[met], ids[met]
        distances = hamming.distances(self.codes[ids], queries[rows])
        bounds = np.searchsorted(rows, np.arange(len(queries) + 1))
        results = []
        for start, stop, read in zip(bounds[:-1], bounds[1:], postings, strict=True):
            near = start + np.flatnonzero(distances[start:stop] <= k)
            results.append(ranked(ids[near], distances[near], int(stop - start), int(read)))
        return results


class Pigeonhole(TableSearch):
    """A sorted table per block; by default k + 1 blocks, the fewest that do: for 64 bits and k = 3, 4 of 16.

    With more blocks, ``blocks - k`` of them must agree, and the candidates are fewer.
    """

    def __init__(self, codes: Codes, bits: int, k: int, blocks: int | None = None) -> None:
        if blocks is None:
            blocks = max(min(k + 1, bits), arrays.words_per_code(bits))
        self._blocks = Blocks(bits, blocks)
        self._blocks.min_shared(k)
        super().__init__(codes, bits, k)

    def _keys(self, codes: Codes) -> Codes:
        return self._blocks.values(codes)

    def _min_tables(self, k: int) -> int:
        return self._blocks.min_shared(k)


class MankuTables(TableSearch):
    """A sorted table per choice of blocks; by default of k + 3 blocks: 20 tables for 64 bits and k = 3."""

    def __init__(self, codes: Codes, bits: int, k: int, blocks: int | None = None) -> None:
        self._prefixes = PrefixTables(bits, min(k + 3, bits) if blocks is None else blocks, k)
        super().__init__(codes, bits, k)

    def _keys(self, codes: Codes) -> Codes:
        prefixes = zip(self._prefixes.prefixes(codes), self._prefixes.prefix_bits, strict=True)
        # The leading 64 bits of a wider prefix select well enough.
        return np.stack([arrays.extract(prefix, width, 0, min(width, 64)) for prefix, width in prefixes], axis=1)

    def _min_tables(self, _k: int) -> int:
        return 1


SEARCHES: dict[str, Callable[[Codes, int, int], Search]] = {
    "brute_force": BruteForce,
    "bit_positions": BitPositions,
    "variants": Variants,
    "pigeonhole": Pigeonhole,
    "manku_tables": MankuTables,
}
"""Each search by its name."""


def ranked(ids: Ids, distances: Distances, candidates: int, postings: int) -> SearchResult:
    """Return the result with the ids in their order."""
    order = np.lexsort((ids, distances))
    return SearchResult(ids[order], distances[order], candidates, postings)


def variant_count(bits: int, k: int) -> int:
    """Count the codes within ``k`` of any one code: the sum of C(bits, i) for i from 0 to k."""
    return sum(comb(bits, i) for i in range(min(k, bits) + 1))


def _masks(bits: int, k: int) -> Iterator[int]:
    """Yield what to flip for each variant, those with fewer flipped bits first."""
    single = [1 << position for position in range(bits)]
    for flips in range(min(k, bits) + 1):
        for chosen in combinations(single, flips):
            yield sum(chosen)
