"""One file to read: its names, its options, and how its records become documents."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from es_simhash._core.json_paths import Json, value_at
from es_simhash.documents.files.records import FileDocument, without_names
from es_simhash.documents.rejected import OnReject, Rejected, decoded_excerpt
from es_simhash.documents.sources import as_id
from es_simhash.errors import InputError

Numbered: TypeAlias = "tuple[int, Json]"


class RecordError(Exception):
    """One record cannot be a document; the rest of its file is still read."""


STANDARD_INPUT = "-"

# What a record that is wrapped as a search hit has beside the document.
_BESIDE = {"_id", "_routing", "_source"}
_HASH_DIGITS = 16


@dataclass(frozen=True)
class ReadOptions:
    """The options of all files that are read together."""

    id_field: str | None
    encoding: str
    line_encoding: str
    max_line: int
    on_reject: OnReject


@dataclass(frozen=True)
class DataFile:
    """A file and its format; ``id`` is the id of its one document, where the whole file is one.

    It is, or is in, the path with this ``number`` among those that are read together.
    """

    path: str
    format: str
    options: ReadOptions
    id: str | None = None
    number: int = 0

    @property
    def name(self) -> str:
        """The path as text; bytes that are no text are escaped."""
        return as_text(self.path)

    @cached_property
    def place(self) -> str:
        """The file's whole path as text, with links followed; standard input and pipes keep the name given."""
        return as_text(os.path.realpath(self.path)) if self._is_kept else self.name

    def reject(self, line: int, reason: str, excerpt: str | bytes | Json = "") -> None:
        """Reject something that cannot be read."""
        if isinstance(excerpt, bytes):
            excerpt = decoded_excerpt(excerpt, self.options.line_encoding)
        elif isinstance(excerpt, dict):
            excerpt = json.dumps(excerpt, ensure_ascii=False, default=str)
        self.options.on_reject(Rejected(file=self.name, line=line, reason=reason, excerpt=excerpt))

    def broken(self, line: int, reason: str) -> InputError:
        """Make the error of a file that is broken at a line."""
        return InputError(f"{self.name!r} is broken at line {line:,}. {reason}")

    def documents(self, records: Iterable[Numbered]) -> Iterator[FileDocument]:
        """Yield the documents of records; reject one without a usable id."""
        name, before, part = self.name, 0, 0
        id_field = self.options.id_field
        for line, record in records:
            part, before = part + 1 if line == before else 0, line
            place = f"{line}.{part}" if part else str(line)
            if id_field is None and _BESIDE.isdisjoint(record) and not isinstance(record.get("id"), float):
                # By far the most frequent case, so it is short.
                id = as_id(record.get("id")) or self._made_id(place, record)
                yield FileDocument(id, record, name, line, None, f"{self.number}:{place}")
                continue
            try:
                document = source_of(record)
                id = chosen_id(record, document, id_field) or self._made_id(place, record)
                routing = routing_of(record)
            except RecordError as bad:
                self.reject(line, str(bad), record)
            else:
                yield FileDocument(id, without_names(document), name, line, routing, f"{self.number}:{place}")

    @cached_property
    def _is_kept(self) -> bool:
        """Whether the file can be read again, and is no stream."""
        return self.path != STANDARD_INPUT and os.path.isfile(self.path)

    def _made_id(self, line: str, record: Json) -> str:
        """Make an id from a document's place, so that it is the same whenever the file is read again.

        Streams all have the same place, so a hash of the document distinguishes what they bring at different times.
        """
        if self._is_kept:
            return f"{self.place}:{line}"
        content = json.dumps(record, sort_keys=True, default=str).encode()
        return f"{self.place}:{line}:{sha256(content).hexdigest()[:_HASH_DIGITS]}"


def as_text(path: str) -> str:
    """Write a path as text, with slashes; escape bytes that are no text."""
    return os.fsencode(Path(path).as_posix()).decode("utf-8", errors="backslashreplace")


def source_of(record: Json) -> Json:
    """Return the document, unwrapped if it is a search hit or an export: ``{"_id": …, "_source": {…}}``."""
    if "_source" not in record:
        return record
    source = record["_source"]
    if not isinstance(source, dict):
        raise RecordError("The value of _source is not an object. Export the documents with their sources.")
    return source


def chosen_id(record: Json, document: Json, id_field: str | None) -> str | None:
    """Return the id from ``id_field``; without one, from ``_id`` or ``id``, or None if there is neither."""
    if id_field is None and record.get("_id") is None:
        if isinstance(number := document.get("id"), float):
            raise RecordError(f"The id {number!r} in the field 'id' is no whole number. Write it as a text.")
        return as_id(document.get("id"))
    field = id_field or "_id"
    value = value_at(document, field)
    if value is None:
        value = value_at(record, field)
    id = as_id(value)
    if id is None:
        problem = "is missing" if value is None else "is neither a whole number nor a text of one or more characters"
        raise RecordError(f"The id in the field {field!r} {problem}. Name a field that every document has as its id.")
    return id


def routing_of(record: Json) -> str | None:
    """Return the routing beside a document, if any."""
    value = record.get("_routing")
    routing = as_id(value)
    if routing is None and value is not None:
        raise RecordError(
            "The _routing is neither a whole number nor a text of one or more characters. Correct it, or leave it out."
        )
    return routing
