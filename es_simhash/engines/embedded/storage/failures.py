"""What the system and the tantivy library say went wrong, as our errors, with what helps against it.

The library says it in its own words, as a ValueError; a failure of the system has its number among them.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from es_simhash.errors import EngineError, EsSimhashError, IndexStateError, WritesLostError

_NUMBER = re.compile(r"\bcode: (\d+), kind:|\(os error (\d+)\)")
# What the library's bindings raise where it meets something that it took to be impossible; it cannot be imported.
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
    """The number that the system gives to what went wrong (see `errno`); None if it was not the system."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    found = _NUMBER.search(str(error))
    return int(found[1] or found[2]) if found else None


def is_forbidden(error: BaseException) -> bool:
    """Whether something cannot be written because this user may not, or nobody may."""
    return number_of(error) in _FORBIDDEN


def is_failure(error: BaseException) -> bool:
    """Whether the system or the library failed, and it is no error of ours."""
    if isinstance(error, EsSimhashError):
        return False
    return isinstance(error, ValueError | OSError) or (type(error).__module__, type(error).__name__) == _PANIC


def unreadable(directory: Path, error: BaseException) -> EngineError:
    """The error for an index that cannot be read."""
    match number_of(error):
        case number if number in _NOT_ALLOWED:
            remedy = "See that this user may read the directory and all files in it."
        case number if number in _TOO_MANY_FILES:
            remedy = f"{_ALLOW_FILES}. The index itself is as it was."
        case _:
            remedy = _CHECK
    return IndexStateError(f"The index in {str(directory)!r} cannot be read: {_reason(error)}. {remedy}")


def unwritable(directory: Path, error: BaseException, lost: int = 0) -> EngineError:
    """The error for an index that cannot be written; ``lost`` is how many changes were reported and are not there."""
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
            remedy = "See that there is room on its disk and that its files may be written"
    problem = f"The index in {str(directory)!r} cannot be written: {_reason(error)}."
    if not lost:
        return IndexStateError(f"{problem} {remedy}, and try again.")
    changes = "change that was reported as written is" if lost == 1 else "changes that were reported as written are"
    return WritesLostError(f"{problem} {lost:,} {changes} not in it. {remedy}, and write them again.", lost)


def _reason(error: BaseException) -> str:
    number = number_of(error)
    return os.strerror(number) if number else str(error).rstrip(".")
