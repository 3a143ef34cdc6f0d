"""Cursors: where the next page of distinct hits begins, as a short text.

A cursor comes back from outside, so it is checked before any part of it is used, and has nothing that could choose
other data: no index, no query, no ids. It says how many hits of the search's list are on earlier pages, in which order
they came, and with which seed; and it names the engine's reader. What is read by that is narrowed to the documents that
the index of the request stands for (`es_simhash.plans.documents_behind`), whatever reader a forged one names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

from es_simhash.errors import FormatError, InputError
from es_simhash.plans.operations import Reader
from es_simhash.scheme.folding_rule import Name

# A reader's id has about 130 characters for each shard.
MOST_CHARACTERS = 1 << 20
_MARK_LENGTH = 16
_FORM = re.compile(
    rf"2\.([0-9a-f]{{{_MARK_LENGTH}}})\.([1-9][0-9]{{0,4}})\.([0-9a-f]{{{_MARK_LENGTH}}})\.([0-9]{{1,10}})"
    r"\.(elasticsearch|opensearch|embedded)\.([!-~]+)"
)


@dataclass(frozen=True)
class Cursor:
    """The ``reader``, the ``rank`` of the first hit to read, the ``order`` of those before it, and the ``seed``."""

    reader: Reader
    rank: int
    order: str
    seed: int

    def to_text(self, search: Any) -> str:
        """Write the cursor of a search, given by all that decides its hits."""
        rest = f"{self.rank}.{self.order}.{self.seed}.{self.reader.kind}.{self.reader.id}"
        text = f"2.{_mark_of(search, rest)}.{rest}"
        if len(text) > MOST_CHARACTERS:
            raise InputError(
                f"A cursor for these shards would have {len(text):,} characters, and the most is "
                f"{MOST_CHARACTERS:,}. Search fewer indices at once, or ask for one page."
            )
        return text

    @classmethod
    def from_text(cls, text: str, search: Any, index: str) -> Cursor:
        """Read a cursor of a search of an index; raise unless it is one of this search."""
        is_short = isinstance(text, str) and len(text) <= MOST_CHARACTERS
        if not is_short or not (found := _FORM.fullmatch(text)):
            raise invalid()
        mark, rank, order, seed, kind, id_ = found.groups()
        if mark != _mark_of(search, text.split(".", 2)[2]):
            raise invalid()
        return cls(Reader(cast("Any", kind), index, id_), int(rank), order, int(seed))


def invalid() -> FormatError:
    """Return the error for a cursor that cannot be used."""
    return FormatError(
        "Invalid cursor. Pass the cursor of the previous page to the same search: the same index, body and options."
    )


def order_of(names: Sequence[Name]) -> str:
    """Return a short hash of the names of hits in their order."""
    return _short_hash(json.dumps(names))


def _mark_of(search: Any, rest: str) -> str:
    return _short_hash(json.dumps([search, rest], sort_keys=True, default=str))


def _short_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_MARK_LENGTH]
