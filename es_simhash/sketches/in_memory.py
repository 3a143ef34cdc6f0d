"""Exact searches of a set of fingerprints in memory, and its self-join.

``SEARCHES[name](codes, bits, k)`` builds the search of that name for distances up to ``k``.

Equal codes are grouped first, and the distinct ones are joined by the prefix tables of Manku, Jain and Das Sarma (see
`es_simhash.sketches.keys`): sorting brings together the codes that agree on a table's chosen blocks. Each code is
sorted as one word, with a hash of the chosen blocks in its high bits and the code's row in its low bits, because plain
numbers sort fastest. Codes with equal hashes are compared exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes, Integers, are_new, check_codes, spread, spread_chunks
from es_simhash._core.environment import native
from es_simhash.errors import SchemeError
from es_simhash.sketches import hamming
from es_simhash.sketches.hamming import Distances, check_distance
from es_simhash.sketches.keys import Blocks, KeyIndex, PrefixTables, expected_choices

if TYPE_CHECKING:
    from types import ModuleType


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


def variant_count(bits: int, k: int) -> int:
    """Count the codes within ``k`` of any one code: the sum of C(bits, i) for i from 0 to k."""
    return sum(comb(bits, i) for i in range(min(k, bits) + 1))


def _masks(bits: int, k: int) -> Iterator[int]:
    """Yield what to flip for each variant, those with fewer flipped bits first."""
    single = [1 << position for position in range(bits)]
    for flips in range(min(k, bits) + 1):
        for chosen in combinations(single, flips):
            yield sum(chosen)


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


Pairs = npt.NDArray[np.int64]

# Candidates compared at once: their arrays fit into a core's cache.
_CANDIDATES = 1 << 15
# Codes in the sample that the skew of all is estimated from.
_SAMPLE = 1 << 15
_ALL_BITS = np.uint64((1 << 64) - 1)
# The bits of a row if two and a distance fit into a word.
_SORTED_ROW_BITS = 28
# Odd multipliers of the hash of each word; any would do.
_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class _Costs(NamedTuple):
    """Measured costs of the ways of joining, in nanoseconds. They affect the time, never the result."""

    row: float
    """Of a code that is compared with all others."""
    word: float
    """Of a word of each of these."""
    table: float
    entry: float
    """Of a code in a table."""
    candidate: float


_NUMPY_COSTS = _Costs(10_000, 1, 100_000, 20, 15)
_COMPILED_COSTS = _Costs(100, 0.12, 20_000, 8, 2)


def self_join(codes: Codes, bits: int, k: int) -> tuple[Pairs, Distances]:
    """Find all pairs of rows of ``codes`` within Hamming distance ``k``, with their distances.

    The pairs are an array of shape ``(P, 2)``, each with its smaller row first, in ascending order.
    """
    chunks = list(iter_self_join(codes, bits, k))
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *(pairs for pairs, _ in chunks)])
    distances = np.concatenate([np.empty(0, dtype=np.uint8), *(distances for _, distances in chunks)])
    return _in_order(pairs, distances, (len(codes) - 1).bit_length())


def _in_order(pairs: Pairs, distances: Distances, row_bits: int) -> tuple[Pairs, Distances]:
    if row_bits > _SORTED_ROW_BITS:
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        return pairs[order], distances[order]
    # Plain numbers sort fastest.
    words = (pairs[:, 0] << row_bits | pairs[:, 1]).astype(np.uint64) << np.uint64(8) | distances
    words.sort()
    rows = (words >> np.uint64(8)).astype(np.int64)
    return np.stack([rows >> row_bits, rows & (1 << row_bits) - 1], axis=1), words.astype(np.uint8)


def iter_self_join(codes: Codes, bits: int, k: int, chunk: int = 1 << 16) -> Iterator[tuple[Pairs, Distances]]:
    """Yield the pairs of `self_join` in no particular order, each once, in chunks of 1 to ``chunk`` pairs.

    The number of codes and ``chunk`` bound the memory, however many pairs there are.
    """
    check_codes(codes, bits)
    check_distance(k)
    if chunk < 1:
        raise SchemeError(f"A chunk cannot have {chunk} pairs. Choose a whole number from 1.")
    return _join(_Groups(codes), bits, k, chunk)


def _join(groups: _Groups, bits: int, k: int, chunk: int) -> Iterator[tuple[Pairs, Distances]]:
    yield from groups.pairs_within(chunk)
    if k:
        for left, right, distances in _join_distinct(groups.distinct, bits, k):
            yield from groups.pairs_between(left, right, distances, chunk)


class _Groups:
    """The rows of codes, those with equal codes together."""

    def __init__(self, codes: Codes) -> None:
        self._rows = _with_equal_together(codes)
        ordered = codes[self._rows]
        self._starts = np.flatnonzero(are_new(*np.atleast_2d(ordered.T)))
        self._sizes = np.diff(self._starts, append=len(codes))
        self.distinct: Codes = ordered[self._starts]

    def pairs_within(self, limit: int) -> Iterator[tuple[Pairs, Distances]]:
        """Yield the pairs of rows of the same group."""
        larger = np.flatnonzero(self._sizes > 1)
        group, place = spread(self._sizes[larger])
        later = self._sizes[larger][group] - 1 - place
        members = self._starts[larger][group] + place
        for which, further in spread_chunks(later, limit):
            first = members[which]
            pairs = _pairs(self._rows[first], self._rows[first + 1 + further])
            yield pairs, np.zeros(len(pairs), dtype=np.uint8)

    def pairs_between(
        self, left: Integers, right: Integers, distances: Distances, limit: int
    ) -> Iterator[tuple[Pairs, Distances]]:
        """Yield the pairs of a row of each group in ``left`` and a row of the group in ``right`` at the same place."""
        for which, place in spread_chunks(self._sizes[left] * self._sizes[right], limit):
            in_left, in_right = np.divmod(place, self._sizes[right[which]])
            first = self._rows[self._starts[left[which]] + in_left]
            second = self._rows[self._starts[right[which]] + in_right]
            yield _pairs(first, second), distances[which]


def _with_equal_together(codes: Codes) -> Integers:
    """Return the rows of codes so that equal codes follow one another."""
    if not (kernels := native()):
        return _ascending(codes)
    shared = (_sharing(kernels, codes, np.full(codes.shape[1:] or 1, _ALL_BITS)) & _row_mask(codes)).astype(np.int64)
    is_alone = np.ones(len(codes), dtype=np.bool_)
    is_alone[shared] = False
    return np.concatenate([np.flatnonzero(is_alone), shared[_ascending(codes[shared])]])


def _ascending(codes: Codes) -> Integers:
    return np.argsort(codes) if codes.ndim == 1 else np.lexsort((codes[:, 1], codes[:, 0]))


def _pairs(first: Integers, second: Integers) -> Pairs:
    return np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)


def _join_distinct(codes: Codes, bits: int, k: int) -> Iterator[tuple[Integers, Integers, Distances]]:
    """Yield the pairs of rows of distinct codes that are within ``k``."""
    blocks = _cheapest_blocks(codes, bits, k)
    if blocks is None:
        yield from _compare_all(codes, k)
    else:
        for table in _tables(blocks, k):
            yield from _join_in_table(codes, table, k)


def _compare_all(codes: Codes, k: int) -> Iterator[tuple[Integers, Integers, Distances]]:
    if kernels := native():
        none = np.zeros(codes.shape[1:] or 1, dtype=np.uint64)
        yield from _near_pairs(kernels, codes, np.arange(len(codes), dtype=np.uint64), _Table(none, []), k)
        return
    for row in range(len(codes) - 1):
        distances = hamming.distances(codes[row + 1 :], codes[row])
        near = np.flatnonzero(distances <= k)
        if len(near):
            yield np.full(len(near), row), row + 1 + near, distances[near]


@dataclass(frozen=True)
class _Table:
    """A prefix table, its blocks given as masks: codes of shape ``(words,)``."""

    chosen: Codes
    """All bits of the chosen blocks."""
    passed_over: list[Codes]
    """The blocks before the last chosen one that were not chosen."""

    def is_first_for(self, differing: Codes) -> npt.NDArray[np.bool_]:
        """Return whether this is the first table where pairs meet that differ in the given bits, ``(N, words)``.

        A pair that agrees on more blocks than it must meets in several tables; only the first one reports it.
        """
        first = ~np.any(differing & self.chosen, axis=1)
        for block in self.passed_over:
            first &= np.any(differing & block, axis=1)
        return first


def _tables(blocks: Blocks, k: int) -> Iterator[_Table]:
    for choice in combinations(range(blocks.count), blocks.min_shared(k)):
        passed_over = [blocks.masks[block] for block in range(choice[-1]) if block not in choice]
        yield _Table(np.bitwise_or.reduce(blocks.masks[list(choice)]), passed_over)


def _join_in_table(codes: Codes, table: _Table, k: int) -> Iterator[tuple[Integers, Integers, Distances]]:
    """Yield the pairs of rows within ``k`` that meet in this table first."""
    if kernels := native():
        entries = _sharing(kernels, codes, table.chosen)
        entries.sort()
        yield from _near_pairs(kernels, codes, entries, table, k)
        return
    row_mask = _row_mask(codes)
    entries = _hash(codes, table.chosen)
    entries &= ~row_mask
    entries |= np.arange(len(codes), dtype=np.uint64)
    entries.sort()
    for first, second in _neighbours(entries, row_mask):
        left, right = ((entries[place] & row_mask).astype(np.int64) for place in (first, second))
        distances = hamming.distances(codes.take(left, axis=0), codes.take(right, axis=0))
        near = np.flatnonzero(distances <= k)
        if len(near):
            left, right = left[near], right[near]
            new = table.is_first_for((codes[left] ^ codes[right]).reshape(len(near), -1))
            yield left[new], right[new], distances[near][new]


def _sharing(kernels: ModuleType, codes: Codes, mask: Codes) -> npt.NDArray[np.uint64]:
    """Return the entries of the codes whose hash under the mask another code may have."""
    return cast(
        "npt.NDArray[np.uint64]", kernels.sharing(np.ascontiguousarray(codes), mask, np.array(_FACTORS[: len(mask)]))
    )


def _near_pairs(
    kernels: ModuleType, codes: Codes, entries: npt.NDArray[np.uint64], table: _Table, k: int
) -> Iterator[tuple[Integers, Integers, Distances]]:
    """Yield the pairs of rows of sorted entries with the same hash, within ``k``, that meet in this table first."""
    passed_over = np.array(table.passed_over, dtype=np.uint64)
    most, start = min(k, arrays.MAX_BITS), 0
    while start < len(entries):
        left, right, distances, start = kernels.near_pairs(
            codes, entries, start, _CANDIDATES, most, table.chosen, passed_over
        )
        if len(left):
            yield left, right, distances


def _row_mask(codes: Codes) -> np.uint64:
    """Return the bits of an entry that hold its code's row."""
    return np.uint64((1 << len(codes).bit_length()) - 1)


