"""The commands' help in ``docs/cli.md``; ``python -m tools.cli_reference`` writes it anew."""

from __future__ import annotations

import click

from es_simhash.cli.program import COMMANDS, app
from tools import ROOT

PAGE = ROOT / "docs" / "cli.md"
BEGIN, END = "<!-- commands -->\n", "<!-- end of commands -->\n"
WIDTH = 100


def reference() -> str:
    """Return a section for each command, in the order of the list of commands."""
    settings = {**app.context_settings, "max_content_width": WIDTH}
    parent = click.Context(app, info_name="es-simhash", terminal_width=WIDTH, **settings)
    sections = [_section("es-simhash", app.get_help(parent))]
    for name in COMMANDS:
        command = app.get_command(parent, name)
        assert command
        context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH)
        sections.append(_section(name, command.get_help(context)))
    return "\n".join(sections)


def with_reference(page: str) -> str:
    """Return the page with the current help of the commands."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{reference()}\n{END}{after}"


def _section(name: str, text: str) -> str:
    return f"### {name}\n\n```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(with_reference(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
