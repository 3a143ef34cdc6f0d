"""Rows, texts and sorted numbers in spools: appended, and read again in turn, by columns, or by their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Codes, Integers, distinct_sorted
from es_simhash._core.native import by_kernels, native
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
