"""Texts in spools, read again by their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.encoded import Encoded, encoded
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import BLOCK, Columns

_WRITTEN_AT_ONCE = 1 << 18
_NEAR = 1 << 14


class Strings:
    """Texts, read again by their numbers."""

    def __init__(self, spools: Spools) -> None:
        self._spool = spools.spool()
        self._ends = Columns(spools, 1, np.int64)
        self._waiting: list[str] = []
        self._waiting_length = 0

    def append(self, text: str) -> None:
        """Append a text."""
        self._waiting.append(text)
        self._waiting_length += len(text)
        if self._waiting_length >= _WRITTEN_AT_ONCE or len(self._waiting) == BLOCK:
            self.flush()

    def flush(self) -> None:
        """Write the waiting texts; call it before reading."""
        waiting, self._waiting, self._waiting_length = self._waiting, [], 0
        if waiting:
            self.extend(encoded(waiting))

    def extend(self, texts: Encoded) -> None:
        """Append texts that are encoded already, when none are waiting."""
        self._ends.append(len(self._spool) + texts.ends)
        self._spool.write(texts.data)

    def sizes(self, rows: Integers) -> Integers:
        """Return the sizes of texts in bytes, by their numbers, which must ascend."""
        starts, ends = self._bounds(rows)
        return ends - starts

    def take(self, rows: Sequence[int] | Integers) -> Iterator[str]:
        """Yield texts by their numbers, which must ascend."""
        starts, ends = self._bounds(np.asarray(rows, dtype=np.int64))
        for some in _near_one_another(starts):
            yield from self._between(starts[some].tolist(), ends[some].tolist())

    def at(self, rows: Sequence[int]) -> list[str]:
        """Return texts by their numbers, in any order."""
        ascending = sorted(rows)
        found = dict(zip(ascending, self.take(ascending), strict=True))
        return [found[row] for row in rows]

    def __iter__(self) -> Iterator[str]:
        """Yield all texts."""
        start = 0
        for column in self._ends.columns(range(1)):
            ends = column[:, 0]
            starts = np.concatenate([[start], ends[:-1]])
            start = int(ends[-1])
            for some in _near_one_another(starts):
                yield from self._between(starts[some].tolist(), ends[some].tolist())

    def _between(self, starts: list[int], ends: list[int]) -> Iterator[str]:
        """Yield the texts between these bounds, which are read at once."""
        first = starts[0]
        data = self._spool.read(first, ends[-1] - first)
        for start, end in zip(starts, ends, strict=True):
            yield data[start - first : end - first].decode("utf-8", "surrogatepass")

    def _bounds(self, rows: Integers) -> tuple[Integers, Integers]:
        ends: Integers = self._ends.take(rows)[:, 0]
        starts = np.zeros(len(rows), dtype=np.int64)
        starts[rows > 0] = self._ends.take(rows[rows > 0] - 1)[:, 0]
        return starts, ends


def _near_one_another(starts: Integers) -> Iterator[slice]:
    """Yield runs of texts that begin in the same few kilobytes: reading what is between them costs less than calls."""
    cuts = np.flatnonzero(np.diff(starts // _NEAR)) + 1
    bounds = [0, *cuts.tolist(), len(starts)] if len(starts) else [0]
    yield from map(slice, bounds, bounds[1:])
