"""Rows, texts and sorted numbers in spools, which are in memory while small, or kept as stages of a job.

The files have no name in any folder (or, on Windows, are deleted when closed), so they vanish with the process, however
it ends. Kept spools are the stages of a job in a directory, so that a job that was killed goes on with the stage that
it was in. It has a file for each, ``NAME.spool``, to which stages append rows of a fixed width, and ``stages.json``:

    {"of": …, "made": 2, "sizes": {"pairs.spool": 4800, …}, "notes": {"keys": …, …}, "digest": "…"}

``of`` says what the job is done with; ``made``, how many of the directory and those around it did not exist before;
``sizes`` are those of the files, in bytes, when the last stage ended; ``notes`` is what else stages leave; ``digest``
is the SHA-256 of all before it, so that nothing else is taken for a manifest.

- A stage ends with a new ``stages.json``, which takes the old one's place at once, when all that it counts is on disk.
- What a file has beyond its size is of a stage that did not end, and is cut off when the file is opened.
- Files of another job are deleted.
- The directory is locked, so that no two jobs write to it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import pairwise
from os import SEEK_END
from pathlib import Path
from tempfile import SpooledTemporaryFile, gettempdir
from threading import Lock
from typing import IO, Any, BinaryIO, NamedTuple, cast
from weakref import finalize

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Codes, Integers, distinct_sorted
from es_simhash._core.environment import by_kernels, native
from es_simhash._core.json_codec import Json, parse_json
from es_simhash.engines.embedded import durable_files
from es_simhash.engines.embedded.durable_files import Claim
from es_simhash.errors import InputError, InUseError, StorageError

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
    ``room`` bytes.
    """

    def __init__(self, spools: Spools, width: int, dtype: npt.DTypeLike, room: int | None = None) -> None:
        self._dtype = np.dtype(dtype)
        self._width = width
        self._spool = spools.spool()
        self._last = np.empty((0, width), dtype=self._dtype)
        self._column_bytes = BLOCK * self._dtype.itemsize
        self._is_settled = False
        self._all_rows: Rows | None = None
        self._as_rows: dict[int, Rows] = {}
        self._wanted_as_rows: range | None = None
        room = _KEPT_AS_ROWS * spools.limit if room is None else room
        self._most_as_rows = room // (self._column_bytes * width)
        self.load(np.empty(0, dtype=np.int64))

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

    def load(self, rows: Integers) -> None:
        """Keep these rows, which ascend, until others are loaded; to take them together is faster."""
        self._loaded = np.empty(0, dtype=np.int64)
        self._loaded, self._loaded_rows = rows, self.take(rows)

    def take(self, rows: Integers) -> Rows:
        """Return rows by their numbers, which must ascend."""
        if len(self._loaded):
            places = np.searchsorted(self._loaded, rows)
            if (self._loaded.take(places, mode="clip") == rows).all():
                return self._loaded_rows[places]
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


_CONTENT_BYTES = 16


class Encoded(NamedTuple):
    """Texts one after the other, and where each ends."""

    data: bytes
    ends: Integers

    def contents(self) -> Codes:
        """Return the first 128 bits of the SHA-256 of each text, as two words."""
        found = by_kernels(lambda kernels: cast("Codes", kernels.contents(self.data, self.ends)))
        if found is not None:
            return found
        texts = (memoryview(self.data)[start:end] for start, end in pairwise([0, *self.ends.tolist()]))
        digests = b"".join(sha256(text).digest()[:_CONTENT_BYTES] for text in texts)
        return np.frombuffer(digests, dtype="<u8").reshape(-1, 2)


