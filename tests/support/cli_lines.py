"""Lines of a shell that run our command, as they stand in scripts and documentation."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from es_simhash.cli.program import app

_BETWEEN_COMMANDS = set("|&;<>()")
_EXPANDED = set("$*?~`")


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
    for name, *arguments in runs(line):
        command, context = _command(name)
        with click.Context(command, info_name=name, parent=context) as own:
            command.make_parser(own).parse_args(arguments)


def alone(line: str) -> list[str] | None:
    """Return the arguments of our command if a line runs nothing else and needs no shell."""
    found = list(runs(line))
    is_plain = found and shlex.split(line, comments=True) == ["es-simhash", *found[0]]
    return found[0] if is_plain and not _EXPANDED & set(line) else None


def runs(line: str) -> Iterator[list[str]]:
    """Yield the arguments of each run of our command in a line of a shell."""
    lexer = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word and set(word) <= _BETWEEN_COMMANDS:
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
