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
from typing import cast

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import spread_chunks
from es_simhash._core.native import native
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Numbers, Rows, SortedRuns
from es_simhash.sketches.minhash.common import constants

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
    with more than ``most`` before it is not paired; such documents are ``cut_off``, once for each key.
    """

    def __init__(self, all: int, few: int, most: int | None = None, hot: HotKeys | None = None) -> None:
        self._all = all
        self._few = few
        self._most = most
        self._hot = hot or HotKeys()
        self.left_out = self.cut_off = 0

    def pairs(self, pieces: Iterable[Numbers], table: int = 0) -> Iterator[Numbers]:
        """Yield the pairs, as numbers, of sorted `entries` of a table, which come in pieces.

        Pairs with the same second document follow one another, the nearest first document first.
        """
        kernels = native()
        yield from self._compiled_pairs(kernels, pieces, table) if kernels else self._numpy_pairs(pieces, table)

    def _compiled_pairs(self, kernels: ModuleType, pieces: Iterable[Numbers], table: int) -> Iterator[Numbers]:
        linker = kernels.Linker(self._all, self._few, self._most, self._hot.least)
        for piece in pieces:
            start = 0
            while start < len(piece):
                codes, start = linker.pairs(piece, start, PAIRS_AT_ONCE)
                if len(codes):
                    yield codes
        self._hot.add(table, *linker.hot_keys())
        self.left_out += linker.left_out
        self.cut_off += linker.cut_off

    def _numpy_pairs(self, pieces: Iterable[Numbers], table: int) -> Iterator[Numbers]:
        before = np.empty(0, dtype=np.uint64)
        followed = 0  # the number of entries with the last key before the last entry
        for piece in pieces:
            if not len(piece):
                continue
            run = np.concatenate([before[-self._all :], piece])
            ranks = _ranks_in_runs(piece >> _POSITION)
            if len(before) and before[-1] >> _POSITION == piece[0] >> _POSITION:
                end = np.searchsorted(piece >> _POSITION, piece[0] >> _POSITION, side="right")
                ranks[:end] += followed + 1
            self._look_for_hot_keys(table, before[-1:], followed, piece, ranks)
            yield from self._pairs(run, len(run) - len(piece), ranks)
            before, followed = run, int(ranks[-1])
        self._hot.add(table, np.array([followed + 1][: len(before)]), before[-1:])

    def _look_for_hot_keys(
        self, table: int, before: Numbers, followed: int, piece: Numbers, ranks: npt.NDArray[np.int64]
    ) -> None:
        """Count the documents of each key at its last document; more may follow that of a piece."""
        entries = np.concatenate([before, piece])
        sizes = np.concatenate([np.array([followed])[: len(before)], ranks]) + 1
        is_last = np.flatnonzero(entries[1:] >> _POSITION != entries[:-1] >> _POSITION)
        self._hot.add(table, sizes[is_last], entries[is_last])

    def _pairs(self, run: Numbers, new: int, ranks: npt.NDArray[np.int64]) -> Iterator[Numbers]:
        counts = np.where(ranks <= self._all, ranks, self._few)
        if self._most is not None:
            counts[ranks >= self._most] = 0
            self.cut_off += int((ranks >= self._most).sum())
        self.left_out += int((ranks - counts).sum())
        for which, back in spread_chunks(counts, PAIRS_AT_ONCE):
            here = which + new
            yield run[here - 1 - back] << _POSITION | run[here] & POSITION_MASK


def _ranks_in_runs(keys: Numbers) -> npt.NDArray[np.int64]:
    """Count, for each of sorted keys, the equal ones before it."""
    is_first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    return np.arange(len(keys)) - np.repeat(starts, np.diff(starts, append=len(keys)))


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
