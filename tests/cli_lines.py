"""Lines of a shell that run our command, as they stand in scripts and documentation."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from es_simhash.cli.app import app

_BETWEEN_COMMANDS = set("|&;<>()")


def check_line(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *files: str) -> None:
    """Whether there is such a command with such options; ``files`` are there, below a folder."""
    monkeypatch.chdir(folder)
    for name in files:
        Path(name).touch()
    program, name, *arguments = shlex.split(line)
    assert program == "es-simhash"
    command, context = _command(name)
    command.make_context(name, arguments, parent=context).close()


def check_options(line: str) -> None:
    """Whether each run of our command in a line, if there is any, has a verb and options that there are."""
    for name, *arguments in _ours(line):
        command, context = _command(name)
        with click.Context(command, info_name=name, parent=context) as own:
            command.make_parser(own).parse_args(arguments)


def _ours(line: str) -> Iterator[list[str]]:
    """The arguments of each run of our command in a line of a shell."""
    lexer = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if set(word) <= _BETWEEN_COMMANDS:
            if "es-simhash" in words and words[-1] != "es-simhash":
                yield words[words.index("es-simhash") + 1 :]
            words = []
        else:
            words.append(word)


def _command(name: str) -> tuple[click.Command, click.Context]:
    parent = click.Context(app, **app.context_settings)
    command = app.get_command(parent, name)
    assert command, f"There is no command es-simhash {name}"
    return command, parent
