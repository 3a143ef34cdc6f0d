"""Standard input, output and error, which may be closed, or whose reader may go away."""

from __future__ import annotations

import errno
import io
import os
import sys

from es_simhash.cli.show import log
from es_simhash.cli.show.exits import FINE, USAGE


class _Closed(io.RawIOBase):
    """A stand-in for a closed standard input: reading it is an error."""

    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise OSError(errno.EBADF, "It is closed", "Standard input")


def use() -> int:
    """Replace closed streams; return the exit code, which is an error without standard output.

    Messages for a closed standard error are dropped.
    """
    for number in range(3):
        _keep(number)
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BufferedReader(_Closed()))
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it is for the whole process
    if sys.stdout is None:
        log.write(
            "error",
            "error",
            "Error: Standard output is closed: nothing can be printed. Open it, or send it to /dev/null.",
        )
        return USAGE
    return FINE


def _keep(number: int) -> None:
    """Keep other files from getting the number of a closed stream, and its messages."""
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def flush() -> None:
    """Write out what is left, unless the reader has gone away (``| head``)."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
