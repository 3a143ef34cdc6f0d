"""Files as streams of bytes, opened, counted and decompressed; and their formats and encodings, by name and content.

Compression is recognised by the first bytes, so it works for standard input too.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import PurePath
from typing import IO, Any, NamedTuple, Protocol, TypeAlias, cast

from es_simhash.errors import InputError, MissingExtraError

STANDARD_INPUT = "-"

_BLOCK = 1 << 18


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
        counted = stack.enter_context(io.BufferedReader(_Counted(file, on_bytes), _BLOCK))
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
