"""A cache of the features of texts to compare: as many as memory allows, so few are computed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from es_simhash._core.arrays import Integers, distinct_numbers
from es_simhash.sketches.weighted_sets import WeightedSet

if TYPE_CHECKING:
    from es_simhash_native import KeptTexts

# A byte of text makes up to one feature: a hash of 8 bytes, and its weight.
_BYTES_A_BYTE = 12
# The limit for texts that are all in memory themselves.
_MEMORY = 256 << 20
# The overhead of a cached text, in addition to its features.
_BYTES_A_TEXT = 300

# The texts of these numbers, which ascend, and how many bytes each has.
Take = Callable[[Integers], Iterable[str]]
Sizes = Callable[[Integers], Integers]
# What is compared of each text.
Prepare = Callable[[Iterable[str]], Iterator[WeightedSet]]


class SetCache:
    """Texts by their numbers, with about ``limit`` bytes of their features cached, or those of a single pair.

    The compiled kernels make features in ``threads``.
    """

    def __init__(self, prepare: Prepare, take: Take, sizes: Sizes, limit: int, threads: int = 1) -> None:
        self._prepare = prepare
        self._take = take
        self._sizes = sizes
        self._limit = limit
        self._threads = threads
        self._outlines: dict[int, WeightedSet] = {}
        self._kept: KeptTexts | None = None
        self._bytes = 0

    @classmethod
    def of(cls, prepare: Prepare, texts: Sequence[str]) -> SetCache:
        """Cache texts that are all in memory."""
        sizes = np.array([len(text) for text in texts], dtype=np.int64)
        return cls(prepare, lambda rows: [texts[row] for row in rows.tolist()], sizes.__getitem__, _MEMORY)

    def parts(self, pairs: Integers) -> Iterator[Integers]:
        """Split the pairs, two rows of numbers, into parts whose texts' features all fit in memory; yield positions.

        The texts are cut into blocks; the pairs of two blocks are a part.
        """
        if not pairs.size:
            return
        rows = distinct_numbers(pairs)
        blocks = np.cumsum(self._sizes(rows)) * 2 * _BYTES_A_BYTE // self._limit
        first, second = blocks[np.searchsorted(rows, pairs)]
        order = np.lexsort((second, first))
        cuts = np.flatnonzero((np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)) + 1
        yield from np.split(order, cuts)

    def texts(self, rows: Integers) -> list[str]:
        """Return the texts themselves."""
        return list(self._take(rows))

    def kept(self, keep: Callable[[int, int], KeptTexts]) -> KeptTexts:
        """Return where the compiled kernels keep texts, made by ``keep`` with the limit of bytes, and the threads."""
        if self._kept is None:
            self._kept = keep(self._limit, self._threads)
        return self._kept

    def whole(self, rows: Integers) -> list[WeightedSet]:
        """Return all features of texts."""
        return list(self._prepare(self._take(rows)))

    def outlines(self, rows: Integers) -> list[WeightedSet]:
        """Return the outlines of texts, which stay cached while there is room."""
        missing = np.array([row for row in rows.tolist() if row not in self._outlines], dtype=np.int64)
        for row, features in zip(missing.tolist(), self._prepare(self._take(missing)), strict=True):
            outline = features.outline
            self._outlines[row] = outline
            self._bytes += _size(outline)
        found = [self._outlines[row] for row in rows.tolist()]
        self._make_room(set(rows.tolist()))
        return found

    def _make_room(self, needed: set[int]) -> None:
        """Drop the outlines that came first."""
        if self._bytes > self._limit:
            for row in [row for row in self._outlines if row not in needed]:
                self._bytes -= _size(self._outlines.pop(row))
                if self._bytes <= self._limit:
                    return


def fits(texts: Iterable[str]) -> bool:
    """Return whether the features of texts that are all in memory may be so, too."""
    return sum(map(len, texts)) * _BYTES_A_BYTE <= _MEMORY


def _size(features: WeightedSet) -> int:
    return features.hashes.nbytes + features.weights.nbytes + _BYTES_A_TEXT
