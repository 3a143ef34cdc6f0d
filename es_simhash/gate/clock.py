"""The time by which a gate forgets: that of the machine when the process began, and what has gone by since.

A wall clock that is set forward, as after a suspended machine wakes, would make a gate forget what it accepted a moment
before.
"""

from __future__ import annotations

import time

_BEGUN = time.time() - time.monotonic()


def now() -> float:
    """Return the seconds since 1970, which never jump within a process."""
    return _BEGUN + time.monotonic()
