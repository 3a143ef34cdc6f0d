"""Sorting more numbers than fit into memory: runs are sorted, written one after the other, and merged.

A run is up to ``limit`` numbers of 8 bytes in ascending order. To merge them, each run is read once, from its first
number to its last, up to one bound after the other; the bounds are numbers of the runs, so far apart that what lies
between two of them fits the memory (Knuth, "The art of computer programming", volume 3, 5.4). Where all numbers fit,
there is one run, in memory alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import distinct_sorted
from es_simhash._core.native import native
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Records

Numbers = npt.NDArray[np.uint64]

# The numbers of a run that are read at once, if many fit the memory.
_CHUNK = 4096
_CHUNKS_AT_LEAST = 64


def sorted_pieces(numbers: Iterable[Numbers], spools: Spools, limit: int, grain: int = 1) -> Iterator[Numbers]:
    """Sort numbers, and yield them in arrays of about ``limit``; see `SortedRuns.pieces`."""
    runs = SortedRuns(spools, limit)
    try:
        for some in numbers:
            runs.add(some)
        yield from runs.pieces(grain)
    finally:
        runs.close()


class SortedRuns:
    """Numbers in sorted runs of up to ``limit``; in memory while there is one. If ``distinct``, each counts once.

    Runs that have a ``name`` are kept in the spool of that name, where an earlier run of the program may have left some
    that end at ``ends``.
    """

    def __init__(
        self, spools: Spools, limit: int, name: str | None = None, *, ends: Sequence[int] = (), distinct: bool = False
    ) -> None:
        self._stored = Records(spools, np.uint64, name)
        self.ends = list(ends)
        self._limit = limit
        self._distinct = distinct
        self._waiting: list[Numbers] = []
        self._count = 0

    def __len__(self) -> int:
        """Return the number of numbers, as far as they are known to differ if they are ``distinct``."""
        return len(self._stored) + self._count

    def add(self, numbers: Numbers) -> None:
        """Add numbers in any order."""
        self._waiting.append(numbers)
        self._count += len(numbers)
        if self._count >= self._limit:
            self._sort()
            # If most were the same, there is room for more.
            if self._count >= self._limit // 2:
                self.end_run()

    def end_run(self) -> None:
        """Write the numbers that are in memory as a run."""
        self._sort()
        for numbers in self._waiting:
            self._stored.append(numbers)
        if self._count:
            self.ends.append(len(self._stored))
        self._waiting, self._count = [], 0

    def pieces(self, grain: int = 1, low: int = 0) -> Iterator[Numbers]:
        """Yield the numbers from ``low`` on in ascending order, in arrays of about ``limit``.

        Numbers with the same quotient by ``grain`` come in the same array, which is longer if there are more of them.
        """
        if self.ends:
            self.end_run()
            yield from self._merged(grain, low)
            return
        self._sort()
        yield from (numbers[np.searchsorted(numbers, np.uint64(low)) :] for numbers in self._waiting)

    def close(self) -> None:
        """Free what they take."""
        self._waiting, self._count = [], 0
        self._stored.close()

    def _sort(self) -> None:
        together = _sorted_together(self._waiting)
        self._waiting = [distinct_sorted(together) if self._distinct else together]
        self._count = len(self._waiting[0])

    def _merged(self, grain: int, low: int) -> Iterator[Numbers]:
        chunk = max(min(_CHUNK, self._limit // _CHUNKS_AT_LEAST), 1)
        runs = [_Run(self._stored, first, end, chunk) for first, end in pairwise([0, *self.ends])]
        for run in runs:
            run.skip_to(low)
        for bound in [*self._bounds(runs, chunk, grain, low), None]:
            parts = [part for part in (run.below(bound) for run in runs) if len(part)]
            if parts:
                yield self._merge(parts)

    def _merge(self, parts: list[Numbers]) -> Numbers:
        """Merge sorted numbers; nothing of the parts stays in memory."""
        if len(parts) == 1:
            return parts.pop()
        piece = np.concatenate(parts)
        parts.clear()
        piece.sort(kind="stable")  # which merges what is sorted in parts
        return distinct_sorted(piece) if self._distinct else piece

    def _bounds(self, runs: Sequence[_Run], chunk: int, grain: int, low: int) -> list[int]:
        """Return ascending numbers; about ``limit`` lie between two of them."""
        firsts = np.sort(np.concatenate([run.firsts for run in runs]))
        # Between two bounds, a run has a chunk more than begin there.
        step = max(self._limit // chunk - len(runs), len(runs), 1)
        bounds = firsts[step::step] // np.uint64(grain) * np.uint64(grain)
        return [bound for bound in distinct_sorted(bounds).tolist() if bound > low]


def _sorted_together(parts: list[Numbers]) -> Numbers:
    """Sort the numbers of some arrays, which do not stay in memory."""
    if kernels := native():
        together: Numbers = kernels.sorted_together(parts)
        parts.clear()
        return together
    together = np.concatenate([np.empty(0, dtype=np.uint64), *parts])
    parts.clear()
    together.sort()
    return together


class _Run:
    """A sorted run, read from its first number to its last; ``firsts`` has the first number of each chunk."""

    def __init__(self, stored: Records, first: int, end: int, chunk: int) -> None:
        self._stored = stored
        self._first, self._next, self._end = first, first, end
        self._chunk = chunk
        self._rest: Numbers = np.empty(0, dtype=np.uint64)
        self.firsts = np.array([stored.part(at, at + 1)[0] for at in range(first, end, chunk)], dtype=np.uint64)

    def skip_to(self, low: int) -> None:
        """Pass over the numbers below ``low``."""
        chunks = int(np.searchsorted(self.firsts, np.uint64(low)))
        self._next = self._first + max(chunks - 1, 0) * self._chunk
        self.below(low)

    def below(self, bound: int | None) -> Numbers:
        """Read the numbers below ``bound``, or all that are left."""
        end = self._end
        if bound is not None:
            chunks = int(np.searchsorted(self.firsts, np.uint64(bound)))
            end = min(self._first + chunks * self._chunk, end)
        if end > self._next:
            self._rest = np.concatenate([self._rest, self._stored.part(self._next, end)])
            self._next = end
        count = len(self._rest) if bound is None else int(np.searchsorted(self._rest, np.uint64(bound)))
        found, self._rest = self._rest[:count], self._rest[count:].copy()
        return found
