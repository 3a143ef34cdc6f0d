"""The command ``es-simhash`` and its verbs, imported when they are used, and its standard streams."""

from __future__ import annotations

import errno
import io
import os
import sys
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from es_simhash._version import __version__
from es_simhash.cli.options.connection import SHARED
from es_simhash.cli.show import output
from es_simhash.cli.show.output import FINE, USAGE

# The verbs under the headings of the help, with their summaries. Each has a module in `es_simhash.cli.commands`.
HEADINGS: dict[str, dict[str, str]] = {
    "Start here": {
        "try": "Show the near-duplicates of a file or an index; no setup.",
        "sync": "Bring an index up to date every night.",
        "show": "Look at groups in a browser, and decide about them.",
    },
    "Index": {
        "init": "Add the fingerprint fields to an index, or create one.",
        "load": "Write the documents of files, with their fingerprints.",
        "doctor": "Check what would go wrong with a backfill, before it begins.",
        "backfill": "Add fingerprints to the documents of an index.",
        "reindex": "Copy an index, with fingerprints, and move an alias.",
        "remove": "Remove the fingerprint fields from an index.",
        "group": "Find all groups of near-duplicates, and store them.",
        "erase": "Delete documents with all their copies, after a review.",
        "info": "Show an index and its counts; without one, the presets.",
    },
    "Search": {
        "find": "Find the near-duplicates of a text, a document or a file.",
        "search": "Run your own search, and show its hits without near-duplicates.",
        "explain": "Explain why two documents or texts are near-duplicates or not.",
        "scripts": "Print or install search scripts or an ingest pipeline.",
    },
    "Files": {
        "dedup": "Find the groups of near-duplicates in files, without an index.",
        "check": "Check which documents of a file are already in an index.",
    },
    "Quality": {
        "tune": "Choose a threshold and a scheme for your texts.",
        "evaluate": "Measure on labelled documents how well duplicates are found.",
        "learn": "Learn which phrases are common, so that they count less.",
    },
    "Server": {
        "gate": "Check incoming documents against an index, over HTTP or stdin.",
        "mcp": "Serve an index to agents, by the Model Context Protocol.",
        "dashboard": "Create a dashboard for Kibana or OpenSearch Dashboards.",
    },
}
COMMANDS = {verb: summary for verbs in HEADINGS.values() for verb, summary in verbs.items()}


class _Commands(click.Group):
    """A group that imports its commands one by one, on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = f"{name}_" if iskeyword(name) else name
        command: click.Command = import_module(f"es_simhash.cli.commands.{module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; answer one that is not known with those that are written like it."""
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches  # of no use at any other start

        near = get_close_matches(name, COMMANDS)
        remedy = f"Did you mean {' or '.join(near)}?" if near else "es-simhash --help lists the verbs."
        raise click.UsageError(f"No such verb: {name}. {remedy}", ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs under their headings, and then only the options that no verb has."""
        self.format_commands(ctx, formatter)
        own = (each.get_help_record(ctx) for each in self.get_params(ctx) if each not in SHARED)
        with formatter.section("Options"):
            formatter.write_dl([record for record in own if record])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, without importing any."""
        for heading, verbs in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{verb:<9}", summary) for verb, summary in verbs.items()])


@click.command(
    cls=_Commands,
    params=[*SHARED],
    subcommand_metavar="VERB [ARGUMENT]...",
    options_metavar="",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="es-simhash VERB --help lists its options, such as how to log in. "
    f"Exit codes: {', '.join(f'{code} {meaning}' for code, meaning in output.MEANINGS.items())}.",
)
@click.version_option(__version__, prog_name="es-simhash")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def app(**_: Any) -> None:
    """Find near-duplicates in an Elasticsearch or OpenSearch index, in an embedded one, or in files."""


class _Closed(io.RawIOBase):
    """A stand-in for a closed standard input: reading it is an error."""

    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise OSError(errno.EBADF, "It is closed", "Standard input")


def use() -> int:
    """Replace closed streams; return the exit code, which is an error without standard output.

    Messages for a closed standard error are dropped.
    """
    for number in range(3):
        _keep(number)
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BufferedReader(_Closed()))
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it is for the whole process
    if sys.stdout is None:
        output.write(
            "error",
            "error",
            "Error: Standard output is closed: nothing can be printed. Open it, or send it to /dev/null.",
        )
        return USAGE
    return FINE


def _keep(number: int) -> None:
    """Keep other files from getting the number of a closed stream, and its messages."""
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def flush() -> None:
    """Write out what is left, unless the reader has gone away (``| head``)."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
