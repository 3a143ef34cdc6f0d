"""One file to read: its names, its options, and how its records become documents."""

from __future__ import annotations

import codecs
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from es_simhash._core.json_codec import Json, json_line, value_at
from es_simhash.documents.files.formats import STANDARD_INPUT, Stream, breaks_off, reading_errors
from es_simhash.documents.rejected import OnReject, Rejected, decoded_excerpt
from es_simhash.documents.sources import as_id, text_of
from es_simhash.errors import InputError

Numbered: TypeAlias = "tuple[int, Json]"


class RecordError(Exception):
    """One record cannot be a document; the rest of its file is still read."""


_BLOCK = 1 << 16

# Other keys of a record that is wrapped as a search hit.
_BESIDE = {"_id", "_routing", "_source"}
_HASH_DIGITS = 16


@dataclass(frozen=True)
class ReadOptions:
    """The options of all files that are read together, and the ``columns`` of the tables among them so far."""

    id_field: str | None
    encoding: str
    line_encoding: str
    max_line: int
    on_reject: OnReject
    columns: dict[str, None] = field(default_factory=dict, compare=False)


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
        """The path as text; bytes that are not text are escaped."""
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
                # Engines refuse documents that hold as fields what names them.
                document.pop("_id", None)
                document.pop("_routing", None)
                yield FileDocument(id, document, name, line, routing, f"{self.number}:{place}")

    @cached_property
    def _is_kept(self) -> bool:
        """Whether the file can be read again, and is not a stream."""
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
    """Write a path as text, with slashes; escape bytes that are not text."""
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
            raise RecordError(f"The id {number!r} in the field 'id' is not a whole number. Write it as a text.")
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
    """Return the routing next to a document, if any."""
    value = record.get("_routing")
    routing = as_id(value)
    if routing is None and value is not None:
        raise RecordError(
            "The _routing is neither a whole number nor a text of one or more characters. Correct it, or leave it out."
        )
    return routing


@dataclass(slots=True, eq=False)
class FileDocument:
    """A document with its id, and the file and the line (of a Parquet file: the row) that it begins on.

    ``routing`` selects its shard, if it was exported with one. Its ``key`` differs from that of all others that are
    read together: the number of the path, the line, with a second number if others begin there, and the id.
    """

    id: str
    document: Json
    file: str
    line: int
    routing: str | None = None
    place: str = "0:0"

    @property
    def key(self) -> str:
        """What it differs by from all others."""
        return f"{self.place}:{self.id}"

    def text_of(self, fields: Sequence[str]) -> str:
        """Return the text of the fields; without fields, of all strings at the top of the document but for its id."""
        document = self.document
        return text_of(
            document,
            fields or [name for name, value in document.items() if isinstance(value, str) and value != self.id],
        )

    @property
    def whole(self) -> Json:
        """The document with its routing, and with the ``_id`` unless it holds its id itself."""
        document = self.document
        own = document if self.id in map(str, document.values()) else {"_id": self.id, **document}
        return own if self.routing is None else {"_routing": self.routing, **own}

    def written(self) -> str:
        """Return a line of JSON with the whole document."""
        return json_line(self.whole)

    def rejected(self, reason: str, *, may_pass: bool = False) -> Rejected:
        """Reject the document."""
        return Rejected(file=self.file, line=self.line, reason=reason, id=self.id, may_pass=may_pass)


def read_lines(file: DataFile, stream: Stream) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers, from 1, each with its line feed.

    A line of over ``max_line`` bytes is rejected and skipped, and where the stream breaks off, that line is rejected.
    """
    longest = file.options.max_line
    number = 0
    while True:
        try:
            line = stream.readline(longest + 1)
            too_long = len(line) > longest and not line.endswith(b"\n")
            if too_long:
                _skip_line(stream)
        except reading_errors() as error:
            file.reject(number + 1, breaks_off(error))
            return
        if not line:
            return
        number += 1
        if too_long:
            file.reject(number, f"The line has more than {longest:,} bytes. Split it, or allow longer lines.", line)
        else:
            yield number, line if number > 1 else line.removeprefix(BYTE_ORDER_MARK)


def _skip_line(stream: Stream) -> None:
    while (part := stream.readline(1 << 16)) and not part.endswith(b"\n"):
        pass


INVALID_TO_SURROGATE = "es_simhash.invalid_to_surrogate"
BYTE_ORDER_MARK = codecs.BOM_UTF8


def check_encoding(encoding: str) -> str:
    """Return the name of a text encoding, as Python spells it."""
    try:
        "\n".encode(encoding)
        return codecs.lookup(encoding).name
    except LookupError:
        raise InputError(f"Unknown text encoding {encoding!r}. Name one, such as utf-8 or gb18030.") from None


def line_encoding_of(encoding: str) -> str:
    """Return the encoding of lines once they are split: UTF-8 if a line feed is not just the byte 10."""
    return encoding if "\n".encode(encoding) == b"\n" else "utf-8"


def with_line_feeds(stream: Stream, options: ReadOptions) -> Stream:
    """Return the stream in the encoding of its lines."""
    if options.line_encoding == options.encoding:
        return stream
    return io.BufferedReader(_AsUtf8(stream, options.encoding), _BLOCK)


def decoded(raw: bytes, options: ReadOptions) -> str:
    """Decode a line; refuse one that is invalid or has NULs."""
    try:
        text = raw.decode(options.line_encoding)
    except UnicodeDecodeError as error:
        raise RecordError(
            f"This is not valid {options.encoding} ({error.reason} at byte {error.start + 1}). Name its encoding."
        ) from None
    if "\0" in text:
        raise RecordError("This has NUL characters. If its encoding is UTF-16, name it; else remove them.")
    return text


def new_decoder(encoding: str) -> codecs.IncrementalDecoder:
    """Return a decoder that turns invalid bytes into lone surrogates."""
    return codecs.getincrementaldecoder(encoding)(INVALID_TO_SURROGATE)


class _AsUtf8(io.RawIOBase):
    def __init__(self, stream: Stream, encoding: str) -> None:
        super().__init__()
        self._stream = stream
        self._encoding = encoding
        self._decoder = new_decoder(encoding)
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            block = self._stream.read1(_BLOCK)
            self._ended = not block
            try:
                self._ready = self._decoder.decode(block, self._ended).encode("utf-8", "surrogatepass")
            except UnicodeError:  # the decoder's own, since those of invalid bytes become surrogates
                raise RecordError(
                    f"The text has no byte order mark, so that {self._encoding} does not show the order of bytes. "
                    f"Name its encoding {self._encoding}-le or {self._encoding}-be."
                ) from None
        taken = self._ready[: len(buffer)]
        self._ready = self._ready[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)


def _invalid_to_surrogate(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\udfff", error.end


codecs.register_error(INVALID_TO_SURROGATE, _invalid_to_surrogate)
