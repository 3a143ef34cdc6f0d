"""Exit codes, and the paragraph that says what went wrong and what to do."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from es_simhash._core.harmless import json_text, printable
from es_simhash.cli.show import log

FINE = 0
SOME_FAILED = 1
USAGE = 2
LATER = 3
REFUSED = 4
INTERRUPTED = 130

MEANINGS = {
    FINE: "fine",
    SOME_FAILED: "some items failed",
    USAGE: "wrong usage or input",
    LATER: "a temporary problem: run it again later",
    REFUSED: "refused: a person must act",
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


def code_of(error: BaseException, *, debug: bool, as_json: bool = False) -> int:
    """Print an exception on standard error, and return its exit code."""
    code, message = described(error)
    if not message:
        return code
    trace = {"traceback": "".join(traceback.format_exception(error))} if debug and code != INTERRUPTED else {}
    if log.is_json():
        event: log.Event = "interrupted" if code == INTERRUPTED else "error"
        known = {} if code == INTERRUPTED else {"error_type": type(error).__name__}
        log.write("error", event, message, **known, **trace)
    elif as_json:
        log.print_stderr(json_text({"error": message, "code": code, **trace}))
    else:
        for each in trace.values():
            log.print_stderr(printable(each.rstrip()))
        if isinstance(error, click.ClickException):
            error.show()
        else:
            log.write("error", "error", message if code == INTERRUPTED else f"Error: {message}")
    return code


def described(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an exception, and what is said of it."""
    # Errors are imported only if there is one.
    from es_simhash.errors import EngineError, EsSimhashError

    match error:
        case click.exceptions.Exit():
            known = error.exit_code, ""
        case click.exceptions.Abort() | KeyboardInterrupt():
            known = INTERRUPTED, f"Interrupted. {_done_before(error)}"
        case click.ClickException():
            known = error.exit_code, error.format_message()
        case EsSimhashError() if error.may_pass:
            known = LATER, str(error)
        case EsSimhashError():
            known = REFUSED if isinstance(error, EngineError) else USAGE, str(error)
        case BrokenPipeError() | SystemExit():  # the reader has seen enough, as `head` does; what click makes of it
            known = FINE, ""
        case OSError():
            known = USAGE, f"{error.filename or 'The system'}: {error.strerror}. {_remedy(error)}"
        case _:
            known = SOME_FAILED, f"{type(error).__name__}: {error}. This is a bug. Run it with --debug, and report it."
    return known


def after(failed: int, may_pass: int) -> int:
    """Return the exit code of a run by the number of items that failed, and of those that may not the next time."""
    if not failed:
        return FINE
    return LATER if may_pass == failed else SOME_FAILED


def _done_before(interruption: BaseException) -> object:
    """Return what a command reports to have done before it was interrupted."""
    # Click makes an Abort of the interruption, which only newer versions name as its cause.
    causes = (interruption, interruption.__cause__, interruption.__context__)
    return next((each for each in causes if isinstance(each, Interrupted)), "Nothing was changed.")


def _remedy(error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return "Make room, or name a file on another disk."
        case errno.EMFILE | errno.ENFILE:
            return "Allow more open files: ulimit -n"
        case errno.EBADF:
            return "Open it, or name a file."
    return "Check the path and its permissions."
