"""``es-simhash show``: groups as pages in a browser, and a desk where people decide about them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from getpass import getuser
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import is_file
from es_simhash.cli.options.index import similarity_option, source_option, texts_option
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import FINE, Output
from es_simhash.scheme.verification import Level

if TYPE_CHECKING:
    from es_simhash.cli.desk.desk import Desk
    from es_simhash.documents.decisions import Decision


@click.command(name="show", cls=EngineVerb)
@click.argument("place", metavar="INDEX|FILE")
@click.argument("id_", required=False, metavar="[ID]")
@texts_option
@similarity_option
@source_option("documents", "shown")
@click.option(
    "--decisions",
    "decisions_file",
    type=click.Path(dir_okay=False),
    help="Of a FILE: keep decisions in this file.  [default: FILE.decisions.jsonl]",
)
@click.option("--export", "exports", is_flag=True, help="Print all decisions as lines of JSON, and end.")
@click.option(
    "--import",
    "import_file",
    type=click.Path(exists=True, dir_okay=False),
    help="Add the decisions in this file to those that are kept, and end.",
)
def command(
    place: str,
    id_: str | None,
    fields: tuple[str, ...],
    similarity: float | Level | None,
    shown: tuple[str, ...],
    decisions_file: str | None,
    exports: bool,
    import_file: str | None,
    prefix: str,
    target: Target,
    output: Output,
) -> int:
    """Show the groups of INDEX or FILE in a browser, and decide which pairs are duplicates.

    With ID, begin with the group of this document. Decisions are kept at once, under your login name, with the index or
    next to the file, and verbs obey them. Only this machine can reach the pages. Press Ctrl-C to end.

    Example: es-simhash show news.csv --source title
    """
    from es_simhash.documents.files.decision_file import DecisionFile, decisions_of

    if is_file(place):
        file = DecisionFile(decisions_file or decisions_of(place))
        if exports or import_file:
            return _moved(output, file.read() if exports else (), file.add, import_file)
        from es_simhash.cli.desk.desk import desk_on_file

        opened = desk_on_file(place, fields, shown, similarity, file, getuser(), output)
        _serve(opened, id_, output, f"es-simhash dedup {shlex.quote(place)} --decisions {shlex.quote(file.path)}")
        return FINE
    if decisions_file or fields:
        raise click.UsageError("An index keeps its decisions, and knows its text fields. Drop --decisions and --field.")
    from es_simhash.cli.desk.desk import desk_on_index

    with target.index(output, place, prefix=prefix) as index:
        if exports or import_file:
            return _moved(output, index.decisions() if exports else (), index.decide, import_file)
        opened_desk = desk_on_index(index, shown, similarity, getuser(), output)
        _serve(opened_desk, id_, output, f"es-simhash sync {place}")
    return FINE


def _moved(
    output: Output, kept: Sequence[Decision], keep: Callable[[list[Decision]], object], import_file: str | None
) -> int:
    """Print the decisions that are kept, or keep those of a file."""
    from es_simhash._core.rows import json_record
    from es_simhash.documents.files.decision_file import DecisionFile

    if import_file is None:
        sys.stdout.writelines(map(json_record, kept))
        output.note(f"{counted(len(kept), 'decision')} exported.")
        return FINE
    given = DecisionFile(import_file).read()
    keep(given)
    output.note(f"{counted(len(given), 'decision')} imported.")
    return FINE


def _serve(opened: AbstractContextManager[Desk], id_: str | None, output: Output, next_command: str) -> None:
    from es_simhash.cli.desk.server import DeskServer

    with opened as desk, DeskServer(desk) as server:
        address = server.address + (f"&id={quote(id_, safe='')}" if id_ else "")
        output.note(f"{counted(desk.total, 'group')}, {counted(len(desk.queue), 'pair')} to look at.")
        print(address, flush=True)
        output.note("Open this address in a browser on this machine. Ctrl-C ends it.")
        if sys.stdout.isatty():
            import webbrowser

            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            made = len(desk.made)
            output.note(f"{desk.answers().sentence} {counted(made, 'decision')} made here.")
            if made:
                output.note(f"To group as decided: {next_command}")
