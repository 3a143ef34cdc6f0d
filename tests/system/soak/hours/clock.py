"""A clock that jumps: programs under it are shown another time than the machine's own, from one call to the next.

It covers ``time.time`` in these processes, by which es_simhash and the clients go. The monotonic clock goes on, as in a
real jump; the server's clock stays as it is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PROGRAM = """
import sys, time
from es_simhash.cli.process import main

file, real = sys.argv.pop(1), time.time

def jumping():
    with open(file) as ahead:
        return real() + float(ahead.read())

time.time = jumping
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
