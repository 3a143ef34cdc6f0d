"""Durable files: replaced atomically, and safe from power cuts."""

from __future__ import annotations

import os
import stat
from pathlib import Path


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
