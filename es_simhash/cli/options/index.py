"""The options by which commands name a scheme, the fields of an index, and what a near-duplicate is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from es_simhash.cli.options.inputs import json_object, text_in

if TYPE_CHECKING:
    from es_simhash.cli.show.output import Output
    from es_simhash.documents.documents import Documents
    from es_simhash.engines.base import Engine
    from es_simhash.index import Index
    from es_simhash.scheme.scheme import Scheme

Command = TypeVar("Command", bound=Callable[..., Any])


def index_argument(command: Command) -> Command:
    """The index that a command is about."""
    return click.argument("index", callback=_named)(command)


def _named(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    if not name.strip():
        raise click.BadParameter("It is empty. Give the name of an index.")
    if not _is_text(name):
        raise click.BadParameter("It has bytes that are no text in the terminal's encoding. Give the name as text.")
    return name


def _is_text(name: str) -> bool:
    """Whether the name could be decoded: bytes that could not are lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def scheme_option(command: Command) -> Command:
    """How texts are fingerprinted."""
    return click.option(
        "--scheme", metavar="PRESET|FILE", help="A preset (see: es-simhash schemes), or a file with a scheme's JSON."
    )(command)


def prefix_option(command: Command) -> Command:
    """Where the fingerprints go."""
    return click.option(
        "--prefix", default="dedup", show_default=True, metavar="NAME", help="The object of the fingerprint's fields."
    )(command)


def texts_option(command: Command) -> Command:
    """Which fields of documents that belong to no index texts are in."""
    return click.option(
        "--field",
        "fields",
        multiple=True,
        metavar="PATH",
        help="A field with text, as a dotted path; repeat for more. Without it, all texts of a document.",
    )(command)


def field_options(command: Command) -> Command:
    """Which fields texts are in, and where the fingerprints go."""
    return click.option(
        "--field", "fields", multiple=True, metavar="PATH", help="A field with text, as a dotted path; repeat for more."
    )(prefix_option(command))


def index_options(command: Command) -> Command:
    """What may be known of an index; the command gets it as ``known``, the keywords of `Index`."""

    @wraps(command)
    def with_known(fields: tuple[str, ...], prefix: str, scheme: str | None, **given: Any) -> Any:
        known = {"scheme": scheme_named(scheme), "fields": fields or None, "prefix": prefix}
        return command(known=known, **given)

    return scheme_option(field_options(with_known))  # type: ignore[return-value]


def near_options(command: Command) -> Command:
    """What near is: ``by``, ``distance`` and ``similarity``."""
    options = (
        click.option("--by", type=click.Choice(["simhash", "minhash", "both"]), help="Which fingerprint to go by."),
        click.option("--distance", type=click.IntRange(0), metavar="BITS", help="Near is within so many unlike bits."),
        click.option("--similarity", type=float, metavar="S", help="Near is from this Jaccard similarity on, up to 1."),
    )
    for option in reversed(options):
        option(command)
    return command


def filter_option(help: str) -> Callable[[Command], Command]:
    """A query that restricts documents; the command gets it as JSON."""
    return click.option("--filter", metavar="QUERY", callback=_query, help=help)


def _query(_context: click.Context, _parameter: click.Parameter, text: str | None) -> dict[str, Any] | None:
    return None if text is None else json_object(text, "--filter", '{"term": {"lang": "en"}}')


def find_options(command: Command) -> Command:
    """What a near-duplicate is, and how it is compared; the command gets it as ``wanted``, keywords of `Index.find`."""

    @wraps(command)
    def with_wanted(**given: Any) -> Any:
        wanted = {
            name: given.pop(name) for name in ("by", "distance", "similarity", "measure", "size", "verify", "filter")
        }
        return command(wanted=wanted, **given)

    options = (
        click.option(
            "--verify",
            type=click.Choice(["estimate", "exact"]),
            help="Compare only fingerprints, or also texts.  [default: as the scheme says]",
        ),
        click.option(
            "--measure",
            type=click.Choice(["jaccard", "containment", "overlap", "cosine"]),
            help="What similarity of texts is.  [default: as the scheme says]",
        ),
        filter_option("Only matches that this query, as JSON, selects."),
        click.option("--size", type=click.IntRange(1), default=10, show_default=True, help="How many matches to show."),
    )
    for option in reversed(options):
        option(with_wanted)
    return near_options(with_wanted)  # type: ignore[return-value]


def scheme_named(name: str | None) -> Scheme | None:
    """The preset of a name, or the scheme in a file."""
    from es_simhash.scheme.presets import PRESETS
    from es_simhash.scheme.scheme import Scheme

    if name is None:
        return None
    if name in PRESETS:
        return Scheme.preset(name)
    if not Path(name).is_file():
        raise click.UsageError(
            f"{name!r} is neither a preset ({', '.join(PRESETS)}) nor a file. Give one of them to --scheme."
        )
    return Scheme.from_json(text_in(name))


def wanted_documents(engine: Engine, index: str, known: dict[str, Any]) -> Documents:
    """What the options say, where they name fields, else what the index says."""
    from es_simhash.documents.documents import Documents
    from es_simhash.index import Index
    from es_simhash.scheme.scheme import Scheme

    if known["fields"]:
        return Documents(known["scheme"] or Scheme.preset("default"), known["fields"], known["prefix"])
    return Index(index, engine, **known).documents


def documents_of(engine: Engine, index: str, known: dict[str, Any], dry_run: bool) -> Documents:
    """What the index says; with fields given it gets them first, unless nothing is to be changed."""
    from es_simhash.index import Index

    opened = Index(index, engine, **known)
    if known["fields"] and opened.init(dry_run=dry_run).bodies and dry_run:
        return wanted_documents(engine, index, known)
    return opened.documents


def warn_of_indices_without_fields(output: Output, index: Index) -> None:
    """Name the indices behind a name in which nothing can be found."""
    for name in index.without_fields:
        output.warn(f"Left out: the index {name!r} has no fields for fingerprints. Add them with init.")
