"""Stages of a job, kept in a directory, so that a job that was killed goes on with the stage that it was in.

The directory has a file for each kept spool, ``NAME.spool``, to which stages append rows of a fixed width, and
``stages.json``:

    {"of": …, "sizes": {"pairs.spool": 4800, …}, "notes": {"keys": …, …}, "digest": "…"}

``of`` says what the job is done with; ``sizes`` are those of the files, in bytes, when the last stage ended; ``notes``
is what else stages leave; ``digest`` is the SHA-256 of all before it, so that nothing else is taken for a manifest.

- A stage ends with a new ``stages.json``, which takes the old one's place at once, when all that it counts is on disk.
- What a file has beyond its size is of a stage that did not end, and is cut off when the file is opened.
- What is of another job is deleted.
- The directory is locked, so that no two jobs write to it.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from es_simhash._core.json_codec import parse_json
from es_simhash._core.json_paths import Json
from es_simhash.engines.embedded.storage.writer_claim import Claim
from es_simhash.errors import InputError, InUseError, StorageError

_MANIFEST, _SPOOL = "stages.json", ".spool"
_DIGEST = b', "digest": "'


class Stages:
    """The stages of a job, none of them kept."""

    is_kept = False

    def note(self, stage: str) -> Any:
        """Return what a stage left, or None if it did not end."""
        return None

    def end(self, stage: str, note: Json) -> None:
        """End a stage, or some part of one, with what it leaves beside its files."""

    def file(self, name: str) -> BinaryIO | None:
        """Open the file of a spool as the last stage left it, to append to it; None if nothing is kept."""
        return None

    def remove(self) -> None:
        """Delete what is kept; open files can be read until they are closed."""

    def close(self) -> None:
        """Let other jobs have what is kept."""


class KeptStages(Stages):
    """The stages of a job, kept in a directory that no other job may use until they are closed."""

    is_kept = True

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[str, BinaryIO] = {}
        self._kept: Json = {}
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._claim = Claim(directory)
        except OSError as error:
            raise self._failed(error) from error
        if self._claim.is_refused:
            raise InUseError(f"Another job keeps its stages in {directory}. Wait until it ends, or name another one.")

    def begin(self, of: Json, *, anew: bool = True) -> None:
        """Go on with the job that ``of`` describes: what it is done with, and with what settings.

        What is of another job is deleted to begin ``anew``; else it is an error.
        """
        try:
            found = self._found()
            if found and found["of"] != of and not anew:
                raise InputError(
                    f"{self._directory} keeps the stages of a job with other documents or options. "
                    "Give the same ones to go on with it; else delete that directory, or name another one."
                )
            if not found or found["of"] != of:
                self._clear()
                found = {"of": of, "sizes": {}, "notes": {}}
            self._kept = found
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
        """End a stage, or some part of one, with what it leaves beside its files."""
        notes = {**self._kept["notes"], stage: note}
        try:
            self._kept = {**self._kept, "notes": notes, "sizes": {**self._kept["sizes"], **self._sizes()}}
            unfinished = self._manifest.with_suffix(".unfinished")
            with unfinished.open("wb") as file:
                file.write(_signed(json.dumps(self._kept).encode()))
                _to_disk(file)
            os.replace(unfinished, self._manifest)
        except OSError as error:
            raise self._failed(error) from error

    def remove(self) -> None:
        """Delete what is kept; open files can be read until they are closed."""
        with suppress(OSError):
            self._clear()
        self.close()

    def close(self) -> None:
        """Let other jobs have the directory, which is deleted if nothing was kept."""
        with suppress(OSError):
            self._directory.rmdir()
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
            _to_disk(file)
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
            f"{path} is not as a job of ours left it, so none can go on with it. "
            f"Delete {self._directory} to begin anew, or name another directory."
        )


def _signed(manifest: bytes) -> bytes:
    """Add the digest of a manifest as its last member."""
    return manifest[:-1] + _DIGEST + sha256(manifest).hexdigest().encode() + b'"}'


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
