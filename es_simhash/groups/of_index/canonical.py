"""Which document of a group stands for it, and is to be kept: an order of documents, of which the first is taken.

Whatever the order leaves open, the ids decide; so it is the same on every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from es_simhash._core.dates import timestamp
from es_simhash._core.json_paths import Json, values_at
from es_simhash.errors import InputError

# The greater a rank is, the later its document stands.
Rank = Callable[[Json], Any]


@dataclass(frozen=True)
class Canonical:
    """An order of documents by what is in them.

    ``fields`` are the parts of documents that ``rank`` looks at: paths, True for all of them, or none where the ids
    alone decide. ``name`` is what the rule is called.
    """

    name: str
    fields: Sequence[str] | bool = ()
    rank: Rank = lambda document: 0

    @classmethod
    def longest(cls, text_fields: Sequence[str]) -> Canonical:
        """The document with the longest text comes first."""
        return cls("longest", text_fields, lambda document: -_length(document, text_fields))

    @classmethod
    def oldest(cls, field: str) -> Canonical:
        """That with the earliest date comes first; those without one, or with what is none, last."""
        return cls(f"oldest:{field}", [field], lambda document: _moment(document, field, inf))

    @classmethod
    def newest(cls, field: str) -> Canonical:
        """That with the latest date comes first; those without one, or with what is none, last."""
        return cls(f"newest:{field}", [field], lambda document: -_moment(document, field, -inf))

    @classmethod
    def order(cls, field: str, values: Sequence[str]) -> Canonical:
        """Those whose field has the first of some values come first, then those with the second, and so on."""
        places = {value: place for place, value in enumerate(values)}
        return cls(f"order:{field}={','.join(values)}", [field], lambda document: _place(document, field, places))

    @classmethod
    def by(cls, rank: Rank, fields: Sequence[str] | bool = True) -> Canonical:
        """A function says: that of whose results is the least comes first."""
        return cls(getattr(rank, "__name__", "function"), fields, rank)


FIRST = Canonical("first")


def canonical_named(text: str, text_fields: Sequence[str]) -> Canonical:
    """The order that a text names: ``first``, ``longest``, ``oldest:F``, ``newest:F``, ``order:F=a,b,c``."""
    kind, _, field = text.partition(":")
    if text == "first":
        return FIRST
    if text == "longest":
        return Canonical.longest(text_fields)
    if field and kind in ("oldest", "newest"):
        return Canonical.oldest(field) if kind == "oldest" else Canonical.newest(field)
    path, equals, values = field.partition("=")
    if kind == "order" and path and equals and values:
        return Canonical.order(path, values.split(","))
    raise InputError(
        f"No order of documents is called {text!r}. Choose from: first, longest, oldest:FIELD, newest:FIELD, "
        "order:FIELD=VALUE,VALUE…."
    )


def _moment(document: Json, field: str, missing: float) -> float:
    found = [each for each in map(timestamp, values_at(document, field)) if each is not None]
    return found[0] if found else missing


def _length(document: Json, fields: Sequence[str]) -> int:
    return sum(len(value) for field in fields for value in values_at(document, field) if isinstance(value, str))


def _place(document: Json, field: str, places: dict[str, int]) -> int:
    return min((places.get(str(value), len(places)) for value in values_at(document, field)), default=len(places))
