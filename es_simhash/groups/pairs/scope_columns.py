"""The scope of all documents: what must agree as a hash, what must differ as a set of hashes, and ranks by date.

Hashes are the first 128 bits of a SHA-256, as those of texts. So two different values out of a billion collide with a
probability of 10**-21.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from itertools import chain, repeat
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_numbers, spread_chunks
from es_simhash._core.json_paths import Json
from es_simhash.groups.pairs.candidates import POSITION_MASK, pair_codes
from es_simhash.groups.pairs.pair_rows import PairRows
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.groups.pairs.spool import Columns, Spools
from es_simhash.scheme.scope import Scope, ScopeValues, milliseconds_of

Places = npt.NDArray[np.integer[Any]]

# Values of other documents are hashed once as well, if there are not too many.
_REMEMBERED = 1 << 16
_HASH_BYTES = 16
_VALUES_AT_ONCE = 1 << 17

_Row = TypeVar("_Row")
# The hash of all values that must differ, and those of each of them.
_Differing: TypeAlias = tuple[bytes, tuple[bytes, ...]]
_NONE: _Differing = (bytes(_HASH_BYTES), ())


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
        within = [_agreeing(each.within) if each else None for each in found]
        across = [_differing(each.across) if each else None for each in found]
        return cls._of(within, across, [each.date or 0 if each else None for each in found])

    @classmethod
    def read(cls, scope: Scope, documents: Sequence[Mapping[str, Any]]) -> ScopeRows:
        """Read the values of documents; where all are plain strings, as most are, this takes a tenth of the time."""
        within, across, moments = (
            [[document.get(path) for document in documents] for path in paths]
            for paths in (scope.within, scope.across, [scope.date] if scope.date else [])
        )
        is_plain = _are(within, str) and _are(across, str) and _are(moments, str, int, float)
        if not is_plain or any("." in path for path in scope.paths):
            return cls.of([scope.values_of(document) for document in documents])
        count = len(documents)
        dates: list[int | None] = list(map(milliseconds_of, moments[0])) if moments else [0] * count
        return cls._of(_by_row(_one_agreeing, within, count), _by_row(_one_differing, across, count), dates)

    @classmethod
    def _of(
        cls, within: Sequence[bytes | None], across: Sequence[_Differing | None], dates: Sequence[int | None]
    ) -> ScopeRows:
        rows = zip(within, across, dates, strict=True)
        sets, values = zip(*(each or _NONE for each in across), strict=True) if across else ((), ())
        return cls(
            np.array([None not in row for row in rows], dtype=np.bool_),
            _words([each or bytes(_HASH_BYTES) for each in within]),
            _words(sets)[:, 0].astype(np.uint32),
            np.array(list(map(len, values)), dtype=np.int64),
            _words(list(chain.from_iterable(values))),
            np.array([each or 0 for each in dates], dtype=np.int64),
        )

    @classmethod
    def concatenated(cls, parts: Sequence[ScopeRows]) -> ScopeRows:
        """Concatenate rows."""
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))


def _are(columns: Sequence[Sequence[Any]], *kinds: type) -> bool:
    """Return whether all values are of these types, or missing."""
    return all(set(map(type, values)) <= {*kinds, type(None)} for values in columns)


def _by_row(
    hashes: Callable[[tuple[str, ...]], _Row], columns: Sequence[Sequence[Any]], count: int
) -> list[_Row | None]:
    """Hash the values of each document, but not of one that lacks some."""
    rows = zip(*columns, strict=True) if columns else repeat((), count)
    return [None if None in row else hashes(row) for row in rows]


@lru_cache(_REMEMBERED)
def _one_agreeing(values: tuple[str, ...]) -> bytes:
    """Hash the values of a document that has one in each field."""
    return _agreeing(tuple((value,) for value in values))


@lru_cache(_REMEMBERED)
def _one_differing(values: tuple[str, ...]) -> _Differing:
    return _differing(tuple(frozenset([value]) for value in values))


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


def _words(hashes: Sequence[bytes]) -> Numbers:
    return np.frombuffer(b"".join(hashes), dtype="<u8").reshape(-1, 2).astype(np.uint64)


class ScopeColumns:
    """The scope of all documents, which may lie in temporary files.

    It is ``by_pairs`` if documents that are in scope with the same one need not be in scope with each other. Beside the
    files, it takes 12 bytes a document with a window, and 4 where values must differ.
    """

    def __init__(self, scope: Scope, spools: Spools) -> None:
        self._scope = scope
        self._known: list[npt.NDArray[np.bool_]] = []
        self._within = Columns(spools, 2, np.uint64)
        self._sets: list[npt.NDArray[np.uint32]] = []
        self._across = Columns(spools, 2, np.int64)
        self._values = Columns(spools, 2, np.uint64)
        self._dates = Columns(spools, 1, np.int64)
        self.known = np.empty(0, dtype=np.bool_)
        self.sets: npt.NDArray[np.uint32] | None = None
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
        if self._scope.window:
            self._dates.append(rows.dates)

    def complete(self) -> None:
        """Finish appending."""
        self.known = np.concatenate([np.empty(0, dtype=np.bool_), *self._known])
        if self._scope.across:
            self.sets = np.concatenate([np.empty(0, dtype=np.uint32), *self._sets])
        if self._scope.window:
            dates = np.concatenate([np.empty(0, dtype=np.int64), *(rows[:, 0] for rows in self._dates.columns(0, 1))])
            self._by_date = _ByDate.of(dates, self._scope.milliseconds)
        self._known.clear()
        self._sets.clear()

    # ---- the words that are sorted

    def mixed(self, entries: Iterator[Numbers]) -> Iterator[Numbers]:
        """Mix into entries what must agree, and put the rank by date into the place of the position.

        Then only documents that agree are neighbours, in the order of their dates. The entries come in the same parts
        as the rows of columns.
        """
        first = 0
        tenants = self._within.columns(0, 1) if self._scope.within else None
        for words in entries:
            places, mixed = (words & POSITION_MASK).astype(np.int64), words
            if tenants is not None:
                own = next(tenants)[:, 0]
                mixed = mixed ^ own[places - first] & ~POSITION_MASK
                first += len(own)
            yield mixed if self._by_date is None else mixed & ~POSITION_MASK | self._by_date.ranks[places]

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
        if not self._scope.within:
            return None
        first, second = rows.of(self._within)
        found: npt.NDArray[np.bool_] = (first == second).all(axis=1)
        return found

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
        one, other = PairRows(codes).of(self._across)
        found = np.zeros(len(codes), dtype=np.bool_)
        for which, place in spread_chunks(one[:, 1] * other[:, 1], _VALUES_AT_ONCE):
            own = self._values.at(one[which, 0] + place // other[which, 1])
            found[which[(own == self._values.at(other[which, 0] + place % other[which, 1])).all(axis=1)]] = True
        return found


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
