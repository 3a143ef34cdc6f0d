"""Stages of a job, kept in a directory, so that a job that was killed goes on with the stage that it was in.

The directory has a file for each kept spool, ``NAME.spool``, to which stages append rows of a fixed width, and
``stages.json``:

    {"of": …, "sizes": {"pairs.spool": 4800, …}, "notes": {"keys": …, …}}

``of`` says what the job is done with; ``sizes`` are those of the files, in bytes, when the last stage ended; ``notes``
is what else stages leave.

- A stage ends with a new ``stages.json``, which takes the old one's place at once, when all that it counts is on disk.
- What a file has beyond its size is of a stage that did not end, and is cut off when the file is opened.
- What is of another job is deleted.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from es_simhash._core.json_paths import Json
from es_simhash.errors import InputError, StorageError

_MANIFEST, _SPOOL = "stages.json", ".spool"


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


class KeptStages(Stages):
    """The stages of a job, kept in a directory; ``of`` says what the job is done with, and with what settings.

    Those of another job are deleted, unless nothing ``begins_anew``: then they are an error.
    """

    is_kept = True

    def __init__(self, directory: Path, of: Json, *, begins_anew: bool = True) -> None:
        self._directory = directory
        self._files: dict[str, BinaryIO] = {}
        self._kept: Json = {"of": of, "sizes": {}, "notes": {}}
        try:
            directory.mkdir(parents=True, exist_ok=True)
            there = self._manifest.read_bytes() if self._manifest.exists() else b"{}"
            if (found := json.loads(there)) and found["of"] == of:
                self._kept = found
            elif found and not begins_anew:
                raise InputError(
                    f"{directory} keeps the stages of a job with other documents or options. "
                    "Give the same ones to go on with it; else delete that directory, or name another one."
                )
            else:
                self._clear()
        except InputError:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._failed(error) from error

    def note(self, stage: str) -> Any:
        """Return what a stage left, or None if it did not end."""
        return self._kept["notes"].get(stage)

    def file(self, name: str) -> BinaryIO:
        """Open the file of a spool as the last stage left it, to append to it."""
        try:
            path = self._directory / (name + _SPOOL)
            file = self._files[path.name] = path.open("r+b" if path.exists() else "w+b")
            file.truncate(self._kept["sizes"].get(path.name, 0))
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
                file.write(json.dumps(self._kept).encode())
                _to_disk(file)
            os.replace(unfinished, self._manifest)
        except OSError as error:
            raise self._failed(error) from error

    def remove(self) -> None:
        """Delete what is kept; open files can be read until they are closed."""
        with suppress(OSError):
            self._clear()
            self._directory.rmdir()

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

    def _failed(self, error: Exception) -> StorageError:
        reason = error.strerror if isinstance(error, OSError) else "stages.json is of no job of ours"
        return StorageError(
            f"Stages of this job cannot be kept in {self._directory}: {reason}. "
            "Name a directory with enough room that only this job uses, or do without."
        )


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
