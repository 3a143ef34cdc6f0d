"""``es-simhash demo``: everything on a small corpus of its own."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING
from uuid import uuid4

import click

from es_simhash.cli.options.connection import ConnectionVerb
from es_simhash.cli.options.places import is_server
from es_simhash.cli.options.setting_origins import Given
from es_simhash.cli.options.target import Target, target_of
from es_simhash.cli.show import log
from es_simhash.cli.show.exits import Interrupted, saying_if_interrupted
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.cli.demo.corpus import CorpusDocument
    from es_simhash.cli.demo.show import Table
    from es_simhash.index import Index

# Only options count: the server that the environment names is no place for experiments.
_NAMES_OF_TARGETS = ("url", "cloud_id", "profile")
# Commands to try next if the index was not kept.
_AGAIN = [["demo", "--keep-index"], ["demo", "--url", "http://localhost:9200"], ["schemes"], ["find", "--help"]]


@click.command(name="demo", cls=ConnectionVerb)
@click.option(
    "--size", type=click.IntRange(100, 10_000), default=2000, show_default=True, metavar="N", help="Number of texts."
)
@click.option("--keep-index", is_flag=True, help="Keep the index, to try more commands.")
def command(size: int, keep_index: bool, connection: Given, output: Output) -> None:
    """Create a corpus with planted near-duplicates, load it, find them, and show what was found and missed.

    The demo uses a new directory, or a new index on the server at --url; both are removed afterwards.

    Example: es-simhash demo --size 1000
    """
    from es_simhash.cli.demo import corpus, show, trial
    from es_simhash.cli.demo.summary import summarize

    documents = corpus.make_corpus(size)
    chosen = target_of(connection, os.environ) if connection.names(_NAMES_OF_TARGETS) else None
    with (
        saying_if_interrupted(lambda: "What the demo created is removed."),
        _place(chosen, keep_index, output) as place,
    ):
        with output.progress("Loading", len(documents)) as advance:
            loading = trial.load(place.index, documents, advance)
        with output.progress("Finding near-duplicates", len(documents) * len(trial.WAYS), "searches") as advance:
            found = list(trial.search(place.index, documents, advance))
        summary = summarize(place.index.scheme, documents, loading, found, trial.group(place.index, documents))
        _print_parts(output, show.parts(summary))
    arguments = _next(documents, place) if keep_index else _AGAIN
    commands = [shlex.join(["es-simhash", *each]) for each in arguments]
    removal = shlex.join(place.removal) if keep_index else None
    output.result({"index": place.index.name, **summary.as_json(), "next": commands, "removal": removal})
    _print_next(output, commands, removal)


@dataclass(frozen=True)
class _Place:
    """The demo's index, its location, and the command that removes it."""

    index: Index
    where: str
    removal: list[str]


@contextmanager
def _place(target: Target | None, keep: bool, output: Output) -> Iterator[_Place]:
    """Create an index for the demo; delete it afterwards, and on errors, unless it is kept."""
    from es_simhash.cli.demo.corpus import FIELDS
    from es_simhash.index import Index

    name = f"es-simhash-demo-{uuid4().hex[:8]}"
    with ExitStack() as stack:
        if target is not None:
            removal = _removal(target.place, name)
        else:
            directory = mkdtemp(prefix="es-simhash-demo-")
            removal = ["rm", "-r", directory]
            stack.enter_context(_removing(partial(rmtree, directory), keep, removal))
            target = Target(directory, "made for the demo")
        index = Index(name, stack.enter_context(target.opened(output)), fields=FIELDS)
        stack.enter_context(_removing(partial(_delete, index), keep, removal))
        yield _Place(index, target.place, removal)


@contextmanager
def _removing(remove: Callable[[], object], keep: bool, by_hand: Sequence[str]) -> Iterator[None]:
    """Remove what the demo created, afterwards or on errors; keep only what is complete."""
    from es_simhash._core.prefetch import in_a_moment

    left = f"What the demo created may still exist. Remove it: {shlex.join(by_hand)}"
    try:
        yield
    except BaseException as error:
        with saying_if_interrupted(lambda: left):
            is_removed = in_a_moment(remove)
        if not is_removed and isinstance(error, KeyboardInterrupt):
            raise Interrupted(left) from None
        if not is_removed:
            log.write("warning", "warning", left)
        raise
    if not keep:
        with saying_if_interrupted(lambda: left):
            remove()


def _delete(index: Index) -> None:
    from es_simhash.errors import MissingError
    from es_simhash.plans.operations import DeleteIndex

    with suppress(MissingError):
        index.engine.perform(DeleteIndex(index.name))


def _removal(place: str, name: str) -> list[str]:
    """Return the command that removes an index; the embedded engine has a directory for each."""
    if is_server(place):
        return ["curl", "-X", "DELETE", f"{place.rstrip('/')}/{name}"]
    return ["rm", "-r", str(Path(place, name))]


def _next(documents: Sequence[CorpusDocument], place: _Place) -> list[list[str]]:
    """Return commands to try on the index that was kept."""
    first = {each.kind: each for each in reversed(documents)}
    passage = first["original"].body.partition("\n")[0]
    where = [place.index.name, "--url", place.where]
    find = ["find", *where, "--source", "title"]
    return [
        ["info", *where],
        [*find, "--id", first["edited"].id],
        [*find, "--id", first["template"].id, "--similarity", "0.8"],
        [*find, "--text", passage, "--preview"],
    ]


def _print_parts(output: Output, parts: Iterator[str | Table]) -> None:
    for part in parts:
        if isinstance(part, str):
            output.line(part)
        else:
            output.table(part.columns, part.rows)


def _print_next(output: Output, commands: list[str], removal: str | None) -> None:
    output.line("\nTry next:")
    for each in commands:
        output.line(f"  {each}")
    if removal:
        output.line(f"Remove the index with:\n  {removal}")
