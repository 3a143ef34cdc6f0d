"""The seal of an index: a file which says that its writer closed it in order, and what its files were like then.

It is taken off before anything is written, and put on again in the end. So where there is none, a process is writing,
or the last one that wrote did not come to its end. For each file of a segment it holds the CRC-32 of its footer, in
which is that of the rest; for each other file the CRC-32 of all of it. Its last line is the CRC-32 of the lines before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

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
        """Whether the list of segments is as it was."""
        return self.sums[META] == crc32((directory / META).read_bytes())

    def is_outdated(self, directory: Path) -> bool:
        """Whether a version that knows of no seals has committed since; `DamagedError` if that cannot be said.

        Every commit has another number, and other files.
        """
        return self.opstamp != opstamp(directory) and {*living_files(directory)} != self.sums.keys() - {META, LIST}


def put_on(directory: Path) -> None:
    """Note what the files are like, durably."""
    sums = {name: crc32(read_footer(directory / name)) for name in living_files(directory)}
    sums.update((name, crc32((directory / name).read_bytes())) for name in (META, LIST))
    content = json.dumps({"opstamp": opstamp(directory), "sums": sums}, indent=0, sort_keys=True).encode()
    durable_files.replace(directory / NAME, content + _last_line(content))


def take_off(directory: Path) -> None:
    """Say that the index is being written."""
    try:
        (directory / NAME).unlink()
    except FileNotFoundError:
        return
    # Else it might come back after a power cut, when the files are others.
    durable_files.sync_names(directory)


def load(path: Path) -> Seal:
    """Read the seal of an index; `DamagedError` if it is not as it was written."""
    content, newline, last = path.read_bytes().rpartition(b"\n")
    if newline + last != _last_line(content):
        raise DamagedError("its last line is not the checksum of the others")
    return Seal(**json.loads(content))


def _last_line(content: bytes) -> bytes:
    return f"\n{crc32(content)}".encode()
