"""Spools of data: in memory while they are small, in temporary files when they grow; and those that are kept.

The files have no name in any folder (or, on Windows, are deleted when closed), so they vanish with the process, however
it ends. Kept spools are the stages of a job in a directory, so that a job that was killed goes on with the stage that
it was in. It has a file for each, ``NAME.spool``, to which stages append rows of a fixed width, and ``stages.json``:

    {"of": …, "made": 2, "sizes": {"pairs.spool": 4800, …}, "notes": {"keys": …, …}, "digest": "…"}

``of`` says what the job is done with; ``made``, how many of the directory and those around it did not exist before;
``sizes`` are those of the files, in bytes, when the last stage ended; ``notes`` is what else stages leave; ``digest``
is the SHA-256 of all before it, so that nothing else is taken for a manifest.

- A stage ends with a new ``stages.json``, which takes the old one's place at once, when all that it counts is on disk.
- What a file has beyond its size is of a stage that did not end, and is cut off when the file is opened.
- Files of another job are deleted.
- The directory is locked, so that no two jobs write to it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from os import SEEK_END
from pathlib import Path
from tempfile import SpooledTemporaryFile, gettempdir
from threading import Lock
from typing import IO, Any, BinaryIO
from weakref import finalize

import numpy.typing as npt

from es_simhash._core.json_codec import Json, parse_json
from es_simhash.engines.embedded import durable_files
from es_simhash.engines.embedded.durable_files import Claim
from es_simhash.errors import InputError, InUseError, StorageError

# Each spool may have this share of the memory of a job.
_SHARE = 32


class Spools:
    """A set of spools, each with up to ``limit`` bytes in memory, and the rest in files of ``directory``.

    Those that have a name are files of ``stages``, if these are kept. Those that nobody has closed are closed when
    nobody holds them any longer.
    """

    def __init__(self, limit: int, directory: str | Path | None = None, stages: Stages | None = None) -> None:
        self.limit = limit
        self.stages = stages or Stages()
        self._directory = str(directory) if directory is not None else gettempdir()
        self._files: list[Spool] = []
        self._free = finalize(self, _close, self._files)
        self.is_closed = False

    @classmethod
    def within(cls, memory: int, directory: str | Path | None = None) -> Spools:
        """Return spools that take a part of the memory of a job, which has at most nine of them."""
        return cls(memory // _SHARE, directory)

    def spool(self, name: str | None = None) -> Spool:
        """Make a new, empty spool; or open the kept one of this name."""
        kept = self.stages.file(name) if name else None
        self._files.append(Spool(self.limit, self._directory, kept))
        return self._files[-1]

    def check_open(self) -> None:
        """Raise an `InputError` if all is freed."""
        if self.is_closed:
            raise InputError("The result is closed, and what it held is deleted. Use it before you close it.")

    def __enter__(self) -> Spools:
        """Return the spools, to be closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory and the disk space of all spools, and let other jobs have the kept stages."""
        self.is_closed = True
        self._free()
        self.stages.close()


class Spool:
    """Bytes that are appended, and read from any place, also by several threads."""

    def __init__(self, limit: int, directory: str, kept: BinaryIO | None = None) -> None:
        self._lock = Lock()
        self._directory = directory
        self._file: IO[bytes] = kept or SpooledTemporaryFile(limit, dir=directory)  # noqa: SIM115 - a Spools closes it
        self._size = kept.seek(0, SEEK_END) if kept else 0

    def __len__(self) -> int:
        """Return the number of bytes."""
        return self._size

    def write(self, data: bytes | memoryview | npt.NDArray[Any]) -> None:
        """Append ``data``; an array must be contiguous."""
        with self._lock:
            try:
                self._file.seek(self._size)
                self._file.write(data)
            except OSError as error:
                raise self._failed(error) from error
            self._size += memoryview(data).nbytes

    def read(self, start: int, size: int) -> bytes:
        """Read ``size`` bytes from ``start`` on, or as many as there are."""
        with self._lock:
            try:
                self._file.seek(start)  # seeking flushes the buffer
                return self._file.read(size)
            except OSError as error:
                raise self._failed(error) from error

    def close(self) -> None:
        """Free the memory and the disk space."""
        # Data that can no longer be written is no longer needed.
        with suppress(OSError):
            self._file.close()

    def _failed(self, error: OSError) -> StorageError:
        return StorageError(
            f"Temporary files cannot be written to {self._directory}, or read there: {error.strerror}. "
            "Name a directory with enough room (or set TMPDIR), or allow more memory."
        )


def _close(files: Sequence[Spool]) -> None:
    for spool in files:
        spool.close()


_MANIFEST, _SPOOL = "stages.json", ".spool"
_DIGEST = b', "digest": "'


class Stages:
    """The stages of a job, none of them kept."""

    is_kept = is_resumed = False

    def note(self, stage: str) -> Any:
        """Return what a stage left, or None if it did not end."""
        return None

    def end(self, stage: str, note: Json) -> None:
        """End a stage, or some part of one, with what it leaves in addition to its files."""

    def file(self, name: str) -> BinaryIO | None:
        """Open the file of a spool as the last stage left it, to append to it; None if nothing is kept."""
        return None

    def remove(self) -> None:
        """Delete what is kept; open files can be read until they are closed."""

    def close(self) -> None:
        """Let other jobs have what is kept."""


class KeptStages(Stages):
    """The stages of a job, kept in a directory that no other job may use until they are closed.

    The job ``is_resumed`` if an earlier run left stages of it.
    """

    is_kept = True

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[str, BinaryIO] = {}
        self._kept: Json = {}
        self._is_closed = False
        try:
            self._made = max(1, sum(not each.exists() for each in (directory, *directory.parents)))
            directory.mkdir(parents=True, exist_ok=True)
            self._claim = Claim(directory)
        except OSError as error:
            raise self._failed(error) from error
        if self._claim.is_refused:
            raise InUseError(f"Another job keeps its stages in {directory}. Wait until it ends, or name another one.")

    def begin(self, of: Json, *, restart: bool = True) -> Json:
        """Go on with the job that ``of`` describes: what it is done with, and with what settings.

        Files of another job are deleted to ``restart``, and the notes of its stages returned; else they are an error.
        """
        try:
            found = self._found()
            if found and found["of"] != of and not restart:
                raise InputError(
                    f"{self._directory} keeps the stages of a job with other documents or options. "
                    "Give the same ones to go on with it; else delete that directory, or name another one."
                )
            self._made = max(self._made, found.get("made", 0))
            if found.get("of") == of:
                self._kept, self.is_resumed = found, bool(found["notes"])
                return {}
            self._clear()
            self._keep({"of": of, "made": self._made, "sizes": {}, "notes": {}})
            return dict(found.get("notes", {}))
        except OSError as error:
            raise self._failed(error) from error

    def note(self, stage: str) -> Any:
        """Return what a stage left, or None if it did not end."""
        return self._kept["notes"].get(stage)

    def file(self, name: str) -> BinaryIO:
        """Open the file of a spool as the last stage left it, to append to it."""
        try:
            path = self._directory / (name + _SPOOL)
            file = self._files[path.name] = path.open("r+b" if path.exists() else "w+b")
            size = self._kept["sizes"].get(path.name, 0)
            if os.fstat(file.fileno()).st_size < size:
                file.close()
                raise self._damaged(path)
            file.truncate(size)
        except OSError as error:
            raise self._failed(error) from error
        return file

    def end(self, stage: str, note: Json) -> None:
        """End a stage, or some part of one, with what it leaves in addition to its files."""
        notes = {**self._kept["notes"], stage: note}
        try:
            self._keep({**self._kept, "notes": notes, "sizes": {**self._kept["sizes"], **self._sizes()}})
        except OSError as error:
            raise self._failed(error) from error

    def remove(self) -> None:
        """Delete what is kept; open files can be read until they are closed."""
        if self._is_closed:  # another job may have the directory
            return
        with suppress(OSError):
            self._clear()
        self.close()

    def close(self) -> None:
        """Let other jobs have the directory; if nothing was kept, it is deleted, and so are those made around it."""
        with suppress(OSError):
            if self._made and self._kept and not self._kept["notes"]:
                self._clear()
            for each in (self._directory, *self._directory.parents)[: self._made]:
                each.rmdir()
        self._made, self._is_closed = 0, True
        self._claim.give_up()

    def _found(self) -> Json:
        """Return what the manifest holds; nothing if there is none."""
        if not self._manifest.exists():
            return {}
        there = self._manifest.read_bytes()
        own = there[: there.rfind(_DIGEST)] + b"}"
        if there != _signed(own):
            raise self._damaged(self._manifest)
        found: Json = parse_json(own)
        return found

    def _keep(self, manifest: Json) -> None:
        durable_files.replace(self._manifest, _signed(json.dumps(manifest).encode()))
        self._kept = manifest

    def _clear(self) -> None:
        for path in (self._manifest, *self._directory.glob("*" + _SPOOL)):
            path.unlink(missing_ok=True)

    @property
    def _manifest(self) -> Path:
        return self._directory / _MANIFEST

    def _sizes(self) -> dict[str, int]:
        """Bring the open files to the disk, and return their sizes."""
        files = {name: file for name, file in self._files.items() if not file.closed}
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())
        return {name: os.fstat(file.fileno()).st_size for name, file in files.items()}

    def _failed(self, error: OSError) -> StorageError:
        if isinstance(error, StorageError):
            return error
        return StorageError(
            f"Stages of this job cannot be kept in {self._directory}: {error.strerror}. "
            "Name a directory with enough room that only this job uses, or do without."
        )

    def _damaged(self, path: Path) -> StorageError:
        return StorageError(
            f"{path} is damaged, or of another program, so no job can resume from it. "
            f"Delete {self._directory} to start over, or name another directory."
        )


def _signed(manifest: bytes) -> bytes:
    """Add the digest of a manifest as its last member."""
    return manifest[:-1] + _DIGEST + sha256(manifest).hexdigest().encode() + b'"}'
