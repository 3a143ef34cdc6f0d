"""Scopes: which pairs of documents may be near-duplicates at all, by the values of fields and by dates.

Two documents are in scope if the sets of their values are equal in each field of ``within``, disjoint in each field of
``across``, and if their dates are at most ``window`` apart. Unknown values are out of scope: a document without a value
in one of these fields, or whose date cannot be read, is in no pair.

Values are compared as texts, by one law in every command:

- A string is itself: "7", "7.0" and "07" are three values.
- A number is its value, however it is written, and if by a fraction or an exponent, the nearest double. 7, 7.0, 70e-1
  and the string "7" are one value, and so are 0 and -0.0, or 1e20 and 100000000000000000000.
- true and false are the strings "true" and "false".
- null, and an array of nulls, is not a value; an object, or a number too large to be read, makes the field unknown.

An index holds values in other ways: a keyword field as they were written, a double rounded. So what a server is asked
(`plans.scope_filters`) lets through too much rather than too little, and the comparison here decides.

The fields of ``within`` divide documents into classes. ``across`` and ``window`` do not: of three documents, the first
and the last may be in scope with the second, and not with each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from math import isfinite
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from es_simhash._core.dates import timestamp
from es_simhash._core.json_codec import Json, values_at
from es_simhash.errors import InputError

_DURATION = re.compile(r"([0-9]{1,15})(ms|[smhd])")
# From the longest on, so that a window is written with the shortest number.
_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
# Python reads and writes whole numbers up to this length, and those up to this number of bits, everywhere.
_LONGEST_NUMBER = 4300
_MOST_BITS = 14_280
# In seconds: then differences of milliseconds fit 64 bits.
_FARTHEST = 1e15


class ScopeValues(NamedTuple):
    """The values of one document: sorted texts for each field of ``within``, sets for ``across``, its milliseconds.

    ``within`` is hashable, so that documents can be divided by it.
    """

    within: tuple[tuple[str, ...], ...]
    across: tuple[frozenset[str], ...]
    date: int | None


@dataclass(frozen=True)
class Scope:
    """Which pairs of documents count: ``within`` equal fields, ``across`` unequal ones, in a ``window`` of a ``date``.

    Fields are dotted paths; see `Scope.of` for other forms of the arguments.

    >>> Scope(within=("tenant",)).paths
    ('tenant',)
    """

    within: tuple[str, ...] = ()
    across: tuple[str, ...] = ()
    window: timedelta | None = None
    date: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "within", _checked_paths(self.within))
        object.__setattr__(self, "across", _checked_paths(self.across))
        if both := sorted(set(self.within) & set(self.across)):
            raise InputError(f"No two documents can agree and differ in {', '.join(both)}. Name it once.")
        if (self.window is None) != (self.date is None):
            raise InputError(
                "A window of time needs the field of the dates, and a field of dates the window. Give both."
            )
        if self.date is not None:
            _checked_paths([self.date])
            _check_window(self.window)
        if not self.paths:
            raise InputError("A scope needs a field. Name one that documents must agree or differ in, or leave it out.")

    @classmethod
    def of(
        cls,
        within: str | Iterable[str] = (),
        across: str | Iterable[str] = (),
        window: timedelta | str | None = None,
        date: str | None = None,
    ) -> Scope | None:
        """Return the scope of one or more fields and a window such as ``"72h"``; None if none of these is given.

        >>> str(Scope.of(within="tenant", window="72h", date="published"))
        'within tenant; 3d of published'
        """
        same, other = (_checked_paths([each] if isinstance(each, str) else each) for each in (within, across))
        if not (same or other or window or date):
            return None
        return cls(same, other, duration(window) if isinstance(window, str) else window, date)

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields to read of documents."""
        return tuple(dict.fromkeys((*self.within, *self.across, *([] if self.date is None else [self.date]))))

    @property
    def is_by_pairs(self) -> bool:
        """Whether being in scope is more than being in the same class: documents must differ, or be near in time."""
        return bool(self.across or self.window)

    def values_of(self, document: Mapping[str, Any]) -> ScopeValues | None:
        """Read the values of a document; None if one is missing or cannot be read.

        >>> Scope(within=("tenant",)).values_of({"tenant": 7}).within
        (('7',),)
        """
        within = [values_in(document, path) for path in self.within]
        across = [values_in(document, path) for path in self.across]
        date = None if self.date is None else moment_in(document, self.date)
        if not all(within) or not all(across) or (self.date is not None and date is None):
            return None
        return ScopeValues(tuple(tuple(sorted(values)) for values in within), tuple(across), date)

    def missing(self, document: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the fields that keep a document out of all pairs.

        >>> Scope(within=("tenant",)).missing({"title": "Storm"})
        ('tenant',)
        """
        unknown = [path for path in (*self.within, *self.across) if not values_in(document, path)]
        if self.date is not None and moment_in(document, self.date) is None:
            unknown.append(self.date)
        return tuple(dict.fromkeys(unknown))

    def in_scope(self, one: ScopeValues | None, other: ScopeValues | None) -> bool:
        """Return whether two documents, given by their values, may be near-duplicates.

        >>> scope = Scope(within=("tenant",))
        >>> scope.in_scope(scope.values_of({"tenant": 7}), scope.values_of({"tenant": 8}))
        False
        """
        if one is None or other is None or one.within != other.within:
            return False
        if not all(map(frozenset.isdisjoint, one.across, other.across)):
            return False
        return one.date is None or other.date is None or abs(one.date - other.date) <= self.milliseconds

    @property
    def milliseconds(self) -> int:
        """The length of the window; 0 without one."""
        return 0 if self.window is None else self.window // timedelta(milliseconds=1)

    def narrowed(self, other: Scope | None) -> Scope:
        """Return the scope of the pairs that are in this one and in another.

        >>> str(Scope(within=("tenant",)).narrowed(Scope(across=("site",))))
        'within tenant; across site'
        """
        if other is None:
            return self
        if self.date is not None and other.date is not None and self.date != other.date:
            raise InputError(
                f"Windows over two fields, {self.date!r} and {other.date!r}, cannot both apply. "
                f"Give one over {self.date!r}."
            )
        windows = [each.window for each in (self, other) if each.window is not None]
        return Scope(
            self.within + other.within,
            self.across + other.across,
            min(windows, default=None),
            self.date or other.date,
        )

    def __str__(self) -> str:
        """Write the scope in words."""
        parts = [f"within {', '.join(self.within)}"] if self.within else []
        parts += [f"across {', '.join(self.across)}"] if self.across else []
        parts += [] if self.window is None else [f"{duration_text(self.window)} of {self.date}"]
        return "; ".join(parts)

    def to_json(self) -> Json:
        """Return the scope as JSON, without what it does not have.

        >>> Scope(within=("tenant",)).to_json()
        {'within': ['tenant']}
        """
        found: Json = {"within": list(self.within), "across": list(self.across)}
        if self.window is not None:
            found |= {"window": duration_text(self.window), "date": self.date}
        return {name: value for name, value in found.items() if value}

    @classmethod
    def from_json(cls, form: Any) -> Scope:
        """Read what `to_json` returns.

        >>> Scope.from_json({"within": ["tenant"]}).within
        ('tenant',)
        """
        if isinstance(form, dict) and form.keys() <= {"within", "across", "window", "date"}:
            window = form.get("window")
            length = duration(window) if isinstance(window, str) else window
            return cls(form.get("within", ()), form.get("across", ()), length, form.get("date"))
        raise InputError(f"{form!r} is not a scope. Give an object with within, across, window and date.")


def combined(policy: Scope | None, asked: Scope | None) -> Scope | None:
    """Return the scope of the pairs that are in both, where each may be none."""
    return asked if policy is None else policy.narrowed(asked)


def values_in(document: Mapping[str, Any], path: str) -> frozenset[str]:
    """Return the values at a path as texts; none if one of them is unknown."""
    if "." not in path and isinstance(plain := document.get(path), str):
        return frozenset((plain,))  # as nearly always
    found = {_text(value) for value in values_at(document, path) if value is not None}
    return frozenset() if None in found else frozenset(text for text in found if text is not None)


def moment_in(document: Mapping[str, Any], path: str) -> int | None:
    """Return the earliest date at a path, in milliseconds since 1970; None without one, or if one cannot be read."""
    if "." not in path and isinstance(plain := document.get(path), str):
        return milliseconds_of(plain)  # as nearly always
    found = [milliseconds_of(value) for value in values_at(document, path) if value is not None]
    known = [each for each in found if each is not None]
    return min(known) if known and len(known) == len(found) else None


def milliseconds_of(value: object) -> int | None:
    """Return the milliseconds of a date since 1970; None for what is none, or too far away to count with."""
    try:
        seconds = timestamp(value)
    except OverflowError:
        return None
    return None if seconds is None or abs(seconds) > _FARTHEST else round(seconds * 1000)


def duration(text: str) -> timedelta:
    """Parse a length of time: ``72h``, ``3d``, ``30m``, ``45s``, ``500ms``."""
    found = _DURATION.fullmatch(text)
    with suppress(OverflowError):
        if found:
            return timedelta(milliseconds=int(found[1]) * _UNITS[found[2]])
    raise InputError(f"{text!r} is not a length of time. Write it as 72h, 3d or 30m.")


def duration_text(window: timedelta) -> str:
    """Write a length of time so that `duration` reads it."""
    length = window // timedelta(milliseconds=1)
    unit = next(unit for unit, size in _UNITS.items() if length % size == 0)
    return f"{length // _UNITS[unit]}{unit}"


def _checked_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths once each, in an order of their own: it has no meaning."""
    if isinstance(paths, str) or not isinstance(paths, Iterable):
        raise InputError(f"Fields cannot be {paths!r}. Give their names, in a list.")
    found = list(paths)
    for path in found:
        if not isinstance(path, str) or not all(path.split(".")):
            raise InputError(f"A scope cannot have the field {path!r}. Give the name of a field, or a dotted path.")
    return tuple(sorted(set(found)))


def _check_window(window: object) -> None:
    if not isinstance(window, timedelta) or window <= timedelta(0) or window % timedelta(milliseconds=1):
        raise InputError(f"A window cannot be {window!r}. Give a length of time above 0, in whole milliseconds.")


def number_in(text: str) -> str | None:
    """Return the value of the number that a text would be in JSON; None if it is none."""
    return _text(json.loads(text)) if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) else None


