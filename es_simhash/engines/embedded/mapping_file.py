"""The file that keeps the mapping of an index. It is replaced whole, so that it is the old one or the new one."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from es_simhash.engines.embedded.mapping import IndexMapping
from es_simhash.errors import IndexStateError

_NAME = "mapping.json"
_FORMAT = 1
Stamp: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class StoredMapping:
    """A mapping, and the identity of the index that it is of: an index made anew under the same name has another."""

    identity: str
    mapping: IndexMapping


def stamp(directory: Path) -> Stamp:
    """What changes whenever the mapping is written."""
    stat = os.stat(directory / _NAME)
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def read(directory: Path) -> StoredMapping:
    """The mapping as it was last written."""
    path = directory / _NAME
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["format"] != _FORMAT:
            raise ValueError(f"it has the format {stored['format']!r}, not {_FORMAT}")
        return StoredMapping(stored["identity"], IndexMapping(stored["mapping"]))
    except (ValueError, KeyError, TypeError) as error:
        raise IndexStateError(
            f"The mapping in {str(path)!r} cannot be read: {error}. "
            "Restore the file from a copy, or read the index with the version of es_simhash that wrote it."
        ) from error


def write(directory: Path, stored: StoredMapping) -> None:
    """Replace the mapping, durably."""
    path = directory / _NAME
    content = {"format": _FORMAT, "identity": stored.identity, "mapping": stored.mapping.body}
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
