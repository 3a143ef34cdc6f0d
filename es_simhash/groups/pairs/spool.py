"""Spools of data: in memory while they are small, in temporary files when they grow.

The files have no name in any folder (or, on Windows, are deleted when closed), so they vanish with the process, however
it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from os import SEEK_END
from pathlib import Path
from tempfile import SpooledTemporaryFile, gettempdir
from threading import Lock
from types import TracebackType
from typing import IO, Any, BinaryIO
from weakref import finalize

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_sorted
from es_simhash.errors import InputError, StorageError
from es_simhash.groups.pairs.encoded import Encoded, encoded
from es_simhash.groups.pairs.stages import Stages

Rows = npt.NDArray[Any]

# The rows of a block. A column of it is read at once, and so are all its columns if one row is.
_BLOCK = 2048
_WRITTEN_AT_ONCE = 1 << 18
_READ_AT_ONCE = 1 << 20
_NEAR = 1 << 14
# Blocks kept as rows take up to this many times the memory of a spool, unless said otherwise.
_KEPT_AS_ROWS = 2


class Spools:
    """A set of spools, each with up to ``limit`` bytes in memory, and the rest in files of ``directory``.

    Those that have a name are files of ``stages``, if these are kept. Those that nobody has closed are closed when
    nobody holds them any longer.
    """

    def __init__(self, limit: int, directory: str | Path | None = None, stages: Stages | None = None) -> None:
        self.limit = limit
        self.stages = stages or Stages()
        self._directory = str(directory) if directory is not None else gettempdir()
        self._files: list[Spool] = []
        self._free = finalize(self, _close, self._files)
        self.is_closed = False

    def spool(self, name: str | None = None) -> Spool:
        """Make a new, empty spool; or open the kept one of this name."""
        kept = self.stages.file(name) if name else None
        self._files.append(Spool(self.limit, self._directory, kept))
        return self._files[-1]

    def check_open(self) -> None:
        """Raise an `InputError` if all is freed."""
        if self.is_closed:
            raise InputError("The result is closed, and what it held is deleted. Use it before you close it.")

    def __enter__(self) -> Spools:
        """Return the spools, to be closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory and the disk space of all spools."""
        self.is_closed = True
        self._free()


class Spool:
    """Bytes that are appended, and read from any place, also by several threads."""

    def __init__(self, limit: int, directory: str, kept: BinaryIO | None = None) -> None:
        self._lock = Lock()
        self._directory = directory
        self._file: IO[bytes] = kept or SpooledTemporaryFile(limit, dir=directory)  # noqa: SIM115 - a Spools closes it
        self._size = kept.seek(0, SEEK_END) if kept else 0

    def __len__(self) -> int:
        """Return the number of bytes."""
        return self._size

    def write(self, data: bytes | memoryview) -> None:
        """Append ``data``."""
        with self._lock:
            try:
                self._file.seek(self._size)
                self._file.write(data)
            except OSError as error:
                raise self._failed(error) from error
            self._size += len(data)

    def read(self, start: int, size: int) -> bytes:
        """Read ``size`` bytes from ``start`` on, or as many as there are."""
        with self._lock:
            try:
                self._file.seek(start)  # seeking flushes the buffer
                return self._file.read(size)
            except OSError as error:
                raise self._failed(error) from error

    def close(self) -> None:
        """Free the memory and the disk space."""
        # Data that can no longer be written is no longer needed.
        with suppress(OSError):
            self._file.close()

    def _failed(self, error: OSError) -> StorageError:
        return StorageError(
            f"Temporary files cannot be written to {self._directory}, or read there: {error.strerror}. "
            "Name a directory with enough room (or set TMPDIR), or allow more memory."
        )


def _close(files: Sequence[Spool]) -> None:
    for spool in files:
        spool.close()


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
        self._spool.write(rows.astype(self._dtype, copy=False).tobytes())

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
        self._column_bytes = _BLOCK * self._dtype.itemsize
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
        return self._blocks * _BLOCK + len(self._last)

    def append(self, rows: Rows) -> None:
        """Append rows, an array of shape ``(N, width)``."""
        rows = np.concatenate([self._last, rows.reshape(len(rows), self._width).astype(self._dtype, copy=False)])
        whole = len(rows) // _BLOCK * _BLOCK
        blocks = rows[:whole].reshape(-1, _BLOCK, self._width).transpose(0, 2, 1)
        self._spool.write(blocks.tobytes())
        self._last = rows[whole:].copy()

    def complete(self) -> None:
        """Finish appending: write the last rows, a block with fewer of them."""
        self._spool.write(self._last.T.tobytes())

    def settle(self) -> None:
        """Finish appending: from now on, all rows are kept as such if they fit the memory for that."""
        self._is_settled = self._blocks < self._most_as_rows

    def keep(self, rows: range | None) -> None:
        """From now on, keep of what is read by rows the blocks of these; or the first ones again."""
        self._wanted_as_rows = range(rows.start // _BLOCK, -(-rows.stop // _BLOCK)) if rows else None
        self._as_rows = {block: kept for block, kept in self._as_rows.items() if self._is_wanted(block)}

    def _is_wanted(self, block: int) -> bool:
        return self._wanted_as_rows is None or block in self._wanted_as_rows

    def columns(self, first: int, stop: int) -> Iterator[Rows]:
        """Yield the columns from ``first`` up to ``stop`` of all rows, in batches of rows."""
        for block in range(self._blocks):
            start = (block * self._width + first) * self._column_bytes
            data = self._spool.read(start, (stop - first) * self._column_bytes)
            yield np.frombuffer(data, dtype=self._dtype).reshape(stop - first, _BLOCK).T
        if len(self._last):
            yield self._last[:, first:stop]

    def take(self, rows: Integers) -> Rows:
        """Return rows by their numbers, which must ascend."""
        if self._is_settled:
            if self._all_rows is None:
                self._all_rows = np.concatenate([self._last[:0], *self.columns(0, self._width)])
            return self._all_rows.take(rows, axis=0)
        taken = np.empty((len(rows), self._width), dtype=self._dtype)
        blocks = rows // _BLOCK
        for block in distinct_sorted(blocks).tolist():
            here = slice(*np.searchsorted(blocks, (block, block + 1)).tolist())
            self._take(block, rows[here] - block * _BLOCK, taken[here])
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

    def _take(self, block: int, rows: Integers, taken: Rows) -> None:
        """Copy rows of a block."""
        kept = self._last if block == self._blocks else self._as_rows.get(block)
        if kept is None:
            size = self._column_bytes * self._width
            columns = np.frombuffer(self._spool.read(block * size, size), dtype=self._dtype)
            kept = columns.reshape(self._width, _BLOCK).T
            if len(self._as_rows) >= self._most_as_rows or not self._is_wanted(block):
                taken[:] = kept[rows]
                return
            kept = self._as_rows[block] = np.ascontiguousarray(kept)
        # Any other mode would copy what it takes once more.
        kept.take(rows, axis=0, out=taken, mode="clip")


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
        if self._waiting_length >= _WRITTEN_AT_ONCE or len(self._waiting) == _BLOCK:
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
        for column in self._ends.columns(0, 1):
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
