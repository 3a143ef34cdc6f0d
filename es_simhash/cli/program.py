"""The command ``es-simhash`` and its verbs, which are imported when they are used: ``--help`` answers at once."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from es_simhash._version import __version__
from es_simhash.cli.options.connection import SHARED, CommonOption
from es_simhash.cli.show import exits

# The module of each verb in `es_simhash.cli.commands`, and its summary.
COMMANDS = {
    "init": "Add the fingerprint fields to an index, or create one.",
    "load": "Write the documents of files, with their fingerprints.",
    "doctor": "Check what would go wrong with a backfill, before it begins.",
    "backfill": "Add fingerprints to the documents of an index.",
    "reindex": "Copy an index, with fingerprints, and move an alias to the copy.",
    "remove": "Remove the fingerprint fields from the documents of an index.",
    "find": "Find the near-duplicates of a text, a document or a file.",
    "search": "Run a search of your own, and show its hits without near-duplicates.",
    "scripts": "Print or install what a server runs itself: search scripts, an ingest pipeline.",
    "explain": "Explain why two documents, or texts, are near-duplicates or not; show a fingerprint.",
    "check": "List which documents of a file are already in an index.",
    "gate": "Decide of documents as they come whether an index has them, over HTTP or lines.",
    "learn": "Learn how rare features are in an index or in files, to compare texts by.",
    "group": "Find all groups of near-duplicates in an index, and store them on the documents.",
    "erase": "Delete documents with all their copies, after a review.",
    "mcp": "Serve an index to agents, by the Model Context Protocol.",
    "dashboard": "Create a dashboard about groups, for Kibana and OpenSearch Dashboards.",
    "info": "Show the scheme, the fields and the counts of an index.",
    "tune": "Choose a scheme for your texts, by labels, for a similarity, or by eye.",
    "evaluate": "Measure on labelled documents how well near-duplicates are found.",
    "dedup": "Find the groups of near-duplicates in files, without an index.",
    "schemes": "List the presets with their use, recall and cost, or print a mapping.",
}


class _Commands(click.Group):
    """A group that imports its commands one by one, on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"es_simhash.cli.commands.{name}").command
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options and the commands, and last the options that the help of a verb does not repeat."""
        common = [option for option in self.get_params(ctx) if isinstance(option, CommonOption)]
        with formatter.section("Options"):
            own = (each.get_help_record(ctx) for each in self.get_params(ctx) if each not in common)
            formatter.write_dl([record for record in own if record])
        self.format_commands(ctx, formatter)
        with formatter.section("Options of connections and long jobs"):
            formatter.write_dl([record for each in common if (record := each.get_help_record(ctx))])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=_Commands,
    params=[*SHARED],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"Exit codes: {', '.join(f'{code} {meaning}' for code, meaning in exits.MEANINGS.items())}.",
)
@click.version_option(__version__, prog_name="es-simhash")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def app(**_: Any) -> None:
    """Near-duplicate detection for your Elasticsearch or OpenSearch index, or an embedded one.

    Options stand before the verb or after it; the one after it wins. Without --url, --cloud-id and --profile,
    ES_SIMHASH_URL, ELASTICSEARCH_URL or OPENSEARCH_URL names the server, else the embedded engine works in .es-simhash.
    Profiles have the same settings.

    Try it now: es-simhash dedup FILE.jsonl
    """
