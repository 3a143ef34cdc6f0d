"""Lines of a shell that run our command, as they stand in scripts and documentation."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest

from es_simhash.cli.app import app


def check_line(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *files: str) -> None:
    """Whether there is such a command with such options; ``files`` are there, below a folder."""
    monkeypatch.chdir(folder)
    for name in files:
        Path(name).touch()
    program, name, *arguments = shlex.split(line)
    assert program == "es-simhash"
    parent = click.Context(app, **app.context_settings)
    command = app.get_command(parent, name)
    assert command
    command.make_context(name, arguments, parent=parent).close()
