"""The scope of all documents as columns, and the candidates that are in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from hashlib import sha256
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_numbers, spread_chunks
from es_simhash._core.dates import milliseconds_in
from es_simhash._core.json_codec import Json, column_at
from es_simhash.groups.pairs.candidates import (
    PAIRS_AT_ONCE,
    POSITION_BITS,
    POSITION_MASK,
    HotKeys,
    pair_codes,
    positions,
)
from es_simhash.groups.pairs.pair_rows import PairRows
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Columns, Numbers
from es_simhash.scheme.scope import Scope, ScopeValues, milliseconds_of, values_in

Places = npt.NDArray[np.integer[Any]]
_Words32 = npt.NDArray[np.uint32]

_POSITION = np.uint64(POSITION_BITS)
_VALUES_AT_ONCE = 1 << 17
_MARKS = np.uint64(32)
_NO_WORDS: _Words32 = np.empty(0, dtype=np.uint32)


class ScopeColumns:
    """The scope of all documents, which may lie in temporary files.

    It is ``by_pairs`` if documents that are in scope with the same one need not be in scope with each other. With the
    files, it takes 12 bytes a document with a window, 4 where values must agree, and 8 where they must differ.
    """

    def __init__(self, scope: Scope, spools: Spools) -> None:
        self._scope = scope
        self._known: list[npt.NDArray[np.bool_]] = []
        self._within = Columns(spools, 2, np.uint64)
        self._sets: list[_Words32] = []
        self._marks: list[_Words32] = []
        self._across = Columns(spools, 2, np.int64)
        self._values = Columns(spools, 2, np.uint64)
        self._dates = Columns(spools, 1, np.int64)
        self.known = np.empty(0, dtype=np.bool_)
        self.sets: _Words32 | None = None
        self._mark: _Words32 | None = None
        self._salt: _Words32 | None = None
        self._by_date: _ByDate | None = None

    @property
    def by_pairs(self) -> bool:
        """Whether being in scope is more than being in the same class."""
        return self._scope.is_by_pairs

    def add(self, rows: ScopeRows) -> None:
        """Append documents."""
        self._known.append(rows.known)
        if self._scope.within:
            self._within.append(rows.within)
        if self._scope.across:
            starts = len(self._values) + np.cumsum(rows.counts) - rows.counts
            self._across.append(np.stack([starts, rows.counts], axis=1))
            self._values.append(rows.values)
            self._sets.append(rows.sets)
            self._marks.append(_marks(rows))
        if self._scope.window:
            self._dates.append(rows.dates)

    def complete(self) -> None:
        """Finish appending."""
        for columns in (self._within, self._across, self._values):
            columns.settle()
        self.known = np.concatenate([np.empty(0, dtype=np.bool_), *self._known])
        if self._scope.across:
            self.sets, self._mark = (np.concatenate([_NO_WORDS, *each]) for each in (self._sets, self._marks))
        if self._scope.within:
            hashes = (rows[:, 0] >> _POSITION for rows in self._within.columns(range(1)))
            self._salt = np.concatenate([_NO_WORDS, *(each.astype(np.uint32) for each in hashes)])
        if self._scope.window:
            dates = np.concatenate(
                [np.empty(0, dtype=np.int64), *(rows[:, 0] for rows in self._dates.columns(range(1)))]
            )
            self._by_date = _ByDate.of(dates, self._scope.milliseconds)
        self._known.clear()
        self._sets.clear()
        self._marks.clear()

    # ---- the words that are sorted

    def mixed(self, entries: Numbers, first: int, kept: npt.NDArray[np.bool_]) -> Numbers:
        """Mix into entries what must agree, and put the rank by date into the place of the position.

        Then only documents that agree are neighbours, in the order of their dates. The entries are those of the
        documents ``kept`` from position ``first`` on.
        """
        here = slice(first, first + len(kept))
        if self._salt is not None:
            entries = entries ^ self._salt[here][kept].astype(np.uint64) << _POSITION
        return entries if self._by_date is None else entries & ~POSITION_MASK | self._by_date.ranks[here][kept]

    def documents(self, ranks: Numbers) -> Integers:
        """Return the positions of documents by their ranks."""
        return ranks.astype(np.int64) if self._by_date is None else self._by_date.order[ranks].astype(np.int64)

    def reach(self, words: Numbers, starts: Integers) -> Integers:
        """Return for each of sorted words the place of the first with its key, and in its window.

        ``starts`` are the places of the first ones with their keys.
        """
        if self._by_date is None:
            return starts
        lowest = words & ~POSITION_MASK | self._by_date.lowest[words & POSITION_MASK]
        return np.searchsorted(words, lowest)

    # ---- documents

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields of the scope."""
        return self._scope.paths

    def has(self, position: int, document: Json) -> bool:
        """Return whether the scope of a document is as it was when it was read."""
        rows, at = ScopeRows.of([self._scope.values_of(document)]), np.array([position])
        if not rows.known[0] or not self.known[position]:
            return bool(rows.known[0] == self.known[position])
        if self._scope.within and not np.array_equal(self._within.take(at), rows.within):
            return False
        if self._scope.window and self._dates.take(at)[0, 0] != rows.dates[0]:
            return False
        return self.sets is None or bool(self.sets[position] == rows.sets[0])

    def mixed_groups(self, firsts: Integers, members: Integers) -> Integers:
        """Return the groups, by their first members, in which not all members agree, or some lack a value.

        A value may have changed since groups were written.
        """
        apart = ~(self.known[firsts] & self.known[members])
        if (agree := self.agree(PairRows(pair_codes(firsts, members)))) is not None:
            apart |= ~agree
        return distinct_numbers(firsts[apart])

    # ---- pairs

    def agree(self, rows: PairRows) -> npt.NDArray[np.bool_] | None:
        """Return which pairs have the values that must agree; None if none must."""
        return rows.are_equal(self._within) if self._scope.within else None

    def differ(self, codes: Numbers) -> Numbers:
        """Return those of the pairs that share no value which must differ."""
        return codes[~self._share(codes)] if self._scope.across else codes

    def are_in_scope(self, first: Places, second: Places) -> npt.NDArray[np.bool_]:
        """Return which documents may be near-duplicates."""
        codes = pair_codes(first, second)
        found: npt.NDArray[np.bool_] = self.known[first] & self.known[second]
        agree = self.agree(PairRows(codes))
        if agree is not None:
            found &= agree
        if self._scope.across:
            found &= ~self._share(codes)
        return found if self._by_date is None else found & self._by_date.are_near(first, second)

    def _share(self, codes: Numbers) -> npt.NDArray[np.bool_]:
        """Return which pairs share a value that must differ."""
        assert self._mark is not None
        first, second = positions(codes)
        # As in a Bloom filter: documents without a common mark have no common value.
        found: npt.NDArray[np.bool_] = (self._mark[first] & self._mark[second]) != 0
        found[found] = self._share_one(codes[found])
        return found

    def _share_one(self, codes: Numbers) -> npt.NDArray[np.bool_]:
        """Compare the values of pairs, each with each."""
        one, other = PairRows(codes).of(self._across)
        found = np.zeros(len(codes), dtype=np.bool_)
        for which, place in spread_chunks(one[:, 1] * other[:, 1], _VALUES_AT_ONCE):
            own = self._values.at(one[which, 0] + place // other[which, 1])
            found[which[(own == self._values.at(other[which, 0] + place % other[which, 1])).all(axis=1)]] = True
        return found


def _marks(rows: ScopeRows) -> _Words32:
    """Mark one of 32 bits for each value of a document, by its hash."""
    marks = np.zeros(len(rows.counts), dtype=np.uint32)
    bits = np.uint32(1) << (rows.values[:, 0] % _MARKS).astype(np.uint32)
    np.bitwise_or.at(marks, np.repeat(np.arange(len(marks)), rows.counts), bits)
    return marks


@dataclass(frozen=True, eq=False)
class _ByDate:
    """Documents in the ``order`` of their dates, the ``ranks`` of all in it, and the ``lowest`` rank in each window."""

    order: npt.NDArray[np.uint32]
    ranks: npt.NDArray[np.uint32]
    lowest: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, dates: Integers, window: int) -> _ByDate:
        order = np.argsort(dates, kind="stable").astype(np.uint32)
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order), dtype=np.uint32)
        ordered = dates[order]
        return cls(order, ranks, np.searchsorted(ordered, ordered - window).astype(np.uint32))

    def are_near(self, first: Places, second: Places) -> npt.NDArray[np.bool_]:
        one, other = self.ranks[first], self.ranks[second]
        near: npt.NDArray[np.bool_] = self.lowest[np.maximum(one, other)] <= np.minimum(one, other)
        return near


