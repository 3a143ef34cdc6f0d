"""How a run ends: its exit code, and the one paragraph that says what went wrong and what to do."""

from __future__ import annotations

import sys
import traceback

import click

FINE = 0
SOME_FAILED = 1
USAGE = 2
REFUSED = 3
INTERRUPTED = 130


def code_of(error: BaseException, *, debug: bool) -> int:
    """The exit code of an exception, which is told on standard error."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.exceptions.Abort | KeyboardInterrupt):
        tell("Interrupted. What was done until then stays as it is.")
        return INTERRUPTED
    if debug:
        traceback.print_exception(error)
    code, message = _told(error)
    if message:
        tell(message)
    return code


def _told(error: BaseException) -> tuple[int, str]:
    # Errors are loaded only where there is one.
    from es_simhash.errors import EngineError, EsSimhashError

    match error:
        case click.ClickException():
            error.show()
            return error.exit_code, ""
        case EsSimhashError():
            return (REFUSED if isinstance(error, EngineError) else USAGE), f"Error: {error}"
        case BrokenPipeError():  # the reader has seen enough, as `head` does
            return FINE, ""
        case OSError():
            where = error.filename or "The system"
            return USAGE, f"Error: {where}: {error.strerror}. Check the path and its permissions."
    return SOME_FAILED, f"Error: {type(error).__name__}: {error}. This should not happen; --debug shows where."


def tell(message: str) -> None:
    """Print a message on standard error."""
    print(message, file=sys.stderr, flush=True)
