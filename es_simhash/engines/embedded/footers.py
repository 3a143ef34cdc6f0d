"""The checksums at the ends of tantivy's files.

A file of a segment is written once, and ends with a footer: an object of JSON whose ``crc`` is the CRC-32 of everything
before it, the length of this JSON, and a number that says that a footer it is, both with 32 bits, little-endian.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

_END = struct.Struct("<II")
_MAGIC = 1337
# Real footers have about a hundred bytes.
_MAX_LENGTH = 50_000
_CHUNK = 1 << 20


class DamagedError(Exception):
    """A file is not as it was written; the message says how that shows."""


def footer(path: Path) -> bytes:
    """The whole footer of a file; `DamagedError` if it has none."""
    with path.open("rb") as file:
        return _footer(file)


def check(path: Path) -> bytes:
    """Read a whole file; the result is its footer, and `DamagedError` says that it does not fit what was read."""
    with path.open("rb") as file:
        end = _footer(file)
        try:
            expected = json.loads(end[: -_END.size])["crc"]
        except (ValueError, KeyError, TypeError):
            raise DamagedError("its footer cannot be read") from None
        left = file.seek(0, 2) - len(end)
        file.seek(0)
        found = 0
        while left:
            chunk = file.read(min(_CHUNK, left))
            if not chunk:
                raise DamagedError("it became shorter while it was read")
            found, left = crc32(chunk, found), left - len(chunk)
    if found != expected:
        raise DamagedError(f"its checksum is {found}, and {expected} was written")
    return end


def _footer(file: BinaryIO) -> bytes:
    size = file.seek(0, 2)
    if size < _END.size:
        raise DamagedError(f"it has only {size} bytes")
    file.seek(size - _END.size)
    length, magic = _END.unpack(file.read(_END.size))
    if magic != _MAGIC or length > min(_MAX_LENGTH, size - _END.size):
        raise DamagedError("it does not end as such files do")
    file.seek(size - _END.size - length)
    return file.read(length + _END.size)