# Values of other documents are hashed once as well, if there are not too many.
_REMEMBERED = 1 << 16
_KINDS_REMEMBERED = 64
_HASH_BYTES = 16
_NOTHING = bytes(_HASH_BYTES)

# The hash of all values that must differ, and those of each of them.
_Differing: TypeAlias = tuple[bytes, tuple[bytes, ...]]


@dataclass(frozen=True, eq=False)
class ScopeRows:
    """The scope of some documents, a row each.

    ``known`` marks those that have all values. ``within`` identifies the values that must agree, and ``sets`` all those
    that must differ, which are ``counts`` of the ``values``. ``dates`` are milliseconds.
    """

    known: npt.NDArray[np.bool_]
    within: Numbers
    sets: npt.NDArray[np.uint32]
    counts: Integers
    values: Numbers
    dates: Integers

    @classmethod
    def of(cls, found: Sequence[ScopeValues | None]) -> ScopeRows:
        """Hash the values of documents; None stands for a document that lacks one."""
        across = [_differing(each.across) if each else (_NOTHING, ()) for each in found]
        return cls(
            np.array([each is not None for each in found], dtype=np.bool_),
            _words(_agreeing(each.within) if each else _NOTHING for each in found),
            _words(whole for whole, _ in across)[:, 0].astype(np.uint32),
            np.array([len(values) for _, values in across], dtype=np.int64),
            _words(chain.from_iterable(values for _, values in across)),
            np.array([(each and each.date) or 0 for each in found], dtype=np.int64),
        )

    @classmethod
    def read(cls, scope: Scope, documents: Sequence[Mapping[str, Any]]) -> ScopeRows:
        """Read the values of documents, field by field if each has at most one plain value in each, as most do."""
        columns = {path: _Column.plain(column_at(documents, path)) for path in scope.paths}
        plain = {path: column for path, column in columns.items() if column}
        if len(plain) < len(columns):
            return cls.of([scope.values_of(document) for document in documents])
        count, within, across = (
            len(documents),
            *([plain[path] for path in some] for some in (scope.within, scope.across)),
        )
        agreeing, whole = _hashed(_agreeing_plain, within, count), _hashed(_differing_plain, across, count)
        known = np.logical_and(agreeing.any(axis=1), whole.any(axis=1))
        dates = np.zeros(count, dtype=np.int64)
        if scope.date is not None:
            dates, are_dates = _dates(plain[scope.date].values)
            known &= are_dates
        each = [_hashed(_one_differing(number), [column], count) for number, column in enumerate(across)]
        values = np.stack(each, axis=1)[known] if each else np.empty((0, 2), dtype=np.uint64)
        counts = np.where(known, len(across), 0)
        return cls(known, agreeing, whole[:, 0].astype(np.uint32), counts, values.reshape(-1, 2), dates)

    @classmethod
    def concatenated(cls, parts: Sequence[ScopeRows]) -> ScopeRows:
        """Concatenate rows."""
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))


