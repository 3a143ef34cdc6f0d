"""Running the command line: in this process, which has loaded it already, or in one of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from es_simhash.cli import process

_SETTING_VARIABLES = ("ES_SIMHASH_", "ELASTICSEARCH_", "OPENSEARCH_", "AWS_", "XDG_")


@dataclass(frozen=True)
class Run:
    """How a run ended, and what it showed."""

    code: int
    out: str
    err: str


def run(*arguments: str, cwd: Path | None = None, code: int | None = 0, stdin: str = "", **variables: str) -> Run:
    """Run a command here, with no settings but these variables; its exit code must be as expected, unless that is None.

    It takes a fraction of what a process takes to begin.
    """
    out, err = _stream(), _stream()
    with (
        only(variables),
        _working_in(cwd),
        patch("sys.stdin", _stream(stdin)),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        done = process.run(list(arguments))
    return _as_expected(Run(done, _text(out), _text(err)), code, arguments)


def run_alone(*arguments: str, cwd: Path | None = None, code: int | None = 0, stdin: str = "", **variables: str) -> Run:
    """Run a command in a process of its own, without a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "es_simhash", *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        input=stdin,
        env=environment(variables),
        timeout=120,
        check=False,
    )
    return _as_expected(Run(done.returncode, done.stdout, done.stderr), code, arguments)


def lines(done: Run) -> list[Any]:
    """Return what was printed, as JSON lines."""
    return [json.loads(line) for line in done.out.splitlines()]


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment without settings, and these variables."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(_SETTING_VARIABLES)}
    return {**own, **variables}


@contextmanager
def only(variables: Mapping[str, str]) -> Iterator[None]:
    """Within it, no settings but these are in the environment."""
    with patch.dict(os.environ, environment(variables), clear=True):
        yield


def _as_expected(done: Run, code: int | None, arguments: tuple[str, ...]) -> Run:
    assert code in (None, done.code), done.out + done.err
    assert "Traceback" not in done.err or "--debug" in arguments, done.err
    return done


@contextmanager
def _working_in(directory: Path | None) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(directory or before)
    try:
        yield
    finally:
        os.chdir(before)


def _stream(text: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", newline="", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    made = stream.detach()
    assert isinstance(made, io.BytesIO)
    return made.getvalue().decode()
