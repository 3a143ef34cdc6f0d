"""Candidates: pairs of documents that share a key, found by sorting keys.

Each document is sorted as one word, its key (or a hash of it) in the upper bits and its position in the lower ones.
Documents with the same key are then neighbours, in the order of their positions.

The pairs of a key that very many documents share, through boilerplate text say, would grow with the square of their
number. So only the first documents of a key are all paired, and each further one with a few of those before it.
Documents that are much alike also share other, rarer keys; and if very many are alike, they are linked through one
another. The pairs left out are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, are_new, distinct_sorted, spread_chunks
from es_simhash._core.environment import native
from es_simhash.groups.pairs.stored_rows import Columns, Numbers, Rows, SortedRuns, Spools
from es_simhash.sketches import hamming
from es_simhash.sketches.hamming import Distances
from es_simhash.sketches.minhash.common import VALUE_BITS, constants, estimates, similarities_of_shares

if TYPE_CHECKING:
    from es_simhash.groups.pairs.fingerprint_store import ScopeColumns

Places = npt.NDArray[np.integer[Any]]

POSITION_BITS = 32
_POSITION = np.uint64(POSITION_BITS)
POSITION_MASK = np.uint64((1 << POSITION_BITS) - 1)
PAIRS_AT_ONCE = 1 << 17
# An odd number whose multiples spread well: 2 ** 32 divided by the golden ratio (Knuth, volume 3, 6.4).
_SPREAD = 0x9E3779B1
_WORD = (1 << 64) - 1


def entries(keys: Rows, first: int, kept: npt.NDArray[np.bool_] | None = None) -> Numbers:
    """Make the words to sort, for the keys (rows of numbers) of the documents from position ``first`` on.

    The upper bits have 32 of the key. A key of no more bits is there as a whole, times an odd number, so that no two
    keys are taken for one; of others it is a hash, the upper half of a sum of odd multiples (Dietzfelbinger, 1996).
    Only the documents ``kept`` have entries.
    """
    factors = _factors(keys.shape[1], 8 * keys.dtype.itemsize)
    if (kernels := native()) and keys.dtype.kind == "u":
        return cast("Numbers", kernels.entries(keys, factors, first, kept))
    hashes = np.zeros(len(keys), dtype=np.uint64)
    for column, factor in zip(keys.T, factors, strict=True):
        hashes += column.astype(np.uint64) * factor
    hashes &= ~POSITION_MASK
    hashes |= np.arange(first, first + len(keys), dtype=np.uint64)
    return hashes if kept is None else hashes[kept]


@cache
def _factors(columns: int, bits: int) -> Numbers:
    """Return a number for each column of keys, whose numbers have this many bits."""
    if columns * bits > 64 - POSITION_BITS:
        return constants(columns) | np.uint64(1)
    # Side by side in the upper half; multiplied by an odd number, they stay different there.
    return np.array([(_SPREAD << POSITION_BITS + bits * place) & _WORD for place in range(columns)], dtype=np.uint64)


def pair_codes(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> Numbers:
    """Encode pairs of positions as one number each."""
    return first.astype(np.uint64) << _POSITION | second.astype(np.uint64)


def positions(codes: Numbers) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Decode pairs of positions from numbers."""
    return (codes >> _POSITION).astype(np.int64), (codes & POSITION_MASK).astype(np.int64)


class HotKeys:
    """The keys shared by the most documents: their number, and the position of the last."""

    def __init__(self, least: int = 1_000, most: int = 20, found: Iterable[tuple[int, int, int]] = ()) -> None:
        self.least = least
        self._most = most
        self._heap = sorted((size, table, last) for size, table, last in found)

    def add(self, table: int, sizes: npt.NDArray[np.int64], last: Numbers) -> None:
        """Consider some keys of a table, given the number of their documents, and the entry of the last one."""
        for place in np.flatnonzero(sizes >= self.least).tolist():
            heappush(self._heap, (int(sizes[place]), table, int(last[place] & POSITION_MASK)))
            if len(self._heap) > self._most:
                heappop(self._heap)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """Yield the size of each key, its table, and the position of a document that has it; the largest first."""
        return iter(sorted(self._heap, reverse=True))


