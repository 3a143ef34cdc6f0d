"""Looking for cyclic garbage less often, while a job makes and drops many objects that are in no cycle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# Python looks after 700 new objects by default: a tenth of the time of a job that has thousands on their way.
_NEW_OBJECTS = 50_000


class _Jobs:
    """The number of jobs that run, and the thresholds before the first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0
        self._before = gc.get_threshold()

    def begin(self) -> None:
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._before = gc.get_threshold()
                # A threshold of 0 stands for never.
                if 0 < self._before[0] < _NEW_OBJECTS:
                    gc.set_threshold(_NEW_OBJECTS, *self._before[1:])

    def end(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                gc.set_threshold(*self._before)


_JOBS = _Jobs()


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let Python look for cyclic garbage rarely within the block; a caller that looks even less often is left alone."""
    _JOBS.begin()
    try:
        yield
    finally:
        _JOBS.end()