def encoded(texts: Sequence[str]) -> Encoded:
    """Encode texts."""
    made = by_kernels(lambda kernels: Encoded(*kernels.utf8_of(list(texts))))
    if made is not None:
        return made
    # Half of a surrogate pair may be in an id; texts that have one are refused when they are fingerprinted.
    each = [text.encode("utf-8", "surrogatepass") for text in texts]
    return Encoded(b"".join(each), np.cumsum([len(data) for data in each], dtype=np.int64))


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
        yield from self._between(*self._bounds(np.asarray(rows, dtype=np.int64)))

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
            yield from self._between(starts, ends)

    def _between(self, starts: Integers, ends: Integers) -> Iterator[str]:
        """Yield the texts between these bounds; those that are near one another are read at once."""
        for some in _near_one_another(starts):
            first, last = int(starts[some][0]), int(ends[some][-1])
            data = self._spool.read(first, last - first)
            for start, end in zip(starts[some].tolist(), ends[some].tolist(), strict=True):
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


# Hashes that are looked at more closely, of those that occur again.
_MOST = 1_000


def repeated(ids: Callable[[], Iterable[str]]) -> tuple[int, int] | None:
    """Return the positions of two equal ids, the second as low as can be; None if all are distinct.

    They are asked for twice, if some have equal hashes.
    """
    hashes = np.fromiter(map(hash, ids()), np.int64)
    hashes.sort()
    again = hashes[1:][hashes[1:] == hashes[:-1]]
    # Hashes of different ids may be equal, too, but never this often.
    suspects = set(again[:_MOST].tolist())
    if not suspects:
        return None
    seen: dict[str, int] = {}
    for position, id_ in enumerate(ids()):
        if hash(id_) in suspects and seen.setdefault(id_, position) != position:
            return seen[id_], position
    return None


