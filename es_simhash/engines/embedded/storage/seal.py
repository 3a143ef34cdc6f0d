"""The seal of an index: a file that shows it was closed properly, with checksums of its files at that time.

It is removed before the first write, and restored on closing. So without a seal, a process is writing, or the last
writer was killed. It holds, for each segment file, the CRC-32 of its footer, which contains that of the rest; for each
other file, the CRC-32 of all of it. Its last line is the CRC-32 of the lines before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from es_simhash._core.json_codec import parse_json
from es_simhash.engines.embedded.storage import durable_files
from es_simhash.engines.embedded.storage.tantivy_files import (
    LIST,
    META,
    DamagedError,
    living_files,
    opstamp,
    read_footer,
)

NAME = "seal"


@dataclass(frozen=True)
class Seal:
    """The number of the last commit, and the checksum of each file."""

    opstamp: int
    sums: Mapping[str, int]

    def fits(self, directory: Path) -> bool:
        """Return whether the list of segments is unchanged."""
        return self.sums[META] == crc32((directory / META).read_bytes())

    def is_outdated(self, directory: Path) -> bool:
        """Return whether a version without seals has committed since; raise `DamagedError` if that is unknown.

        Every commit has another number, and other files.
        """
        return self.opstamp != opstamp(directory) and {*living_files(directory)} != self.sums.keys() - {META, LIST}


def put_on(directory: Path) -> None:
    """Write the checksums of the files, durably."""
    sums = {name: crc32(read_footer(directory / name)) for name in living_files(directory)}
    sums.update((name, crc32((directory / name).read_bytes())) for name in (META, LIST))
    content = json.dumps({"opstamp": opstamp(directory), "sums": sums}, indent=0, sort_keys=True).encode()
    durable_files.replace(directory / NAME, content + _last_line(content))


def take_off(directory: Path) -> None:
    """Mark the index as being written."""
    try:
        (directory / NAME).unlink()
    except FileNotFoundError:
        return
    # Otherwise it might reappear after a power cut, with other files.
    durable_files.sync_names(directory)


def load(path: Path) -> Seal:
    """Read the seal of an index; raise `DamagedError` if it is damaged."""
    content, newline, last = path.read_bytes().rpartition(b"\n")
    if newline + last != _last_line(content):
        raise DamagedError("checksum mismatch")
    try:
        found = parse_json(content)
    except ValueError as error:
        raise DamagedError(f"not JSON: {error}") from None
    match found:
        case {"opstamp": int() as number, "sums": dict() as sums} if {META, LIST} <= sums.keys():
            return Seal(number, sums)
    raise DamagedError("unexpected structure")


def _last_line(content: bytes) -> bytes:
    return f"\n{crc32(content)}".encode()
