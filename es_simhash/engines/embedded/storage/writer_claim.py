"""The claim of a writer: other processes see that an index is open for writing, even where they cannot write.

It is a lock on the directory, which ends with the process. Without such locks (on Windows, on some network file
systems) no writer is seen, and an index being written is checked as after a crash.
"""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]


class Claim:
    """A claim on a directory, until it is released; it ``is_refused`` if another one has it."""

    def __init__(self, directory: Path) -> None:
        self._descriptor: int | None = None
        self.is_refused = False
        if fcntl is None:
            return
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._descriptor = descriptor
        except OSError as error:
            # Another process is checking right now, or there are no such locks.
            self.is_refused = isinstance(error, BlockingIOError)
            os.close(descriptor)

    def give_up(self) -> None:
        """Release the claim."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_claimed(directory: Path) -> bool:
    """Return whether a process has a claim on a directory."""
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
