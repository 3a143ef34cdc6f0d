"""An index of documents in memory by their keys: which documents share how many.

Each document has a row of numbers, as many as the others. Two documents share a key where they have the same number in
the same column.

The last few rows are compared with one by one. The others lie in tables, in which a key is looked up by its hash. A
table is at least four times as large as the next one, so there are few, and each row moves seldom. A row of 36 keys of
32 bits takes 300 bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, spread

Keys = npt.NDArray[np.unsignedinteger[Any]]
"""A row of keys a document, of 32 or 64 bits."""

# Rows that are not worth a table, and how many keys are compared at once.
_RECENT, _CELLS = 512, 1 << 20
# How much larger a table is than the next, up to a size that is not sorted again; and entries that are read at once.
_TIMES, _LARGE, _ENTRIES = 4, 200_000, 1 << 22
# An odd number with which products spread over all bits, of 32 as of 64.
_FACTOR = 0x9E3779B19E3779B1


class Shared(NamedTuple):
    """Pairs of a row that is asked about and the place of a document, in order: ``counts`` of their keys are shared."""

    rows: Integers
    places: Integers
    counts: Integers


class KeyIndex:
    """Documents with as many ``columns`` of keys, at places that are counted from 0 and never given again."""

    def __init__(self, columns: int, dtype: npt.DTypeLike = np.uint64) -> None:
        self._none = _Recent(np.empty((0, columns), dtype), np.empty(0, np.int64))
        self._recent = self._none
        self._tables: list[_Table] = []
        self._next = 0

    def __len__(self) -> int:
        """Return the number of documents."""
        return sum(map(len, self._parts))

    def add(self, keys: Keys) -> range:
        """Add documents; return their places."""
        added = range(self._next, self._next + len(keys))
        self._next = added.stop
        self._recent = self._recent.joined(keys, np.arange(added.start, added.stop))
        if len(self._recent) > _RECENT:
            recent, self._recent = self._recent, self._none
            self._put(_Table(recent.keys, recent.places))
        return added

    def remove(self, places: Collection[int]) -> None:
        """Remove the documents at these places, as far as there are some."""
        gone = np.fromiter(places, np.int64, len(places))
        for part in self._parts:
            part.remove(gone)
        if len(self._recent) < len(self._recent.places):
            self._recent = _Recent(*self._recent.kept)
        sparse = [table for table in self._tables if 2 * len(table) <= len(table.places)]
        self._tables = [table for table in self._tables if table not in sparse]
        for table in sparse:
            if len(table):
                self._put(_Table(*table.kept))

    def sharing(self, keys: Keys, least: int = 1) -> Shared:
        """Return which documents share at least this many keys with each row."""
        found = [part.sharing(keys, least) for part in self._parts]
        if len(found) == 1:
            return found[0]
        rows, places, counts = _joined(found)
        order = np.lexsort((places, rows))
        return Shared(rows[order], places[order], counts[order])

    def keys_at(self, places: Integers) -> Keys:
        """Return the keys of the documents at these places."""
        found = np.zeros((len(places), self._none.keys.shape[1]), self._none.keys.dtype)
        for part in self._parts:
            which, rows = part.find(places)
            found[which] = part.keys[rows]
        return found

    @property
    def _parts(self) -> list[_Rows]:
        return [part for part in (*self._tables, self._recent) if len(part.places)]

    def _put(self, table: _Table) -> None:
        """Add a table, joined with those that are not much larger."""
        self._tables.append(table)
        self._tables.sort(key=lambda each: -len(each.places))
        while len(self._tables) > 1 and len(self._tables[-2]) < min(_TIMES * len(self._tables[-1]), _LARGE):
            last, other = self._tables.pop(), self._tables.pop()
            self._tables.append(_Table(*other.with_rows(*last.kept)))


class _Rows:
    """The rows of documents at ascending places; some may be removed."""

    def __init__(self, keys: Keys, places: Integers) -> None:
        self.keys = keys
        self.places = places
        self._are_kept = np.ones(len(places), np.bool_)
        self._count = len(places)

    def __len__(self) -> int:
        return self._count

    @property
    def kept(self) -> tuple[Keys, Integers]:
        """The rows that are not removed, and their places."""
        return self.keys[self._are_kept], self.places[self._are_kept]

    def with_rows(self, keys: Keys, places: Integers) -> tuple[Keys, Integers]:
        """Return the kept rows and more, with their places."""
        own, own_places = self.kept
        both = np.concatenate([own_places, places])
        order = np.argsort(both, kind="stable")
        return np.concatenate([own, keys])[order], both[order]

    def find(self, places: Integers) -> tuple[Integers, Integers]:
        """Return which of some places are here, and in which rows."""
        rows = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        which = np.flatnonzero(self.places[rows] == places)
        return which, rows[which]

    def remove(self, places: Integers) -> None:
        """Remove the documents at these places."""
        self._are_kept[self.find(places)[1]] = False
        self._count = int(np.count_nonzero(self._are_kept))

    def sharing(self, keys: Keys, least: int) -> Shared:
        """Return the pairs of rows that share at least this many keys."""
        raise NotImplementedError

    def _shared(self, rows: Integers, own: Integers, counts: Integers) -> Shared:
        if self._count == len(self.places):
            return Shared(rows, self.places[own], counts)
        kept = self._are_kept[own]
        return Shared(rows[kept], self.places[own[kept]], counts[kept])


class _Recent(_Rows):
    """A few rows, which lie column by column."""

    def joined(self, keys: Keys, places: Integers) -> _Recent:
        """Return these rows and more, at later places."""
        columns = np.concatenate([self.keys.T, keys.T], axis=1)
        return _Recent(columns.T, np.concatenate([self.places, places]))

    def sharing(self, keys: Keys, least: int) -> Shared:
        """Compare each row with each."""
        narrow = np.min_scalar_type(keys.shape[1])
        at_once = max(1, _CELLS // self.keys.size)
        found = []
        for start in range(0, len(keys), at_once):
            equal = self.keys.T[:, np.newaxis] == keys[start : start + at_once].T[:, :, np.newaxis]
            counts = np.add.reduce(equal.view(np.uint8), axis=0, dtype=narrow)
            rows, own = np.nonzero(counts >= least)
            found.append(Shared(rows + start, own, counts[rows, own].astype(np.int64)))
        return self._shared(*(found[0] if len(found) == 1 else _joined(found)))


class _Table(_Rows):
    """Rows whose keys are looked up: ``places`` of each column in the order of the parts of its hashes."""

    def __init__(self, keys: Keys, places: Integers) -> None:
        super().__init__(np.ascontiguousarray(keys), places)
        columns, bits = keys.shape[1], max(1, len(keys).bit_length() - 1)
        self._shift = keys.dtype.type(8 * keys.itemsize - bits)
        self._rows = np.empty((columns, len(keys)), dtype=np.uint32)
        self._starts = np.zeros((columns, (1 << bits) + 1), dtype=np.uint32)
        for column in range(columns):
            parts = self._parts_of(keys[:, column])
            self._rows[column] = np.argsort(parts, kind="stable")
            self._starts[column, 1:] = np.cumsum(np.bincount(parts, minlength=1 << bits))

    def sharing(self, keys: Keys, least: int) -> Shared:
        """Look each key up."""
        columns = np.broadcast_to(np.arange(keys.shape[1]), keys.shape).ravel()
        flat = keys.ravel()
        parts = self._parts_of(flat)
        starts = self._starts[columns, parts].astype(np.int64)
        counts = self._starts[columns, parts + 1] - starts
        if len(keys) > 1 and counts.sum() > _ENTRIES:
            half = len(keys) // 2
            first, second = self.sharing(keys[:half], least), self.sharing(keys[half:], least)
            return _joined([first, second._replace(rows=second.rows + half)])
        which, within = spread(counts)
        own = self._rows[columns[which], starts[which] + within]
        equal = self.keys[own, columns[which]] == flat[which]
        pairs = np.sort(which[equal] // keys.shape[1] * len(self.keys) + own[equal])
        # A pair comes once for each shared key; this is faster than `numpy.unique`, which hashes first.
        often = pairs[least - 1 :][pairs[least - 1 :] == pairs[: max(0, len(pairs) - least + 1)]]
        often = often[np.diff(often, prepend=-1) != 0]
        shared = np.searchsorted(pairs, often, side="right") - np.searchsorted(pairs, often)
        rows, own = np.divmod(often, len(self.keys))
        return self._shared(rows, own, shared)

    def _parts_of(self, keys: Keys) -> Integers:
        # The numbers of texts of one topic agree more often than others, so parts are by a hash of all bits.
        factor = keys.dtype.type(_FACTOR & (2 ** (8 * keys.itemsize) - 1))
        return ((keys * factor) >> self._shift).astype(np.int64)


def _joined(found: Sequence[Shared]) -> Shared:
    nothing = np.empty(0, np.int64)
    rows, places, counts = map(np.concatenate, zip((nothing, nothing, nothing), *found, strict=True))
    return Shared(rows, places, counts)