class Linker:
    """Pairs each document with those before it that share its key: all of them if they are up to ``all``, else ``few``.

    These few are the nearest. ``left_out`` counts the pairs left out, once for each key that they share. A document
    with more than ``most`` before it is not paired; such documents are ``cut_off``, once for each key. With ``scopes``,
    documents are paired that are in their windows, and differ.
    """

    def __init__(
        self,
        all: int,
        few: int,
        most: int | None = None,
        hot: HotKeys | None = None,
        scopes: ScopeColumns | None = None,
    ) -> None:
        self._limits = all, few, most
        self._scopes = scopes
        self.hot = hot or HotKeys()
        self.left_out = self.cut_off = 0

    @property
    def grain(self) -> int:
        """The grain of the pieces (see `SortedRuns.pieces`): the compiled kernels alone take those that part a key."""
        return 1 if native() and not self._scopes else 1 << POSITION_BITS

    def pairs(self, pieces: Iterable[Numbers], table: int = 0) -> Iterator[Numbers]:
        """Yield the pairs, as numbers, of sorted `entries` of a table, which come in pieces.

        With ``scopes``, entries are mixed with these. Without, pairs with the same second document follow one another,
        the nearest first document first.
        """
        kernels = None if self._scopes else native()
        yield from self._compiled_pairs(kernels, pieces, table) if kernels else self._numpy_pairs(pieces, table)

    def _compiled_pairs(self, kernels: ModuleType, pieces: Iterable[Numbers], table: int) -> Iterator[Numbers]:
        linker = kernels.Linker(*self._limits, self.hot.least)
        for piece in pieces:
            start = 0
            while start < len(piece):
                codes, start = linker.pairs(piece, start, PAIRS_AT_ONCE)
                if len(codes):
                    yield codes
        self.hot.add(table, *linker.hot_keys())
        self.left_out += linker.left_out
        self.cut_off += linker.cut_off

    def _numpy_pairs(self, pieces: Iterable[Numbers], table: int) -> Iterator[Numbers]:
        for piece in pieces:
            words = piece[_share_key(piece >> _POSITION)]
            keys, ranks, scopes = words >> _POSITION, words & POSITION_MASK, self._scopes
            starts = runs(keys)
            documents = scopes.documents(ranks) if scopes else ranks.astype(np.int64)
            self._look_for_hot_keys(table, starts, documents)
            reach = scopes.reach(words, starts) if scopes else starts
            sets = scopes.sets[documents] if scopes and scopes.sets is not None else None
            found = links(keys, reach, sets, *self._limits)
            self.left_out += found.left_out
            self.cut_off += found.cut_off
            for one, other in found.pairs(PAIRS_AT_ONCE):
                first, second = documents[one], documents[other]
                codes = pair_codes(np.minimum(first, second), np.maximum(first, second))
                yield scopes.differ(codes) if scopes else codes

    def _look_for_hot_keys(self, table: int, starts: Integers, documents: Integers) -> None:
        places = np.flatnonzero(starts == np.arange(len(starts)))
        sizes = np.diff(places, append=len(starts))
        self.hot.add(table, sizes, documents[places + sizes - 1].astype(np.uint64))


@dataclass(frozen=True, eq=False)
class Linked:
    """The places of linked documents: each with ``taken`` ones before its ``top``, and each ``one`` with the ``next``.

    ``left_out`` counts the others in the windows, whether they would be in scope or not.
    """

    tops: Integers
    taken: Integers
    one: Integers
    next: Integers
    left_out: int
    cut_off: int

    def pairs(self, limit: int) -> Iterator[tuple[Integers, Integers]]:
        """Yield the places of both documents of each pair, ``limit`` at once at most."""
        for which, back in spread_chunks(self.taken, limit):
            yield self.tops[which] - 1 - back, which
        for start in range(0, len(self.one), limit):
            yield self.one[start : start + limit], self.next[start : start + limit]


