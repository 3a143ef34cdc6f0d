"""Standard input, output and error, which may be closed, or end before all is written."""

from __future__ import annotations

import errno
import io
import os
import sys

from es_simhash.cli.show.exits import FINE, USAGE, tell


class _Closed(io.RawIOBase):
    """What is in the place of a standard input that is closed: reading it is an error."""

    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise OSError(errno.EBADF, "It is closed", "Standard input")


def use() -> int:
    """Stand in for the streams that are closed; return the exit code if nothing can be done without one.

    What would be said on a closed standard error is said to nobody.
    """
    for number in range(3):
        _keep(number)
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BufferedReader(_Closed()))
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it is for the whole process
    if sys.stdout is None:
        tell("Error: Standard output is closed: nothing can be shown. Open it, or send it to /dev/null.")
        return USAGE
    return FINE


def _keep(number: int) -> None:
    """See that no other file gets the number of a stream that is closed, and what is said there."""
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def flush() -> None:
    """Write out what is left; a reader that has gone away (``| head``) misses nothing."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
