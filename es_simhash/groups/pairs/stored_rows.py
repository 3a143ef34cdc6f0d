"""Rows of numbers in spools: read from the first to the last, by columns, or by their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_sorted
from es_simhash.groups.pairs.spool import Spools

Rows = npt.NDArray[Any]

# The rows of a block. A column of it is read at once, and so are all its columns if one row is.
BLOCK = 2048
_READ_AT_ONCE = 1 << 20
# Blocks kept as rows take up to this many times the memory of a spool, unless said otherwise.
_KEPT_AS_ROWS = 2


class Records:
    """Rows of a numpy type, appended, and read again from the first."""

    def __init__(self, spools: Spools, dtype: npt.DTypeLike, name: str | None = None) -> None:
        self._dtype = np.dtype(dtype)
        self._spool = spools.spool(name)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._spool) // self._dtype.itemsize

    def append(self, rows: Rows) -> None:
        """Append rows."""
        self._spool.write(np.ascontiguousarray(rows, dtype=self._dtype))

    def part(self, first: int, stop: int) -> Rows:
        """Return the rows from ``first`` up to ``stop``."""
        size = self._dtype.itemsize
        return np.frombuffer(self._spool.read(first * size, (stop - first) * size), dtype=self._dtype)

    def __iter__(self) -> Iterator[Rows]:
        """Yield all rows in batches."""
        size = max(_READ_AT_ONCE // self._dtype.itemsize, 1) * self._dtype.itemsize
        for start in range(0, len(self._spool), size):
            yield np.frombuffer(self._spool.read(start, size), dtype=self._dtype)

    def close(self) -> None:
        """Free the memory and the disk space."""
        self._spool.close()


class Columns:
    """A table of ``width`` numbers a row, read by columns or by rows.

    Blocks of rows follow one another, and in each block its columns do (Ailamaki, DeWitt, Hill, Skounakis, "Weaving
    relations for cache performance", VLDB 2001). The first blocks that are read by rows are kept as rows as well, in
    ``room`` bytes. Those with a ``name`` may be kept: once complete, they can be opened again.
    """

    def __init__(
        self, spools: Spools, width: int, dtype: npt.DTypeLike, room: int | None = None, name: str | None = None
    ) -> None:
        self._dtype = np.dtype(dtype)
        self._width = width
        self._spool = spools.spool(name)
        self._last = np.empty((0, width), dtype=self._dtype)
        self._column_bytes = BLOCK * self._dtype.itemsize
        self._is_settled = False
        self._all_rows: Rows | None = None
        self._as_rows: dict[int, Rows] = {}
        self._wanted_as_rows: range | None = None
        room = _KEPT_AS_ROWS * spools.limit if room is None else room
        self._most_as_rows = room // (self._column_bytes * width)
        if rest := len(self._spool) % (self._column_bytes * width):
            data = self._spool.read(len(self._spool) - rest, rest)
            self._last = np.frombuffer(data, dtype=self._dtype).reshape(width, -1).T

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._blocks * BLOCK + len(self._last)

    def append(self, rows: Rows) -> None:
        """Append rows, an array of shape ``(N, width)``."""
        rows = np.concatenate([self._last, rows.reshape(len(rows), self._width).astype(self._dtype, copy=False)])
        whole = len(rows) // BLOCK * BLOCK
        blocks = rows[:whole].reshape(-1, BLOCK, self._width).transpose(0, 2, 1)
        self._spool.write(np.ascontiguousarray(blocks))
        self._last = rows[whole:].copy()

    def complete(self) -> None:
        """Finish appending: write the last rows, a block with fewer of them."""
        self._spool.write(self._last.T.tobytes())

    def settle(self) -> None:
        """Finish appending: from now on, all rows are kept as such if they fit the memory for that."""
        self._is_settled = self._blocks < self._most_as_rows

    def keep(self, rows: range | None) -> None:
        """From now on, keep of what is read by rows the blocks of these; or the first ones again."""
        self._wanted_as_rows = range(rows.start // BLOCK, -(-rows.stop // BLOCK)) if rows else None
        self._as_rows = {block: kept for block, kept in self._as_rows.items() if self._is_wanted(block)}

    def _is_wanted(self, block: int) -> bool:
        return self._wanted_as_rows is None or block in self._wanted_as_rows

    def columns(self, places: Sequence[int]) -> Iterator[Rows]:
        """Yield some columns of all rows, in batches of rows; a range of neighbours is read at once."""
        at_once = [places] if isinstance(places, range) and places.step == 1 else [[place] for place in places]
        for block in range(self._blocks):
            parts = [self._read(block, some[0], len(some)) for some in at_once]
            yield (parts[0] if len(parts) == 1 else np.concatenate(parts)).reshape(len(places), BLOCK).T
        if len(self._last):
            yield self._last[:, list(places)]

    def take(self, rows: Integers) -> Rows:
        """Return rows by their numbers, which must ascend."""
        if self._is_settled:
            if self._all_rows is None:
                self._all_rows = np.concatenate([self._last[:0], *self.columns(range(self._width))])
            return self._all_rows.take(rows, axis=0)
        taken = np.empty((len(rows), self._width), dtype=self._dtype)
        blocks = rows // BLOCK
        for block in distinct_sorted(blocks).tolist():
            here = slice(*np.searchsorted(blocks, (block, block + 1)).tolist())
            self._take(block, rows[here] - block * BLOCK, taken[here])
        return taken

    def at(self, rows: Integers) -> Rows:
        """Return rows by their numbers, in any order."""
        order = np.argsort(rows, kind="stable")
        found = self.take(rows[order])
        taken = np.empty_like(found)
        taken[order] = found
        return taken

    @property
    def _blocks(self) -> int:
        return len(self._spool) // (self._column_bytes * self._width)

    def _read(self, block: int, first: int, count: int) -> Rows:
        """Read some columns of a block that are neighbours, one after the other."""
        start = (block * self._width + first) * self._column_bytes
        return np.frombuffer(self._spool.read(start, count * self._column_bytes), dtype=self._dtype)

    def _take(self, block: int, rows: Integers, taken: Rows) -> None:
        """Copy rows of a block."""
        kept = self._last if block == self._blocks else self._as_rows.get(block)
        if kept is None:
            kept = self._read(block, 0, self._width).reshape(self._width, BLOCK).T
            if len(self._as_rows) >= self._most_as_rows or not self._is_wanted(block):
                taken[:] = kept[rows]
                return
            kept = self._as_rows[block] = np.ascontiguousarray(kept)
        # Any other mode would copy what it takes once more.
        kept.take(rows, axis=0, out=taken, mode="clip")
