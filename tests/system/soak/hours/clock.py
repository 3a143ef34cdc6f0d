"""A clock that jumps: programs under it are shown another time than the machine's own, from one call to the next.

It covers the wall clock as Python reads it in these processes, es_simhash's and the clients' code alike. The monotonic
clock goes on, as in a real jump; the server's clock stays as it is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PROGRAM = """
import datetime, sys, time
import numpy  # its compiled parts want the datetime that they know

file, real = sys.argv.pop(1), time.time

def shown():
    with open(file) as ahead:
        return real() + float(ahead.read())

class Told(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(shown(), tz)

time.time, time.time_ns, datetime.datetime = shown, lambda: int(shown() * 1e9), Told

from es_simhash.cli.process import main
main()
"""


class Clock:
    """The clock of some processes, which a file says how far ahead it is."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.jump(0)

    def jump(self, seconds: float) -> None:
        """Set it this far ahead of the machine's own clock, at once, also for processes that run."""
        part = self._file.with_suffix(".part")
        part.write_text(str(seconds))
        os.replace(part, self._file)

    @property
    def program(self) -> tuple[str, ...]:
        """What to run es_simhash by, under this clock; its arguments follow."""
        return (sys.executable, "-c", _PROGRAM, str(self._file))
