"""Files as streams of bytes: opened, counted, decompressed.

Compression is recognised by the first bytes, so it works for standard input too.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any, Protocol, TypeAlias, cast

from es_simhash.errors import MissingExtraError

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
