"""Errors of the system and of the tantivy library, as ours with a remedy.

The library reports them in its own words, as a ValueError; a system error has its number among them.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from es_simhash.errors import EngineError, EsSimhashError, IndexStateError, WritesLostError

_NUMBER = re.compile(r"\bcode: (\d+), kind:|\(os error (\d+)\)")
# The library's bindings raise this on a panic; it cannot be imported.
_PANIC = ("pyo3_runtime", "PanicException")

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM)
_FORBIDDEN = (errno.EROFS, *_NOT_ALLOWED)
_TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)

_ALLOW_FILES = "Allow more open files (ulimit -n), or close indices that are not in use"
_CHECK = (
    "es-simhash info --check names the files that are damaged. Restore the index from a copy, "
    "or delete its directory and load the documents again."
)


def number_of(error: BaseException) -> int | None:
    """Return the system's number of an error (see `errno`); None if it is not the system's."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    found = _NUMBER.search(str(error))
    return int(found[1] or found[2]) if found else None


def is_forbidden(error: BaseException) -> bool:
    """Return whether a write failed for lack of permission, or on a read-only file system."""
    return number_of(error) in _FORBIDDEN


def is_failure(error: BaseException) -> bool:
    """Return whether an error comes from the system or the library, not from us."""
    if isinstance(error, EsSimhashError):
        return False
    return isinstance(error, ValueError | OSError) or (type(error).__module__, type(error).__name__) == _PANIC


def unreadable(directory: Path, error: BaseException) -> EngineError:
    """Return the error for an index that cannot be read."""
    match number_of(error):
        case number if number in _NOT_ALLOWED:
            remedy = "Let this user read the directory and all files in it."
        case number if number in _TOO_MANY_FILES:
            remedy = f"{_ALLOW_FILES}. The index itself is as it was."
        case _:
            remedy = _CHECK
    return IndexStateError(f"The index in {str(directory)!r} cannot be read: {_reason(error)}. {remedy}")


def unwritable(directory: Path, error: BaseException, lost: int = 0) -> EngineError:
    """Return the error for an index that cannot be written; ``lost`` is the number of reported changes not in it."""
    match number_of(error):
        case number if number in _FULL:
            remedy = "Make room on its disk"
        case number if number in _NOT_ALLOWED:
            remedy = "Write as a user who may, or write to a copy of the directory"
        case errno.EROFS:
            remedy = "Write to a copy of the directory on another file system"
        case number if number in _TOO_MANY_FILES:
            remedy = _ALLOW_FILES
        case errno.ENOTDIR:
            remedy = "Name a directory"
        case _:
            remedy = "Check its disk space and the permissions of its files"
    problem = f"The index in {str(directory)!r} cannot be written: {_reason(error)}."
    if not lost:
        return IndexStateError(f"{problem} {remedy}, and try again.")
    changes = "change that was reported as written is" if lost == 1 else "changes that were reported as written are"
    return WritesLostError(f"{problem} {lost:,} {changes} not in it. {remedy}, and write them again.", lost)


def _reason(error: BaseException) -> str:
    number = number_of(error)
    return os.strerror(number) if number else str(error).rstrip(".")
