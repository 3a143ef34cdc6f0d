"""What options and variables come to, for the tests of targets, and what commands show of them."""

from __future__ import annotations

import io
import logging
from contextlib import redirect_stderr, redirect_stdout

import click
import pytest

from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.target import Target
from es_simhash.cli.program import app
from es_simhash.cli.show import output as exits
from es_simhash.cli.show.output import Output
from tests.support.commands import only


def target_of(*arguments: str, **variables: str) -> Target:
    """Return the target that options and variables name."""

    @click.command(cls=EngineVerb)
    def command(target: Target, prefix: str, output: Output) -> Target:
        return target

    with only(variables):
        target = command.main(arguments, standalone_mode=False)
    assert isinstance(target, Target)
    return target


def refusal(*arguments: str, **variables: str) -> str:
    """Return the error about options and variables that name no target."""
    with pytest.raises(click.UsageError) as raised:
        target_of(*arguments, **variables)
    return raised.value.message


def everything_shown(*arguments: str, **variables: str) -> str:
    """Return what a command shows with ``--debug``, what it logs, and what is in the exception that ends it."""
    shown = io.StringIO()
    handler = logging.StreamHandler(shown)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with only(variables), redirect_stdout(shown), redirect_stderr(shown):
            try:
                app.main(["--debug", *arguments], standalone_mode=False)
            except BaseException as error:
                exits.code_of(error, debug=True)
                shown.write(_reprs(error))
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    return shown.getvalue()


def _reprs(error: BaseException | None) -> str:
    texts = ""
    while error is not None:
        texts += f"\n{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__
    return texts
