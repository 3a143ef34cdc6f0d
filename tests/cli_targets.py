"""Running commands for the tests of targets: in this process, in another, and with no settings but those given."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

import click
import pytest

from es_simhash.cli import exits
from es_simhash.cli.app import app
from es_simhash.cli.target import Target, target_options

_SETTING_VARIABLES = ("ES_SIMHASH_", "ELASTICSEARCH_", "OPENSEARCH_", "AWS_", "XDG_")


@dataclass(frozen=True)
class Run:
    """How a run ended, and what it showed."""

    code: int
    out: str
    err: str


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without settings, and these variables."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(_SETTING_VARIABLES)}
    return {**own, **variables}


@contextmanager
def only(variables: Mapping[str, str]) -> Iterator[None]:
    """Within it, no settings but these are in the environment."""
    with patch.dict(os.environ, environment(variables), clear=True):
        yield


def target_of(*arguments: str, **variables: str) -> Target:
    """The target that options and variables come to."""

    @click.command()
    @target_options
    def command(target: Target) -> Target:
        return target

    with only(variables):
        target = command.main(arguments, standalone_mode=False)
    assert isinstance(target, Target)
    return target


def refusal(*arguments: str, **variables: str) -> str:
    """What is said about options and variables that come to no target."""
    with pytest.raises(click.UsageError) as raised:
        target_of(*arguments, **variables)
    return raised.value.message


def process(*arguments: str, **variables: str) -> Run:
    """A command in a process of its own, without a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "es_simhash", *arguments],
        env=environment(variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def everything_shown(*arguments: str, **variables: str) -> str:
    """What a command shows with ``--debug``, what it logs, and what is in the exception that ends it."""
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