@dataclass(frozen=True, eq=False)
class _Column:
    """The values of documents in a field: texts, None, and perhaps ``numbers`` of one type."""

    values: Sequence[Any]
    numbers: type | None

    @classmethod
    def plain(cls, values: Sequence[Any] | None) -> _Column | None:
        """Return a column; None for values of several types but texts: 1, 1.0 and True are equal, but not as texts."""
        kinds = set(map(type, values)) - {str, type(None)} if values is not None else {object}
        if values is None or len(kinds) > 1 or not kinds <= {int, float, bool}:
            return None
        return cls(values, next(iter(kinds), None))


class _Hashes(dict[Any, bytes]):
    """Hashes of values, each made when it is first asked for, and remembered if there are not too many."""

    def __init__(self, hash: Callable[..., bytes]) -> None:
        super().__init__()
        self._hash = hash

    def __missing__(self, value: Any) -> bytes:
        if len(self) >= _REMEMBERED:
            self.clear()
        made = self[value] = self._hash(*value) if type(value) is tuple else self._hash(value)
        return made


@lru_cache(_KINDS_REMEMBERED)
def _hashes(hash: Callable[..., bytes], kinds: tuple[type | None, ...]) -> _Hashes:
    """Return the hashes of values of these kinds: those of others may be equal, as 1 and True are."""
    return _Hashes(hash)


def _hashed(hash: Callable[..., bytes], columns: Sequence[_Column], count: int) -> Numbers:
    """Hash the values of each document."""
    if not columns:
        return np.repeat(_words([hash()]), count, axis=0)
    hashes = _hashes(hash, tuple(each.numbers for each in columns))
    values = columns[0].values if len(columns) == 1 else zip(*(each.values for each in columns), strict=True)
    return _words(map(hashes.__getitem__, values))


