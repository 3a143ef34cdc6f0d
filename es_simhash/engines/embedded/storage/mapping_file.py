"""The file with the mapping of an index, which is replaced atomically."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

from es_simhash._core.json_codec import parse_json
from es_simhash.engines.embedded.mapping.index_mapping import IndexMapping
from es_simhash.engines.embedded.storage import durable_files
from es_simhash.engines.embedded.storage.tantivy_files import DamagedError
from es_simhash.errors import IndexStateError

NAME = "mapping.json"
_FORMAT = 1
_KEYS = ("format", "identity", "mapping")
# The file ends with the CRC-32 of what precedes it; files of older versions have none.
_SUM = re.compile(rb', "crc": (\d+)}\Z')
Stamp: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class StoredMapping:
    """A mapping, and the identity of its index: a new index of the same name has another."""

    identity: str
    mapping: IndexMapping


def stamp(directory: Path) -> Stamp:
    """Return a value that changes whenever the mapping is written."""
    stat = os.stat(os.path.join(directory, NAME))  # quicker than by Path, which each request would notice
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def read(directory: Path) -> StoredMapping:
    """Read the mapping as last written."""
    path = directory / NAME
    try:
        return load(path)
    except DamagedError as error:
        raise IndexStateError(
            f"The mapping in {str(path)!r} cannot be read: {error}. "
            "Restore the file from a copy, or read the index with the version of es_simhash that wrote it."
        ) from error


def load(path: Path) -> StoredMapping:
    """Read the mapping in a file; raise `DamagedError` if it is damaged or missing."""
    content = path.read_bytes()
    try:
        stored = parse_json(content)
        if sum_ := _SUM.search(content):
            is_as_written = int(sum_[1]) == crc32(content[: sum_.start()])
        else:
            is_as_written = stored.keys() == set(_KEYS)
        if not is_as_written:
            raise ValueError("checksum mismatch")
        if stored["format"] != _FORMAT:
            raise ValueError(f"it has the format {stored['format']!r}, not {_FORMAT}")
        return StoredMapping(stored["identity"], IndexMapping(stored["mapping"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(str(error)) from error


def write(directory: Path, stored: StoredMapping) -> None:
    """Replace the mapping, durably."""
    values = (_FORMAT, stored.identity, stored.mapping.body)
    text = json.dumps(dict(zip(_KEYS, values, strict=True)), ensure_ascii=False).removesuffix("}").encode()
    durable_files.replace(directory / NAME, text + b', "crc": %d}' % crc32(text))
