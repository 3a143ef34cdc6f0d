"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import IO


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
    partial = f"{place}.{token_hex(4)}.part"  # others may write there at the same time
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
