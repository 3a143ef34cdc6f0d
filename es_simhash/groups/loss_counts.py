"""Counting what goes by the values of documents: of a field, or what their texts show."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.dates import timestamp
from es_simhash._core.humanize import shortened
from es_simhash._core.json_codec import column_at, values_at
from es_simhash.documents.guess import source_and_date

By: TypeAlias = Literal["field", "source", "year", "language", "length"]

# Of fewer documents, no share is implausible.
LEAST = 20
# Different values of a field that are counted, and characters of one.
MOST_NAMES, _MOST_CHARACTERS = 1_000, 100
# What documents without a value have, and those with one beyond the most.
NONE, OTHERS = "(none)", "(other values)"


@dataclass(frozen=True)
class Loss:
    """The documents with a value, and how many of them are duplicates."""

    JSON = ("value", "documents", "duplicates", "share")

    value: str
    documents: int
    duplicates: int

    @property
    def share(self) -> float:
        """The share of the documents that are duplicates."""
        return self.duplicates / self.documents if self.documents else 0.0


@dataclass(frozen=True)
class LossesBy:
    """Losses by the values of a ``field``, or by what texts show; estimated from a sample if this ``is_estimate``."""

    by: By
    field: str | None
    is_estimate: bool
    values: tuple[Loss, ...]


def percent(share: float) -> str:
    """Write a share; one that is not 0 or 1 does not look so.

    >>> percent(0.9997), percent(0.25), percent(0.0004)
    ('99.97%', '25%', '0.04%')
    """
    written = f"{share:.0%}"
    return written if share in (0, 1) or 0.01 <= share <= 0.99 else f"{share:.2%}"


def named(by: str | None, field: str | None, value: str) -> str:
    """Write a value with what it is of."""
    return f"{field or by} {shortened(value)!r}"


# ---- values of documents


@dataclass
class Values:
    """The value of each document at a path, or what its text shows: of a bounded number of names, four bytes each."""

    by: By
    path: str | None = None
    codes: array[int] = field(default_factory=lambda: array("i"))
    names: dict[str, int] = field(default_factory=dict)

    def add(self, *documents: Mapping[str, Any]) -> None:
        """Note the first value of each document."""
        path = self.path or ""
        column = column_at(documents, path)
        if column is None or any(isinstance(value, list | tuple) or value == "" for value in column):
            column = [_first(document, path) for document in documents]
        name = _year if self.by == "year" else _name
        for value in column:
            self.add_name(name(value))

    def add_name(self, name: str) -> None:
        """Note a value."""
        self.codes.append(self._code(name))

    def of(self, documents: Sequence[Mapping[str, Any]]) -> Values:
        """Return the values of documents in the same field."""
        found = Values(self.by, self.path)
        found.add(*documents)
        return found

    @classmethod
    def concatenated(cls, parts: Sequence[Values]) -> Values:
        """Concatenate values of the same field."""
        found = cls(parts[0].by, parts[0].path)
        for part in parts:
            found.append(part)
        return found

    @classmethod
    def saved(cls, by: By, path: str, names: Sequence[str], codes: Integers) -> Values:
        """Return values that were saved; raise `ValueError` if they cannot be right."""
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(names):
            raise ValueError(path)
        return cls(by, path, array("i", codes.tolist()), {name: code for code, name in enumerate(names)})

    def append(self, other: Values) -> None:
        """Append the values of other documents."""
        codes = np.array([self._code(name) for name in other.names], dtype=np.int32)
        self.codes.frombytes(codes[np.array(other.codes, dtype=np.int32)].tobytes())

    def _code(self, name: str) -> int:
        name = name[:_MOST_CHARACTERS]
        if name not in self.names and len(self.names) >= MOST_NAMES:
            name = OTHERS
        return self.names.setdefault(name, len(self.names))


def values_to_count(
    documents: Iterable[Mapping[str, Any]], per: str | None = None, date: str | None = None
) -> list[Values]:
    """Return the fields by which losses are counted: those that were named, or else guessed from documents if any."""
    source, dated = source_and_date(documents)
    first = Values("field", per) if per else Values("source", source)
    return [each for each in (first, Values("year", date or dated)) if each.path]


def _first(document: Mapping[str, Any], path: str) -> Any:
    found = document.get(path)
    if isinstance(found, str) and found:
        return found
    return next((each for each in values_at(document, path) if each not in (None, "")), None)


def _name(value: Any) -> str:
    """Return what a value is called; objects, and numbers that nobody reads, are none."""
    if isinstance(value, str):
        return value or NONE
    return str(value) if isinstance(value, int | float) and abs(value) < _MOST_NUMBER else NONE


_MOST_NUMBER = 1e18
_A_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d{5,})")
_SECONDS_OF_A_YEAR = 31_556_952


def _year(value: Any) -> str:
    """Return the year of a date, however it is written."""
    if isinstance(value, int | float) and abs(value) < _MOST_NUMBER:
        if 1_000 <= value < 3_000:
            return str(int(value))
        return str(1970 + int((timestamp(value) or 0) // _SECONDS_OF_A_YEAR))
    found = _A_YEAR.search(value[:_MOST_CHARACTERS]) if isinstance(value, str) else None
    return found[0] if found else NONE


# ---- counts


@dataclass(frozen=True)
class Column:
    """The values of some documents, which stand for all: ``weights`` says for how many each."""

    values: Values
    positions: Integers
    weights: npt.NDArray[np.float64]

    def losses(self, gone: npt.NDArray[np.bool_]) -> LossesBy:
        """Count the documents by their values, and those that are ``gone``; what most of these have comes first."""
        codes, lost, names = self._codes, gone[self.positions], self.values.names
        counts = [np.bincount(codes, own, len(names)).round() for own in (self.weights, self.weights * lost)]
        rows = zip(names, *(each.astype(int).tolist() for each in counts), strict=True)
        losses = sorted((Loss(*row) for row in rows), key=lambda loss: (-loss.duplicates, loss.value))
        is_estimate = bool(len(self.weights)) and float(self.weights.max()) > 1
        return LossesBy(self.values.by, self.values.path, is_estimate, tuple(losses))

    def having(self, value: str) -> Integers:
        """Return the documents with a value."""
        return self.positions[self._codes == self.values.names[value]]

    @property
    def _codes(self) -> npt.NDArray[np.int32]:
        return np.array(self.values.codes, dtype=np.int32)
