"""The verbs' help in ``docs/cli.md``, written by ``python -m tools.cli_reference``."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import click

from es_simhash.cli.commands.help import connection_help
from es_simhash.cli.options.shared import Verb
from es_simhash.cli.program import COMMANDS, app
from tools import ROOT

PAGE = ROOT / "docs" / "cli.md"
BEGIN, END = "<!-- commands -->\n", "<!-- end of commands -->\n"
WIDTH = 100


def reference() -> str:
    """Return a section per verb, in the order of the verbs."""
    settings = {**app.context_settings, "max_content_width": WIDTH}
    parent = click.Context(app, info_name="es-simhash", terminal_width=WIDTH, **settings)
    sections = [_section("es-simhash", app.get_help(parent))]
    for name in COMMANDS:
        command = app.get_command(parent, name)
        assert command
        context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH)
        # The options of all verbs stand once on the page.
        shared: dict[str, Any] = {"shared": ()} if isinstance(command, Verb) else {}
        with patch.multiple(command, add_help_option=False, **shared):
            sections.append(_section(name, command.get_help(context)))
    sections.append(_section("help connection", connection_help(parent)))
    return "\n".join(sections)


def with_reference(page: str) -> str:
    """Replace the help texts of the page."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{reference()}\n{END}{after}"


def _section(name: str, text: str) -> str:
    return f"### {name}\n\n```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(with_reference(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
