"""Cursors: where the next page of distinct hits begins, as a short text.

A cursor is the base64url of compressed JSON: the reader of the engine, the rank from which to read on, the hits that
stand on the pages before, and a mark of the search that it belongs to. What is on a page depends on these hits, so no
near-duplicate of one comes again.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from es_simhash.errors import InputError
from es_simhash.plans.operations import Reader

_VERSION = 1
_MARK_LENGTH = 12


@dataclass(frozen=True)
class Cursor:
    """The ``reader``, the ``rank`` of the first hit to read, and the index and id of each hit ``shown`` before."""

    reader: Reader
    rank: int
    shown: list[tuple[str, str]]

    def to_text(self, search: Any) -> str:
        """Write the cursor of a search, given by all that decides its hits."""
        form = [_VERSION, mark_of(search), asdict(self.reader), self.rank, self.shown]
        return urlsafe_b64encode(zlib.compress(json.dumps(form).encode())).decode("ascii")

    @classmethod
    def from_text(cls, text: str, search: Any) -> Cursor:
        """Read a cursor; raise unless it is of this search."""
        try:
            version, mark, reader, rank, shown = json.loads(zlib.decompress(urlsafe_b64decode(text)))
            cursor = cls(Reader(**reader), int(rank), [(str(index), str(id_)) for index, id_ in shown])
        except (ValueError, TypeError, zlib.error):
            raise InputError("This is no cursor. Give the one that the page before came with.") from None
        if version != _VERSION or mark != mark_of(search):
            raise InputError("This cursor is of another search. Give it with the same index, body and options.")
        return cursor


def mark_of(search: Any) -> str:
    """Return a short hash of all that decides the hits of a search."""
    text = json.dumps(search, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:_MARK_LENGTH]
