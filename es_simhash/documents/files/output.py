"""Files that are written: rejects, to be corrected and loaded again; and files written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from types import TracebackType
from typing import IO

from es_simhash._core.rows import json_record
from es_simhash.documents.rejected import Rejected


class RejectFile:
    """Appends rejections to a file of JSON lines, each with its place and reason, and counts them.

    ``may_pass`` counts those that may not be rejected the next time.

        with RejectFile("rejected.jsonl") as rejects:
            for found in read_documents(paths, on_reject=rejects):
                ...

    The file is created with the first rejection, so there is none if all went well.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path
        self.count = self.may_pass = 0
        self._file: IO[str] | None = None

    def __call__(self, rejected: Rejected) -> None:
        """Append a rejection."""
        if self._file is None:
            # By the line, so that nothing is lost should the process be killed. A lone surrogate, as in the name of a
            # file, becomes its escape, which is right in JSON too.
            self._file = open(self.path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
        self._file.write(json_record(rejected))
        self.count += 1
        self.may_pass += rejected.may_pass

    def __enter__(self) -> RejectFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


@contextmanager
def whole_file(path: str) -> Iterator[IO[str]]:
    """Open a text file that appears at its path, replacing one there before, once it is written whole.

    Until then it is written next to its path, and removed after a failure. A path that is not a regular file, such
    as a pipe or ``/dev/stdout``, is written to directly.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8", newline="") as out:
            yield out
        return
    place = os.path.realpath(path)  # a link stays one
    partial = f"{place}.{os.getpid()}.part"
    try:
        out = open(partial, "x", encoding="utf-8", newline="")  # noqa: SIM115 - it is closed below
    except OSError as error:
        error.filename = path
        raise
    try:
        with out:
            yield out
        if os.path.exists(place):
            shutil.copymode(place, partial)
        os.replace(partial, place)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(partial)
        raise
