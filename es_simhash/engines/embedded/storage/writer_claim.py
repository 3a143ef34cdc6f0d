"""By what other processes can see that one has an index open for writing, even where nothing can be written.

It is a lock on the directory itself, which ends with the process. Where there are no such locks (on Windows, on some
network file systems) nobody is seen to write, and an index that is being written is checked as after a crash.
"""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]


class Claim:
    """A claim on a directory, which lasts until it is given up."""

    def __init__(self, directory: Path) -> None:
        self._descriptor: int | None = None
        if fcntl is None:
            return
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._descriptor = descriptor
        except OSError:
            # Somebody looks at this very moment, or there are no such locks.
            os.close(descriptor)

    def give_up(self) -> None:
        """Let go of it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_claimed(directory: Path) -> bool:
    """Whether somebody has a claim on a directory."""
    if fcntl is None:
        return False
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
