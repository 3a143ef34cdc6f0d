"""The verbs' help and their JSON in ``docs/cli.md``, written by ``python -m tools.cli_reference``."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from textwrap import fill
from typing import Any, TypeAlias
from unittest.mock import patch

import click

from es_simhash.cli.options.connection import SHARED, Verb, write_options
from es_simhash.cli.program import COMMANDS, app
from tools import ROOT
from tools.output_schemas import LINES, keys_of

PAGE = ROOT / "docs" / "cli.md"
BEGIN, END = "<!-- commands -->\n", "<!-- end of commands -->\n"
BEGIN_JSON, END_JSON = "<!-- json -->\n", "<!-- end of json -->\n"
WIDTH = 100
# An option as help shows it, and its meaning; and in how many verbs it is the same if the page is to have it once.
Definition: TypeAlias = tuple[str, str]
_SHARED = 3


def reference() -> str:
    """Return a section per verb, in the order of the verbs, after one with the options that several verbs share."""
    settings = {**app.context_settings, "max_content_width": WIDTH}
    parent = click.Context(app, info_name="es-simhash", terminal_width=WIDTH, **settings)
    contexts = [_context(name, parent) for name in COMMANDS]
    options = _shared_options(contexts)
    shared = [option.get_help_record(parent) for option in options]
    formatter = parent.make_formatter()
    write_options(parent, formatter, [*options, *SHARED])
    sections = [
        _section("es-simhash", app.get_help(parent)),
        _section("Options of several commands", formatter.getvalue().strip("\n")),
        *(_section(context.info_name or "", _help(context, shared)) for context in contexts),
    ]
    return "\n".join(sections)


def _context(name: str, parent: click.Context) -> click.Context:
    command = app.get_command(parent, name)
    assert command
    return click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH)


def _shared_options(contexts: list[click.Context]) -> list[click.Option]:
    """Return the options that at least three verbs have with the same help, each name once."""
    found = [(option.get_help_record(context), option) for context in contexts for option in _options(context)]
    often = [each for each, count in Counter(record for record, _ in found).most_common() if each and count >= _SHARED]
    chosen = {record[0]: record for record in reversed(often)}.values()
    return list({record: option for record, option in found if record in chosen}.values())


def _help(context: click.Context, shared: list[Definition | None]) -> str:
    """Return the help of a verb, with no more than the names of shared options, and without those of all verbs."""
    command = context.command
    named = [option for option in _options(context) if option.get_help_record(context) in shared]
    of_all: dict[str, Any] = {"taken": ()} if isinstance(command, Verb) else {}
    with ExitStack() as stack:
        stack.enter_context(patch.multiple(command, add_help_option=False, **of_all))
        for option in named:
            stack.enter_context(patch.object(option, "hidden", True))
        text = command.get_help(context).rstrip()
    names = ", ".join(option.opts[0] for option in named)
    return f"{text}\n\n{fill(f'Also: {names}.', WIDTH)}" if names else text


def _options(context: click.Context) -> list[click.Option]:
    return [each for each in context.command.params if isinstance(each, click.Option)]


def outputs() -> str:
    """Return a table of the lines that commands print with ``--json``."""
    rows = [
        f"| `{command}` | {line} | {', '.join(f'`{key}`' for key in keys_of(parts))} |\n"
        for (command, line), parts in LINES.items()
    ]
    return "".join(["| command | a line for each | keys |\n|---|---|---|\n", *rows])


def with_reference(page: str) -> str:
    """Replace the help texts of the page, and the table of what commands print."""
    head, rest = page.split(BEGIN_JSON)
    page = f"{head}{BEGIN_JSON}{outputs()}{END_JSON}{rest.split(END_JSON)[1]}"
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{reference()}\n{END}{after}"


def _section(name: str, text: str) -> str:
    return f"### {name}\n\n```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(with_reference(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