# Each spool may have this share of the memory of a job.
_SHARE = 32


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

    @classmethod
    def within(cls, memory: int, directory: str | Path | None = None) -> Spools:
        """Return spools that take a part of the memory of a job, which has at most nine of them."""
        return cls(memory // _SHARE, directory)

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

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory and the disk space of all spools, and let other jobs have the kept stages."""
        self.is_closed = True
        self._free()
        self.stages.close()


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

    def write(self, data: bytes | memoryview | npt.NDArray[Any]) -> None:
        """Append ``data``; an array must be contiguous."""
        with self._lock:
            try:
                self._file.seek(self._size)
                self._file.write(data)
            except OSError as error:
                raise self._failed(error) from error
            self._size += memoryview(data).nbytes

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


_MANIFEST, _SPOOL = "stages.json", ".spool"
_DIGEST = b', "digest": "'


class Stages:
    """The stages of a job, none of them kept."""

    is_kept = is_resumed = False

    def note(self, stage: str) -> Any:
        """Return what a stage left, or None if it did not end."""
        return None

    def end(self, stage: str, note: Json) -> None:
        """End a stage, or some part of one, with what it leaves in addition to its files."""

    def file(self, name: str) -> BinaryIO | None:
        """Open the file of a spool as the last stage left it, to append to it; None if nothing is kept."""
        return None

    def remove(self) -> None:
        """Delete what is kept; open files can be read until they are closed."""

    def close(self) -> None:
        """Let other jobs have what is kept."""


class KeptStages(Stages):
    """The stages of a job, kept in a directory that no other job may use until they are closed.

    The job ``is_resumed`` if an earlier run left stages of it.
    """

    is_kept = True

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[str, BinaryIO] = {}
        self._kept: Json = {}
        self._is_closed = False
        try:
            self._made = max(1, sum(not each.exists() for each in (directory, *directory.parents)))
            directory.mkdir(parents=True, exist_ok=True)
            self._claim = Claim(directory)
        except OSError as error:
            raise self._failed(error) from error
        if self._claim.is_refused:
            raise InUseError(f"Another job keeps its stages in {directory}. Wait until it ends, or name another one.")

    def begin(self, of: Json, *, restart: bool = True) -> Json:
        """Go on with the job that ``of`` describes: what it is done with, and with what settings.

        Files of another job are deleted to ``restart``, and the notes of its stages returned; else they are an error.
        """
        try:
            found = self._found()
            if found and found["of"] != of and not restart:
                raise InputError(
                    f"{self._directory} keeps the stages of a job with other documents or options. "
                    "Give the same ones to go on with it; else delete that directory, or name another one."
                )
            self._made = max(self._made, found.get("made", 0))
            if found.get("of") == of:
                self._kept, self.is_resumed = found, bool(found["notes"])
                return {}
            self._clear()
            self._keep({"of": of, "made": self._made, "sizes": {}, "notes": {}})
            return dict(found.get("notes", {}))
        except OSError as error:
            raise self._failed(error) from error

    def note(self, stage: str) -> Any:
        """Return what a stage left, or None if it did not end."""
        return self._kept["notes"].get(stage)

    def file(self, name: str) -> BinaryIO:
        """Open the file of a spool as the last stage left it, to append to it."""
        try:
            path = self._directory / (name + _SPOOL)
            file = self._files[path.name] = path.open("r+b" if path.exists() else "w+b")
            size = self._kept["sizes"].get(path.name, 0)
            if os.fstat(file.fileno()).st_size < size:
                file.close()
                raise self._damaged(path)
            file.truncate(size)
        except OSError as error:
            raise self._failed(error) from error
        return file

    def end(self, stage: str, note: Json) -> None:
        """End a stage, or some part of one, with what it leaves in addition to its files."""
        notes = {**self._kept["notes"], stage: note}
        try:
            self._keep({**self._kept, "notes": notes, "sizes": {**self._kept["sizes"], **self._sizes()}})
        except OSError as error:
            raise self._failed(error) from error

    def remove(self) -> None:
        """Delete what is kept; open files can be read until they are closed."""
        if self._is_closed:  # another job may have the directory
            return
        with suppress(OSError):
            self._clear()
        self.close()

    def close(self) -> None:
        """Let other jobs have the directory; if nothing was kept, it is deleted, and so are those made around it."""
        with suppress(OSError):
            if self._made and self._kept and not self._kept["notes"]:
                self._clear()
            for each in (self._directory, *self._directory.parents)[: self._made]:
                each.rmdir()
        self._made, self._is_closed = 0, True
        self._claim.give_up()

    def _found(self) -> Json:
        """Return what the manifest holds; nothing if there is none."""
        if not self._manifest.exists():
            return {}
        there = self._manifest.read_bytes()
        own = there[: there.rfind(_DIGEST)] + b"}"
        if there != _signed(own):
            raise self._damaged(self._manifest)
        found: Json = parse_json(own)
        return found

    def _keep(self, manifest: Json) -> None:
        durable_files.replace(self._manifest, _signed(json.dumps(manifest).encode()))
        self._kept = manifest

    def _clear(self) -> None:
        for path in (self._manifest, *self._directory.glob("*" + _SPOOL)):
            path.unlink(missing_ok=True)

    @property
    def _manifest(self) -> Path:
        return self._directory / _MANIFEST

    def _sizes(self) -> dict[str, int]:
        """Bring the open files to the disk, and return their sizes."""
        files = {name: file for name, file in self._files.items() if not file.closed}
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())
        return {name: os.fstat(file.fileno()).st_size for name, file in files.items()}

    def _failed(self, error: OSError) -> StorageError:
        if isinstance(error, StorageError):
            return error
        return StorageError(
            f"Stages of this job cannot be kept in {self._directory}: {error.strerror}. "
            "Name a directory with enough room that only this job uses, or do without."
        )

    def _damaged(self, path: Path) -> StorageError:
        return StorageError(
            f"{path} is damaged, or of another program, so no job can resume from it. "
            f"Delete {self._directory} to start over, or name another directory."
        )


def _signed(manifest: bytes) -> bytes:
    """Add the digest of a manifest as its last member."""
    return manifest[:-1] + _DIGEST + sha256(manifest).hexdigest().encode() + b'"}'
