"""A file of what was rejected, to be corrected and loaded again."""

from __future__ import annotations

import json
from os import PathLike
from types import TracebackType
from typing import IO

from es_simhash.documents.rejected import Rejected


class RejectFile:
    """Appends rejections to a file of JSON lines, each with its place and reason, and counts them.

        with RejectFile("rejected.jsonl") as rejects:
            for found in read_documents(paths, on_reject=rejects):
                ...

    The file is made with the first rejection, so that there is none when all went well.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path
        self.count = 0
        self._file: IO[str] | None = None

    def __call__(self, rejected: Rejected) -> None:
        """Append a rejection."""
        if self._file is None:
            # By the line, so that nothing is lost should the process be killed. A lone surrogate, as in the name of a
            # file, becomes its escape, which is right in JSON too.
            self._file = open(self.path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
        self._file.write(json.dumps(rejected.as_json(), ensure_ascii=False) + "\n")
        self.count += 1

    def __enter__(self) -> RejectFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
