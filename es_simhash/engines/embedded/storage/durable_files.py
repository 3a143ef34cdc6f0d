"""Files that are there whole, or not at all, whatever happens: replaced in one step, and durable from then on."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Write a file anew: after a power cut, too, it is the old one or the new one."""
    new = path.with_suffix(".new")
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        # On a full disk, what could not be written would take up the room that is left.
        new.unlink(missing_ok=True)
        raise
    sync_names(path.parent)


def sync_names(directory: Path) -> None:
    """Make durable which files a directory has; on Windows they are so already."""
    if os.name == "nt":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def share(paths: list[Path], like: Path) -> None:
    """Give files the permissions of another, so that whoever may read that one may read them."""
    try:
        mode = stat.S_IMODE(like.stat().st_mode)
        for path in paths:
            if stat.S_IMODE(path.stat().st_mode) != mode:
                path.chmod(mode)
    except (FileNotFoundError, PermissionError):
        # The files may be another user's, who shares them or not.
        return
