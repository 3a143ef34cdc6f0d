"""Files that are written wholly or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


@contextmanager
def whole_file(path: str) -> Iterator[IO[str]]:
    """A file of text that takes its place, and that of a file there before, once all of it is written.

    Until then it lies beside its place, and it is removed when something goes wrong. What is there but is no file,
    such as a pipe or ``/dev/stdout``, is written to as it is.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8", newline="") as out:
            yield out
        return
    place = os.path.realpath(path)  # a link stays one
    beside = f"{place}.{os.getpid()}.part"
    try:
        out = open(beside, "x", encoding="utf-8", newline="")  # noqa: SIM115 - it is closed below
    except OSError as error:
        error.filename = path
        raise
    try:
        with out:
            yield out
        if os.path.exists(place):
            shutil.copymode(place, beside)
        os.replace(beside, place)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(beside)
        raise