def links(
    keys: npt.NDArray[np.generic],
    reach: Integers,
    sets: npt.NDArray[np.generic] | None,
    all: int,
    few: int,
    most: int | None,
) -> Linked:
    """Link documents, given their sorted keys, and for each the place of the first in its ``reach``.

    ``sets`` identify the values that must differ, if any must.
    """
    places = np.arange(len(keys))
    counts = places - reach
    is_crowd = counts > all
    blocks = places if sets is None else runs(keys, sets)
    tops = np.where(is_crowd, np.maximum(blocks, reach), places)
    taken = np.where(is_crowd, np.minimum(few, tops - reach), counts)
    is_cut = np.zeros(len(keys), dtype=np.bool_) if most is None else counts >= most
    taken[is_cut] = 0
    one = next_ = np.empty(0, dtype=np.int64)
    if sets is not None and len(keys):
        starts = np.flatnonzero(blocks == places)
        following = np.append(starts[1:], 0)[np.searchsorted(starts, places, side="right") - 1]
        is_linked = (following > 0) & (keys[following] == keys) & is_crowd[following] & ~is_cut[following]
        is_linked &= (reach[following] <= places) & (places < following - taken[following])
        one = np.flatnonzero(is_linked)
        next_ = following[one]
    return Linked(tops, taken, one, next_, int((counts - taken).sum()) - len(one), int(is_cut.sum()))


def runs(*columns: npt.NDArray[np.generic]) -> Integers:
    """Return for each row the place of the first of the equal ones that follow one another up to it."""
    return np.maximum.accumulate(np.where(are_new(*columns), np.arange(len(columns[0])), 0))


def _share_key(keys: Numbers) -> npt.NDArray[np.bool_]:
    """Return which of sorted keys are there several times."""
    same = np.zeros(len(keys) + 1, dtype=np.bool_)
    np.equal(keys[1:], keys[:-1], out=same[1:-1])
    return same[1:] | same[:-1]


