from __future__ import annotations

import re

import click
import pytest

from es_simhash.cli.program import COMMANDS, app
from tools import cli_reference

CONTEXT = click.Context(app, info_name="es-simhash")


def commands() -> list[click.Command]:
    found = [app.get_command(CONTEXT, name) for name in COMMANDS]
    return [command for command in found if command is not None]


def test_the_page_has_the_help_of_now() -> None:
    page = cli_reference.PAGE.read_text(encoding="utf-8")
    assert cli_reference.with_reference(page) == page


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_every_command_has_help_and_an_example_that_names_it(command: click.Command) -> None:
    assert command.help
    assert re.search(rf"Example: es-simhash {command.name}\b", command.help)
    assert [option.name for option in command.params if isinstance(option, click.Option) and not option.help] == []


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_every_command_is_listed_under_its_own_name(command: click.Command) -> None:
    assert command.name in COMMANDS
    assert COMMANDS[command.name].endswith(".")


def test_no_command_is_loaded_for_the_help_of_all() -> None:
    import subprocess
    import sys

    program = (
        "import sys; from es_simhash.cli.process import run; run(['--help'])\n"
        "print([name for name in sys.modules if name.startswith(('numpy', 'rich', 'es_simhash.cli.commands.'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
