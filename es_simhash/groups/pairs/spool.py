"""Spools of data: in memory while they are small, in temporary files when they grow.

The files have no name in any folder (or, on Windows, are deleted when closed), so they vanish with the process, however
it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from os import SEEK_END
from pathlib import Path
from tempfile import SpooledTemporaryFile, gettempdir
from threading import Lock
from types import TracebackType
from typing import IO, Any, BinaryIO
from weakref import finalize

import numpy.typing as npt

from es_simhash.errors import InputError, StorageError
from es_simhash.groups.pairs.stages import Stages

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