class Candidates:
    """Pairs that several keys may find; each counts once.

    They come in an order by which rows need not be read here and there: by the tile of the second document, that is
    2 ** ``tile_bits`` documents that follow one another, then by the first document, then by the second one. So the
    rows of one tile are kept at hand, and all before them are read from the first to the last. ``name`` and ``ends``
    are those of `SortedRuns`.
    """

    def __init__(
        self,
        spools: Spools,
        limit: int,
        tile_bits: int = POSITION_BITS,
        name: str | None = None,
        ends: Sequence[int] = (),
    ) -> None:
        self.runs = SortedRuns(spools, limit, name, ends=ends, distinct=True)
        self.tile_bits = tile_bits
        self.read = 0

    def add(self, codes: Numbers) -> None:
        """Add pairs, as numbers."""
        self.runs.add(_by_tile(codes, self.tile_bits))

    def distinct(self, low: int = 0) -> Iterator[CandidatesOfTile]:
        """Yield each pair once, those of a tile in arrays of a bounded size; from ``low`` on in their order."""
        for numbers in self.runs.pieces(low=low):
            before, count = self.read, len(numbers)
            self.read += count
            tiles = numbers >> np.uint64(POSITION_BITS + self.tile_bits) if self.tile_bits < POSITION_BITS else None
            starts = [0] if tiles is None else [0, *(np.flatnonzero(np.diff(tiles)) + 1).tolist()]
            for start, stop in pairwise([*starts, len(numbers)]):
                if stop > start:
                    some = numbers[start:stop]
                    first = 0 if tiles is None else int(tiles[start]) << self.tile_bits
                    tile = range(first, first + (1 << self.tile_bits))
                    read = range(*(before + count * place // len(numbers) for place in (start, stop)))
                    yield CandidatesOfTile(_of_tile(some, self.tile_bits), tile, int(some[-1]) + 1, read)


@dataclass(frozen=True, eq=False)
class CandidatesOfTile:
    """Candidates whose second documents are in a tile; those that follow are from ``next`` on in their order.

    They are the ``read`` ones of all numbers.
    """

    codes: Numbers
    tile: range
    next: int
    read: range

    def part_of_all(self, compared: int) -> int:
        """Return how many of all numbers are done, once this many of these candidates are compared."""
        return self.read.start + len(self.read) * compared // len(self.codes)


def _by_tile(codes: Numbers, tile_bits: int) -> Numbers:
    """Move the upper bits of the second position, the number of its tile, before the first one."""
    if tile_bits == POSITION_BITS:
        return codes
    bits = np.uint64(tile_bits)
    tiles = (codes & POSITION_MASK) >> bits
    lower = codes & np.uint64((1 << tile_bits) - 1)
    return tiles << np.uint64(POSITION_BITS + tile_bits) | (codes >> _POSITION << bits) | lower


def _of_tile(numbers: Numbers, tile_bits: int) -> Numbers:
    """Move them back."""
    if tile_bits == POSITION_BITS:
        return numbers
    bits = np.uint64(tile_bits)
    tiles = numbers >> np.uint64(POSITION_BITS + tile_bits)
    lower = numbers & np.uint64((1 << tile_bits) - 1)
    first = (numbers >> bits) & POSITION_MASK
    return first << _POSITION | tiles << bits | lower


_ESTIMATED_AT_ONCE = 1 << 12


class PairRows:
    """The rows of both documents of pairs, which are given as numbers."""

    def __init__(self, codes: Numbers) -> None:
        self._documents, self._first, self._second = _places(codes)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._first)

    def of(self, columns: Columns) -> tuple[Rows, Rows]:
        """Return the rows of the first documents of the pairs, and those of the second."""
        taken = columns.take(self._documents)
        return taken[self._first], taken[self._second]

    def are_equal(self, columns: Columns) -> npt.NDArray[np.bool_]:
        """Return which pairs have equal rows."""
        first, second = self.of(columns)
        found: npt.NDArray[np.bool_] = (first == second).all(axis=1)
        return found

    def distances(self, simhashes: Columns) -> Distances:
        """Compute the Hamming distances of the pairs."""
        first, second = self.of(simhashes)
        is_narrow = first.shape[1] == 1
        return hamming.distances(first[:, 0], second[:, 0]) if is_narrow else hamming.distances(first, second)

    def estimates(self, signatures: Columns, value_bits: int, size: int) -> npt.NDArray[np.float64]:
        """Estimate the similarities of the pairs by the first ``size`` values of stored signatures."""
        taken = np.ascontiguousarray(signatures.take(self._documents)[:, :size])
        if (kernels := native()) and value_bits < VALUE_BITS:
            agreements = kernels.agreements(taken, self._first, self._second, value_bits)
            return similarities_of_shares(agreements / taken.shape[1], value_bits)
        found = np.empty(len(self._first), dtype=np.float64)
        for start in range(0, len(found), _ESTIMATED_AT_ONCE):
            here = slice(start, start + _ESTIMATED_AT_ONCE)
            found[here] = estimates(taken[self._first[here]], taken[self._second[here]], value_bits)
        return found


def agreements_with(some: Rows, others: Rows, value_bits: int) -> npt.NDArray[np.integer[Any]]:
    """Count at how many places each of some stored signatures agrees with each of the others."""
    if kernels := native():
        rows = np.concatenate([some, others])
        first = np.repeat(np.arange(len(some), dtype=np.uint32), len(others))
        second = np.tile(np.arange(len(some), len(rows), dtype=np.uint32), len(some))
        counts: npt.NDArray[np.uint32] = kernels.agreements(rows, first, second, min(value_bits, VALUE_BITS))
        return counts.reshape(len(some), len(others))
    mask = np.asarray((1 << value_bits) - 1, dtype=some.dtype)
    return np.array([np.count_nonzero((one ^ others) & mask == 0, axis=1) for one in some])


def _places(codes: Numbers) -> tuple[npt.NDArray[np.int64], Places, Places]:
    """Return the documents of pairs, each once, and where among these those of each pair are."""
    if kernels := native():
        documents, first, second = kernels.places(codes)
        return documents, first, second
    ones, others = positions(codes)
    documents = distinct_sorted(np.sort(np.concatenate([ones, others])))
    return documents, np.searchsorted(documents, ones), np.searchsorted(documents, others)
