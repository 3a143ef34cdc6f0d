"""Durable files, replaced atomically and safe from power cuts; and directories that one process claims.

A claim is a lock on the directory, which ends with the process. Without such locks (on Windows, on some network file
systems) no claim is seen: an index being written is then checked as after a crash.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]


def replace(path: Path, content: bytes) -> None:
    """Replace a file atomically: even after a power cut it is either the old one or the new one."""
    new = path.with_suffix(".new")
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        # On a full disk, the partial file would take up the remaining space.
        new.unlink(missing_ok=True)
        raise
    sync_names(path.parent)


def sync_names(directory: Path) -> None:
    """Make the names of a directory's files durable; on Windows they are already."""
    if os.name == "nt":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def share(paths: list[Path], like: Path) -> None:
    """Give files the permissions of another, so that the same users can read them."""
    try:
        mode = stat.S_IMODE(like.stat().st_mode)
        for path in paths:
            if stat.S_IMODE(path.stat().st_mode) != mode:
                path.chmod(mode)
    except (FileNotFoundError, PermissionError):
        # The files may belong to another user, who decides on sharing them.
        return


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