def _agreeing_plain(*row: Any) -> bytes:
    """Hash the values of a document that has one in each field; nothing if it lacks one."""
    each = list(map(_texts, row))
    return _agreeing(tuple(map(tuple, each))) if all(each) else _NOTHING


def _differing_plain(*row: Any) -> bytes:
    each = list(map(_texts, row))
    return _differing(tuple(each))[0] if all(each) else _NOTHING


@cache
def _one_differing(number: int) -> Callable[[Any], bytes]:
    """Return what hashes the one value of a field as `_differing` does."""
    return lambda value: _hash((number, *_texts(value))) if _texts(value) else _NOTHING


def _texts(value: Any) -> frozenset[str]:
    return values_in({"value": value}, "value")


def _dates(values: Sequence[Any]) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Return the milliseconds of dates, and which of the values are some."""
    known = np.ones(len(values), dtype=np.bool_)
    if (alike := milliseconds_in(values)) is not None:
        return alike, known
    given = [value for value in values if value is not None]
    known[[place for place, value in enumerate(values) if value is None]] = False
    dates = milliseconds_in(given)
    if dates is None:
        each = list(map(milliseconds_of, given))
        known[known] = [date is not None for date in each]
        dates = np.array([date for date in each if date is not None], dtype=np.int64)
    found = np.zeros(len(values), dtype=np.int64)
    found[known] = dates
    return found, known


@lru_cache(_REMEMBERED)
def _agreeing(values: tuple[tuple[str, ...], ...]) -> bytes:
    """Hash what must agree."""
    return _hash(values)


@lru_cache(_REMEMBERED)
def _differing(values: tuple[frozenset[str], ...]) -> _Differing:
    """Hash all that must differ, and each value of it together with the number of its field.

    So two documents differ in all fields if they share no hash.
    """
    named = [(number, value) for number, each in enumerate(values) for value in sorted(each)]
    return _hash(named), tuple(map(_hash, named))


def _hash(value: Any) -> bytes:
    return sha256(json.dumps(value).encode()).digest()[:_HASH_BYTES]


def _words(hashes: Iterable[bytes]) -> Numbers:
    return np.frombuffer(b"".join(hashes), dtype="<u8").reshape(-1, 2).astype(np.uint64)


class ScopedLinker:
    """A `Linker` for documents of a scope, which gives those pairs that are in their windows, and differ."""

    def __init__(
        self, scopes: ScopeColumns, all: int, few: int, most: int | None = None, hot: HotKeys | None = None
    ) -> None:
        self._scopes = scopes
        self._limits = all, few, most
        self._hot = hot or HotKeys()
        self.left_out = self.cut_off = 0

    def pairs(self, pieces: Iterable[Numbers], table: int = 0) -> Iterator[Numbers]:
        """Yield the pairs, as numbers, of sorted and mixed entries of a table; the pieces have all that share a key."""
        for piece in pieces:
            words = piece[_share_key(piece >> _POSITION)]
            keys, documents = words >> _POSITION, self._scopes.documents(words & POSITION_MASK)
            starts = runs(keys)
            self._look_for_hot_keys(table, starts, documents)
            reach = self._scopes.reach(words, starts)
            sets = None if self._scopes.sets is None else self._scopes.sets[documents]
            found = links(keys, reach, sets, *self._limits)
            self.left_out += found.left_out
            self.cut_off += found.cut_off
            for one, other in found.pairs(PAIRS_AT_ONCE):
                first, second = documents[one], documents[other]
                yield self._scopes.differ(pair_codes(np.minimum(first, second), np.maximum(first, second)))

    def _look_for_hot_keys(self, table: int, starts: Integers, documents: Integers) -> None:
        places = np.flatnonzero(starts == np.arange(len(starts)))
        sizes = np.diff(places, append=len(starts))
        self._hot.add(table, sizes, documents[places + sizes - 1].astype(np.uint64))


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
    is_first = np.ones(len(columns[0]), dtype=np.bool_)
    is_first[1:] = np.logical_or.reduce([each[1:] != each[:-1] for each in columns])
    return np.maximum.accumulate(np.where(is_first, np.arange(len(is_first)), 0))


def _share_key(keys: Numbers) -> npt.NDArray[np.bool_]:
    """Return which of sorted keys are there several times."""
    same = np.zeros(len(keys) + 1, dtype=np.bool_)
    np.equal(keys[1:], keys[:-1], out=same[1:-1])
    return same[1:] | same[:-1]
