"""Files of the tantivy library: its list of segments, and the checksums at the ends of segment files.

The list is replaced with every commit. A segment file is written once, and ends with a footer: a JSON object whose
``crc`` is the CRC-32 of everything before it, then the length of this JSON and a magic number, each with 32 bits,
little-endian.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

from es_simhash._core.json_codec import parse_json

META = "meta.json"
# The files that the library created, and so may remove.
LIST = ".managed.json"


def opstamp(directory: Path) -> int:
    """Return the number of the last commit; every commit has a higher one."""
    number: int = _meta(directory)["opstamp"]
    return number


def living_files(directory: Path) -> list[str]:
    """Return the files of all segments of the last commit; others are obsolete, or belong to the next commit."""
    try:
        segments = [_names(segment) for segment in _meta(directory)["segments"]]
    except (KeyError, TypeError, AttributeError):
        raise DamagedError("unexpected structure") from None
    return sorted(
        name
        for name in os.listdir(directory)
        for stem, deletes in segments
        if name.startswith(stem) and (not name.endswith(".del") or name == deletes)
    )


def _names(segment: dict[str, Any]) -> tuple[str, str]:
    """Return the stem of a segment's files, and the name of its file of deleted documents."""
    stem = segment["segment_id"].replace("-", "") + "."
    return stem, f"{stem}{segment['deletes']['opstamp']}.del" if segment["deletes"] else ""


def _meta(directory: Path) -> dict[str, Any]:
    try:
        meta = parse_json((directory / META).read_bytes())
    except ValueError as error:
        raise DamagedError(f"not JSON: {error}") from None
    if not isinstance(meta, dict) or not isinstance(meta.get("opstamp"), int):
        raise DamagedError("opstamp missing")
    return meta


_END = struct.Struct("<II")
_MAGIC = 1337
# Real footers have about a hundred bytes.
_MAX_LENGTH = 50_000
_CHUNK = 1 << 20


class DamagedError(Exception):
    """A damaged file; the message gives the symptom."""


def read_footer(path: Path) -> bytes:
    """Return the whole footer of a file; raise `DamagedError` if it has none."""
    with path.open("rb") as file:
        return _footer(file)


def verify_footer(path: Path) -> bytes:
    """Read a whole file and return its footer; raise `DamagedError` if the checksum does not match."""
    with path.open("rb") as file:
        end = _footer(file)
        try:
            expected = parse_json(end[: -_END.size])["crc"]
        except (ValueError, KeyError, TypeError):
            raise DamagedError("unreadable footer") from None
        left = file.seek(0, 2) - len(end)
        file.seek(0)
        found = 0
        while left:
            chunk = file.read(min(_CHUNK, left))
            if not chunk:
                raise DamagedError("truncated while it was read")
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
        raise DamagedError("unexpected end of file")
    file.seek(size - _END.size - length)
    return file.read(length + _END.size)
