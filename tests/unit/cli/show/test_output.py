"""How a run ends, and what it then says."""

from __future__ import annotations

import errno
from itertools import count

import click
import pytest

from es_simhash._core.batches import counting, counts_shown
from es_simhash.cli.show import output
from es_simhash.cli.show import output as module
from es_simhash.cli.show.output import Interrupted, Output, code_of, saying_if_interrupted
from es_simhash.errors import EngineError, InputError, StorageError, UnreachableError


def test_without_a_terminal_a_stage_says_every_ten_seconds_how_much_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = count(0, 5)
    monkeypatch.setattr(module, "monotonic", lambda: next(seconds))
    with counts_shown(Output().progress), counting("Sorting keys", 400, "keys") as advance:
        for done in (100, 200, 300):
            advance(done)
    assert capsys.readouterr().err.splitlines() == [
        "Sorting keys: 50% 200 keys, 20/s",
        "Sorting keys: 100% 400 keys, 20/s",
    ]


def test_a_quiet_run_shows_no_stage(capsys: pytest.CaptureFixture[str]) -> None:
    with counts_shown(Output(quiet=True).progress), counting("Sorting keys", 2, "keys") as advance:
        advance(1)
    assert capsys.readouterr() == ("", "")


def aborted(cause: BaseException) -> click.Abort:
    """What click makes of an interruption."""
    abort = click.Abort()
    abort.__cause__ = cause
    return abort


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), output.INTERRUPTED, "Interrupted. Nothing was changed."),
        (aborted(KeyboardInterrupt()), output.INTERRUPTED, "Interrupted. Nothing was changed."),
        (Interrupted("Half is done."), output.INTERRUPTED, "Interrupted. Half is done."),
        (aborted(Interrupted("Half is done.")), output.INTERRUPTED, "Interrupted. Half is done."),
        (EngineError("Refused. Ask."), output.REFUSED, "Error: Refused. Ask."),
        (UnreachableError("Away. Look."), output.LATER, "Error: Away. Look."),
        (InputError("No text. Give one."), output.USAGE, "Error: No text. Give one."),
        (StorageError("It is full. Make room."), output.USAGE, "Error: It is full. Make room."),
        (OSError(errno.ENOSPC, "No space left"), output.USAGE, "Error: The system: No space left. Make room, or"),
        (OSError(errno.ENOENT, "Not there", "a"), output.USAGE, "Error: a: Not there. Check the path and"),
        (OSError(errno.EMFILE, "Too many"), output.USAGE, "Error: The system: Too many. Allow more open files"),
        (BrokenPipeError(), output.FINE, ""),
        (SystemExit(1), output.FINE, ""),
        (ZeroDivisionError("x"), output.SOME_FAILED, "Error: ZeroDivisionError: x. This is a bug. Run it with --debug"),
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
    [(0, 0, output.FINE), (3, 0, output.SOME_FAILED), (3, 2, output.SOME_FAILED), (3, 3, output.LATER)],
)
def test_a_run_is_worth_running_again_where_all_that_failed_may_pass(failed: int, may_pass: int, code: int) -> None:
    assert output.after(failed, may_pass) == code
