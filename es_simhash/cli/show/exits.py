"""Exit codes, and the paragraph that says what went wrong and what to do."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

FINE = 0
SOME_FAILED = 1
USAGE = 2
REFUSED = 3
INTERRUPTED = 130

MEANINGS = {
    FINE: "fine",
    SOME_FAILED: "some items failed",
    USAGE: "usage",
    REFUSED: "the engine is unreachable or refused",
    INTERRUPTED: "interrupted",
}


class Interrupted(KeyboardInterrupt):
    """An interruption of a command that can report what was done until then."""


@contextmanager
def saying_if_interrupted(done: Callable[[], str]) -> Iterator[None]:
    """Report an interruption within the block by what ``done`` returns; the innermost block counts."""
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise Interrupted(done()) from None


def code_of(error: BaseException, *, debug: bool) -> int:
    """Print an exception on standard error, and return its exit code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.exceptions.Abort | KeyboardInterrupt):
        # Click makes an Abort of the interruption, which only newer versions name as its cause.
        causes = (error, error.__cause__, error.__context__)
        done = next((each for each in causes if isinstance(each, Interrupted)), "Nothing was changed.")
        print_stderr(f"Interrupted. {done}")
        return INTERRUPTED
    if debug:
        traceback.print_exception(error)
    code, message = _described(error)
    if message:
        print_stderr(message)
    return code


def _described(error: BaseException) -> tuple[int, str]:
    # Errors are imported only if there is one.
    from es_simhash.errors import EngineError, EsSimhashError

    match error:
        case click.ClickException():
            error.show()
            return error.exit_code, ""
        case EsSimhashError():
            return (REFUSED if isinstance(error, EngineError) else USAGE), f"Error: {error}"
        case BrokenPipeError():  # the reader has seen enough, as `head` does
            return FINE, ""
        case SystemExit():  # what click makes of it
            return FINE, ""
        case OSError():
            return USAGE, f"Error: {error.filename or 'The system'}: {error.strerror}. {_remedy(error)}"
    return SOME_FAILED, f"Error: {type(error).__name__}: {error}. This should not happen; --debug shows where."


def _remedy(error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return "Make room, or name a file on another disk."
        case errno.EMFILE | errno.ENFILE:
            return "Allow more open files: ulimit -n"
        case errno.EBADF:
            return "Open it, or name a file."
    return "Check the path and its permissions."


def print_stderr(message: str) -> None:
    """Print a message on standard error; ignore that its reader has gone away."""
    with suppress(BrokenPipeError):
        print(message, file=sys.stderr, flush=True)