def _text(value: object) -> str | None:
    """Return a value as a text; None for what is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return None if not isfinite(value) else str(int(value)) if value.is_integer() else json.dumps(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return None
    return json.dumps(value) if isinstance(value, bool | int) else None


# Groups are made by `group` alone, or for each new document as well.
WhenGrouped: TypeAlias = Literal["batch", "online"]


@dataclass(frozen=True)
class Policy:
    """The ``scope`` of all pairs of documents, and whether ``groups`` are made in batches or as documents come.

    >>> index.init(policy=Policy(Scope(within=("tenant",)))).created
    False
    """

    scope: Scope | None = None
    groups: WhenGrouped = "batch"

    def __post_init__(self) -> None:
        if not isinstance(self.scope, Scope | None):
            raise InputError(f"A policy cannot have the scope {self.scope!r}. Make one by Scope.of.")
        if self.groups not in get_args(WhenGrouped):
            raise InputError(f"Groups cannot be made {self.groups!r}. Choose from: {', '.join(get_args(WhenGrouped))}.")

    def __str__(self) -> str:
        """Write the policy in words."""
        return "; ".join([*([str(self.scope)] if self.scope else []), f"groups {self.groups}"])

    def to_json(self) -> Json:
        """Return the policy as JSON, without what is as by default.

        >>> Policy(groups="online").to_json()
        {'groups': 'online'}
        """
        scope: Json = {} if self.scope is None else {"scope": self.scope.to_json()}
        return scope | ({} if self.groups == "batch" else {"groups": self.groups})

    @classmethod
    def from_json(cls, form: Any) -> Policy:
        """Read what `to_json` returns.

        >>> Policy.from_json({"groups": "online"}).groups
        'online'
        """
        if not isinstance(form, dict) or set(form) - {"scope", "groups"}:
            raise InputError(f"{form!r} is not a policy. Give an object with scope and groups.")
        scope = None if form.get("scope") is None else Scope.from_json(form["scope"])
        return cls(scope, form.get("groups", "batch"))
