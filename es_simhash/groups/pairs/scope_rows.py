"""The scope of some documents as rows: what must agree as a hash, what must differ as a set of hashes, and dates.

Hashes are the first 128 bits of a SHA-256, as those of texts. So two different values out of a billion collide with a
probability of 10**-21.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from hashlib import sha256
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.date_columns import milliseconds_in
from es_simhash._core.json_paths import column_at
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.scheme.scope import Scope, ScopeValues, milliseconds_of, values_in

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
