"""The command ``es-simhash`` and its commands.

They are loaded when they are used, so that ``--help`` and completion answer at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from es_simhash._version import __version__
from es_simhash.cli.options.shared import CONNECTION, OUTPUT
from es_simhash.cli.show import exits

# Each command's module in `es_simhash.cli.commands`, and what it does in one line.
COMMANDS = {
    "init": "Bring the fields of fingerprints into an index, or make one.",
    "load": "Write the documents of files, with their fingerprints.",
    "doctor": "Tell what would go wrong with a backfill, before it begins.",
    "backfill": "Give the documents that an index has their fingerprints.",
    "reindex": "Copy an index, with fingerprints, into another, and move an alias to it.",
    "remove": "Take the fields of fingerprints out of the documents of an index.",
    "pipeline": "Have the server itself make the fingerprints of what is written.",
    "find": "Find the near-duplicates of a text, a document or a file.",
    "scripts": "Print or install scripts and search templates, for searches without this program.",
    "explain": "Tell why two documents, or texts, are near-duplicates or are none.",
    "check": "Tell which documents of a file are already in an index.",
    "group": "Find all groups of near-duplicates in an index, and store them on the documents.",
    "dashboard": "Make a dashboard about the groups, for Kibana and OpenSearch Dashboards.",
    "info": "Show what an index holds.",
    "sample": "Show how similar texts are to each other, to choose a threshold by eye.",
    "tune": "Choose a scheme for your own texts, by labels or for a similarity.",
    "evaluate": "Measure how well near-duplicates are found, by documents that are labelled.",
    "dedup": "Find the groups of near-duplicates in files, without any index.",
    "fingerprint": "Show the fingerprint of a text.",
    "mapping": "Print the mapping or component template of a scheme.",
    "schemes": "List the presets: what each is good for, finds and costs.",
    "demo": "Try everything on a small corpus that it makes itself.",
    "help": "Show help for a verb, connection options, or completion in a shell.",
}


class _Commands(click.Group):
    """A group whose commands are imported one by one, when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"es_simhash.cli.commands.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=_Commands,
    params=[*CONNECTION, *OUTPUT],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"Exit codes: {', '.join(f'{code} {meaning}' for code, meaning in exits.MEANINGS.items())}.",
)
@click.version_option(__version__, prog_name="es-simhash")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def app(**_: Any) -> None:
    """Near-duplicate detection for the Elasticsearch or OpenSearch index that you have, or an embedded one.

    Try it now: es-simhash demo
    """
