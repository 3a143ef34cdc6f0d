"""How a run ends, and what it then says."""

from __future__ import annotations

import errno

import click
import pytest

from es_simhash.cli.show import exits
from es_simhash.cli.show.exits import Interrupted, code_of, saying_if_interrupted
from es_simhash.errors import EngineError, InputError, StorageError, UnreachableError


def aborted(cause: BaseException) -> click.Abort:
    """What click makes of an interruption."""
    abort = click.Abort()
    abort.__cause__ = cause
    return abort


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), exits.INTERRUPTED, "Interrupted. Nothing was changed."),
        (aborted(KeyboardInterrupt()), exits.INTERRUPTED, "Interrupted. Nothing was changed."),
        (Interrupted("Half is done."), exits.INTERRUPTED, "Interrupted. Half is done."),
        (aborted(Interrupted("Half is done.")), exits.INTERRUPTED, "Interrupted. Half is done."),
        (EngineError("Refused. Ask."), exits.REFUSED, "Error: Refused. Ask."),
        (UnreachableError("Away. Look."), exits.LATER, "Error: Away. Look."),
        (InputError("No text. Give one."), exits.USAGE, "Error: No text. Give one."),
        (StorageError("It is full. Make room."), exits.USAGE, "Error: It is full. Make room."),
        (OSError(errno.ENOSPC, "No space left"), exits.USAGE, "Error: The system: No space left. Make room, or"),
        (OSError(errno.ENOENT, "Not there", "a"), exits.USAGE, "Error: a: Not there. Check the path and"),
        (OSError(errno.EMFILE, "Too many"), exits.USAGE, "Error: The system: Too many. Allow more open files"),
        (BrokenPipeError(), exits.FINE, ""),
        (SystemExit(1), exits.FINE, ""),
        (ZeroDivisionError("x"), exits.SOME_FAILED, "Error: ZeroDivisionError: x. This is a bug. Run it with --debug"),
    ],
)
def test_an_error_has_a_code_and_a_paragraph(
    error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(error, debug=False) == code
    said = capsys.readouterr().err
    assert said.startswith(message)
    assert bool(said) == bool(message)


def test_the_innermost_says_what_was_done() -> None:
    with (
        pytest.raises(Interrupted, match="inner"),
        saying_if_interrupted(lambda: "outer"),
        saying_if_interrupted(lambda: "inner"),
    ):
        raise KeyboardInterrupt


def test_other_errors_are_left_alone() -> None:
    with pytest.raises(ZeroDivisionError), saying_if_interrupted(lambda: "no"):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("failed", "may_pass", "code"),
    [(0, 0, exits.FINE), (3, 0, exits.SOME_FAILED), (3, 2, exits.SOME_FAILED), (3, 3, exits.LATER)],
)
def test_a_run_is_worth_running_again_where_all_that_failed_may_pass(failed: int, may_pass: int, code: int) -> None:
    assert exits.after(failed, may_pass) == code
