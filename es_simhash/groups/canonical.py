"""Choosing the canonical document of a group: the first in an order of documents.

The ids break ties, so the choice is the same on every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from es_simhash._core.dates import timestamp
from es_simhash._core.json_codec import Json, values_at
from es_simhash.errors import InputError

# Documents are sorted by rank, the lowest first.
Rank = Callable[[Json], Any]


@dataclass(frozen=True)
class Canonical:
    """An order of documents, whose first stands for the group.

    ``fields`` are the parts of documents that ``rank`` reads: paths, or True for all; none if ids alone decide.
    ``name`` is the name of the rule; ``by_date``, whether documents without a date are last; ``by_versions``, whether
    each document supersedes the next.

    >>> found = dedup(rows, fields=["title", "body"], canonical=Canonical.oldest("published"))
    >>> found.groups[0].canonical.id
    '2'
    """

    name: str
    fields: Sequence[str] | bool = ()
    rank: Rank = lambda document: 0
    by_date: bool = False
    by_versions: bool = False

    @classmethod
    def longest(cls, text_fields: Sequence[str]) -> Canonical:
        """Prefer the document with the longest text.

        >>> Canonical.longest(["body"]).rank({"body": "It rains."})
        -9
        """
        return cls("longest", text_fields, lambda document: -_length(document, text_fields))

    @classmethod
    def oldest(cls, field: str) -> Canonical:
        """Prefer the document with the earliest date in a field; those without a valid date come last.

        >>> Canonical.oldest("published").name
        'oldest:published'
        """
        return cls(f"oldest:{field}", [field], lambda document: _moment(document, field, inf), by_date=True)

    @classmethod
    def newest(cls, field: str) -> Canonical:
        """Prefer the document with the latest date in a field; those without a valid date come last.

        >>> Canonical.newest("published").name
        'newest:published'
        """
        rank: Rank = lambda document: -_moment(document, field, -inf)  # noqa: E731
        return cls(f"newest:{field}", [field], rank, by_date=True, by_versions=True)

    @classmethod
    def order(cls, field: str, values: Sequence[str]) -> Canonical:
        """Prefer documents whose field has the first of some values, then the second, and so on.

        >>> Canonical.order("site", ["ours.example", "theirs.example"]).rank({"site": "theirs.example"})
        1
        """
        ranks = {value: rank for rank, value in enumerate(values)}
        return cls(f"order:{field}={','.join(values)}", [field], lambda document: _value_rank(document, field, ranks))

    @classmethod
    def by(cls, rank: Rank, fields: Sequence[str] | bool = True) -> Canonical:
        """Prefer the document for which a function returns the lowest value.

        >>> Canonical.by(lambda document: document["price"], ["price"]).rank({"price": 3})
        3
        """
        return cls(getattr(rank, "__name__", "function"), fields, rank)


FIRST = Canonical("first")


def canonical_named(text: str, text_fields: Sequence[str]) -> Canonical:
    """Parse the name of an order: ``first``, ``longest``, ``oldest:F``, ``newest:F``, ``order:F=a,b,c``."""
    kind, _, field = text.partition(":")
    if text == "first":
        return FIRST
    if text == "longest":
        if not text_fields:
            raise InputError(
                "The order longest needs the names of the text fields. Name them by --field, or by fields in Python."
            )
        return Canonical.longest(text_fields)
    if field and kind in ("oldest", "newest"):
        return Canonical.oldest(field) if kind == "oldest" else Canonical.newest(field)
    path, equals, values = field.partition("=")
    if kind == "order" and path and equals and values:
        return Canonical.order(path, values.split(","))
    raise InputError(
        f"Unknown order of documents: {text!r}. Choose from: first, longest, oldest:FIELD, newest:FIELD, "
        "order:FIELD=VALUE,VALUE…."
    )


def _moment(document: Json, field: str, missing: float) -> float:
    found = [each for each in map(timestamp, values_at(document, field)) if each is not None]
    return found[0] if found else missing


def _length(document: Json, fields: Sequence[str]) -> int:
    return sum(len(value) for field in fields for value in values_at(document, field) if isinstance(value, str))


def _value_rank(document: Json, field: str, ranks: dict[str, int]) -> int:
    return min((ranks.get(str(value), len(ranks)) for value in values_at(document, field)), default=len(ranks))
