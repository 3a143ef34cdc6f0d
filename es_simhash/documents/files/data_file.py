"""One file to read: its names, format, compression and encoding, and how its records become documents.

Compression is recognised by the first bytes, so it works for standard input too.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import lzma
import os
import sys
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePath
from typing import IO, Any, NamedTuple, Protocol, TypeAlias, cast

from es_simhash._core.json_codec import Json, json_line, value_at
from es_simhash.documents.sources import OnReject, Rejected, as_id, decoded_excerpt, text_of
from es_simhash.errors import InputError, MissingExtraError

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

STANDARD_INPUT = "-"

_FIRST_BYTES = 1 << 18

_SKIPPABLE_FRAME = b"\x2a\x4d\x18"

OnBytes: TypeAlias = Callable[[int], object]


class Stream(Protocol):
    """What the readers need of a stream. An error loses at most what one call would have returned."""

    def readline(self, size: int = ..., /) -> bytes: ...

    def read1(self, size: int = ..., /) -> bytes: ...

    def peek(self, size: int = ..., /) -> bytes: ...


@contextmanager
def open_stream(path: str, on_bytes: OnBytes) -> Iterator[Stream]:
    """Open the decompressed content of a file; call ``on_bytes`` with each number of bytes read from disk."""
    with ExitStack() as stack:
        file = sys.stdin.buffer if path == STANDARD_INPUT else stack.enter_context(open(path, "rb"))
        counted = stack.enter_context(io.BufferedReader(_Counted(file, on_bytes), _FIRST_BYTES))
        suffix = compression_of(counted.peek(10))
        yield counted if suffix is None else stack.enter_context(_decompressed(suffix, counted))


def compression_of(head: bytes) -> str | None:
    """Return the usual suffix of a file's compression, judged by its first ten bytes."""
    if head.startswith(b"\x1f\x8b"):
        return ".gz"
    if head.startswith(b"BZh") and head[4:10] in {b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"}:
        return ".bz2"
    if head.startswith(b"\xfd7zXZ\0"):
        return ".xz"
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == _SKIPPABLE_FRAME and head[0] >> 4 == 5):
        return ".zst"
    return None


def zstd() -> Any:
    """Return the module for zstd, which is in the standard library from Python 3.14 on."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        raise MissingExtraError("backports.zstd, which reads zstd files,", "zstd") from None
    return zstd


def reading_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of a file that is cut off, damaged, or on a failing disk."""
    known: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error, lzma.LZMAError)
    try:
        return (*known, zstd().ZstdError)
    except MissingExtraError:
        return known


def breaks_off(error: Exception) -> str:
    """Return the reason to give for one of these errors."""
    detail = str(error).rstrip(".")
    return f"The file breaks off here ({detail}). Everything before is read; fetch the file again for the rest."


def _decompressed(suffix: str, file: IO[bytes]) -> Any:
    """Return a stream of the decompressed content.

    These are not buffered: a buffer would lose the good lines before a damaged place.
    """
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=file, mode="rb")
    if suffix == ".bz2":
        return bz2.BZ2File(file)
    if suffix == ".xz":
        return lzma.LZMAFile(file)
    return zstd().ZstdFile(file)


class _Counted(io.RawIOBase):
    """A file that reports how many bytes were read from it."""

    def __init__(self, file: Any, on_bytes: OnBytes) -> None:
        super().__init__()
        self._file = file
        self._on_bytes = on_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = cast(int, self._file.readinto1(buffer))
        self._on_bytes(count)
        return count


FORMATS = ("jsonl", "json", "csv", "tsv", "parquet", "text")

_BY_SUFFIX = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
}
_HEAD = 1 << 16
_COMPRESSED = {".gz", ".bz2", ".xz", ".zst"}


def format_by_name(path: str) -> str | None:
    """Return the format that a file name stands for, ignoring the suffix of a compression."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _BY_SUFFIX.get(suffixes[-1]) if suffixes else None


def compression_by_name(path: str) -> str | None:
    """Return the suffix of the compression that a file name promises."""
    suffix = PurePath(path).suffix.lower()
    return suffix if suffix in _COMPRESSED else None


def format_of(path: str) -> str:
    """Return the format of a file by its name; refuse an unknown one."""
    format = format_by_name(path)
    if format is None:
        known = ", ".join(_BY_SUFFIX)
        raise InputError(
            f"The name of the file {path!r} does not show its format (known are {known}, also compressed). "
            f"Name the format: {', '.join(FORMATS)}."
        )
    return format


class Shape(NamedTuple):
    """How a file is to be read: in which format, if that is known, and which text encoding."""

    format: str | None = None
    encoding: str = "utf-8"


def shape_of(path: str) -> Shape:
    """Return the shape of a file by its name and its beginning, which is read once; that of a folder is not known."""
    if not os.path.isfile(path):
        return Shape()
    with open_stream(path, lambda _: None) as stream:
        head = stream.peek(_HEAD)[:_HEAD]
    return Shape(format_by_name(path) or _format_of(head), _encoding_of(head))


def _format_of(head: bytes) -> str | None:
    """Return the format that the first line of a file shows, if it does."""
    head = head.removeprefix(BOM_UTF8).lstrip()
    for start, format in ((b"PAR1", "parquet"), (b"[", "json"), (b"{", "jsonl")):
        if head.startswith(start):
            return format
    line = head.partition(b"\n")[0]
    return "tsv" if b"\t" in line else "csv" if b"," in line or b";" in line or b"|" in line else None


def _encoding_of(head: bytes) -> str:
    """Return the encoding that the beginning of a file shows: UTF-8 unless another one is far likelier."""
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    return max(_ENCODINGS, key=lambda encoding: _likelihood(head, encoding))


# In the order of trust: what is valid UTF-8 is hardly ever anything else.
_ENCODINGS = ("utf-8", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "cp1252")
_MOST_FREQUENT = frozenset(
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年就那要下以生会自着去之过家学对可"
    "這來國個說們為時會過學對後還麼"
    "のにはをたがでてとしれさいるあもなこらすりっか、。"
    "이다는을의에가고하지도로은한를사기서어"
    "àáâãäåçèéêëíîïñóôõöøúûüßÄÖÜÉ’“”–"
)  # fmt: skip


def _likelihood(head: bytes, encoding: str) -> float:
    """Return the share of the letters outside ASCII that are frequent in what people write; 1 for valid UTF-8."""
    try:
        # The last character may be cut.
        text = getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return -1.0
    if encoding == "utf-8":
        return 1.0
    others = [character for character in text if character > "\x7f"]
    return sum(character in _MOST_FREQUENT for character in others) / (len(others) or 1)