def _hash(codes: Codes, mask: Codes) -> npt.NDArray[np.uint64]:
    """Hash each code's bits under the mask, best in the high bits (Dietzfelbinger et al., 1997)."""
    if codes.ndim == 1:
        return (codes & mask) * _FACTORS[0]
    return (codes[:, 0] & mask[0]) * _FACTORS[0] + (codes[:, 1] & mask[1]) * _FACTORS[1]


def _neighbours(entries: npt.NDArray[np.uint64], row_mask: np.uint64) -> Iterator[tuple[Integers, Integers]]:
    """Yield the positions of all pairs of sorted entries with the same hash, in chunks."""
    followed = np.flatnonzero((entries[1:] ^ entries[:-1]) <= row_mask)
    if not len(followed):
        return
    # A position in ``followed`` precedes an equal hash, so a run of positions is a run of equal hashes.
    last = followed[np.append(np.diff(followed) != 1, True)]
    later = last[np.searchsorted(last, followed)] + 1 - followed
    for which, further in spread_chunks(later, _CANDIDATES):
        first = followed[which]
        yield first, first + 1 + further


def _cheapest_blocks(codes: Codes, bits: int, k: int) -> Blocks | None:
    """Find the blocks whose tables join the codes fastest; None if comparing all pairs is faster."""
    n, costs = len(codes), _COMPILED_COSTS if native() else _NUMPY_COSTS
    pairs = n * (n - 1) / 2
    sample = codes[np.random.default_rng(0).choice(n, min(n, _SAMPLE), replace=False, shuffle=False)]
    cheapest, least = None, n * costs.row + pairs * arrays.words_per_code(bits) * costs.word
    for count in range(max(k + 1, arrays.words_per_code(bits)), bits + 1):
        cost = float(comb(count, k) * (costs.table + n * costs.entry))
        if cost >= least:
            break
        blocks = Blocks(bits, count)
        cost += pairs * expected_choices(_agreements(sample, blocks), count - k) * costs.candidate
        if cost < least:
            cheapest, least = blocks, cost
    return cheapest


def _agreements(sample: Codes, blocks: Blocks) -> list[float]:
    """Return how likely two codes agree on each block: as in the sample, but no less than random bits would."""
    return [
        max(_collisions(values), 2.0**-width)
        for values, width in zip(blocks.values(sample).T, blocks.widths, strict=True)
    ]


def _collisions(values: npt.NDArray[np.uint64]) -> float:
    """Return the share of the pairs of values that are equal."""
    ordered = np.sort(values)
    sizes = np.diff(np.flatnonzero(are_new(ordered)), append=len(ordered))
    return float((sizes * (sizes - 1)).sum() / max(len(ordered) * (len(ordered) - 1), 1))
