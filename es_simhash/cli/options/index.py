"""The options that name an index, the scheme and fields of a new one, and define near-duplicates."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from es_simhash.cli.options.files import json_object, text_in
from es_simhash.scheme.verdict.levels import NAMES, Level

if TYPE_CHECKING:
    from es_simhash.cli.show.output import Output
    from es_simhash.documents.documents import Documents
    from es_simhash.engines.base import Engine
    from es_simhash.index import Index
    from es_simhash.scheme.scheme import Scheme

Command = TypeVar("Command", bound=Callable[..., Any])


def index_argument(command: Command) -> Command:
    """Add the argument INDEX."""
    return click.argument("index", callback=_named)(command)


def optional_index_argument(command: Command) -> Command:
    """Add the argument INDEX, which may be left out."""
    return click.argument("index", required=False, callback=_named)(command)


def _named(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    if name is None:
        return None
    if not name.strip():
        raise click.BadParameter("It is empty. Give the name of an index.")
    if not _is_text(name):
        raise click.BadParameter("It has bytes that are not text in the terminal's encoding. Give the name as text.")
    return name


def _is_text(name: str) -> bool:
    """Check that the name could be decoded: bytes that could not are lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


scheme_option = click.option(
    "--scheme", metavar="PRESET|FILE", help="A preset (see: es-simhash info), or a file with a scheme's JSON."
)


def fields_option(help: str) -> Callable[[Command], Command]:
    """Add the fields of a document, as dotted paths."""
    return click.option("--field", "fields", multiple=True, metavar="PATH", help=help)


field_option = fields_option("Text field, as a dotted path; repeatable.")
texts_option = fields_option("Text field, as a dotted path; repeatable.  [default: all texts of a file's document]")


def index_options(command: Command) -> Command:
    """Add the scheme and fields of a new index; the command gets the keywords of `Index` as ``known``."""

    @wraps(command)
    def with_known(fields: tuple[str, ...], prefix: str, scheme: str | None, **given: Any) -> Any:
        # An empty value, as of a variable of a shell, is like an option that was left out.
        fields = tuple(filter(str.strip, fields))
        known = {"scheme": scheme_named(scheme), "fields": fields or None, "prefix": prefix}
        return command(known=known, **given)

    return scheme_option(field_option(with_known))  # type: ignore[return-value]


class Similarity(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.2
    """A minimum similarity: a number, or the name of a level."""

    name = "similarity"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float | Level:
        """Parse a number or a name."""
        if isinstance(value, float):
            return value
        if value in NAMES:
            return value
        try:
            return float(value)
        except ValueError:
            known = ", ".join(NAMES)
            self.fail(f"{value!r} is not a similarity. Give a number up to 1, or one of: {known}.", param, ctx)


SIMILARITY = Similarity()

estimate_option = click.option("--estimate", is_flag=True, help="Decide by fingerprints alone; read no texts.")


# The help of options that an index keeps.
KEPT = "  [default: as in the last run]"


def _similarity_option(more: str = "") -> Callable[[Command], Command]:
    text = f"Minimum: up to 1, or copies (about 0.85), near (0.63), versions (0.5).{more}"
    return click.option("--similarity", type=SIMILARITY, metavar="S|LEVEL", help=text)


similarity_option, kept_similarity_option = _similarity_option(), _similarity_option(KEPT)


def near_options(command: Command) -> Command:
    """Add what makes documents near-duplicates: ``distance``, ``similarity`` and ``numbers``."""
    options = (
        similarity_option,
        click.option(
            "--distance",
            type=click.IntRange(0),
            metavar="BITS",
            help="Maximum number of different bits; with --similarity, either is enough.",
        ),
        click.option(
            "--numbers",
            type=click.FloatRange(0, 1),
            metavar="SHARE",
            help="Minimum share of the numbers in the text with fewer that the other has; 0: none.",
        ),
    )
    for option in reversed(options):
        option(command)
    return command


def filter_option(help: str) -> Callable[[Command], Command]:
    """Add a query that restricts documents; the command gets it as JSON."""
    return click.option("--filter", metavar="QUERY", callback=_query, help=help)


def _query(_context: click.Context, _parameter: click.Parameter, text: str | None) -> dict[str, Any] | None:
    return None if text is None else json_object(text, "--filter", '{"term": {"lang": "en"}}')


def match_options(command: Command) -> Command:
    """Add which matches are shown, as keywords of `Index.find`: ``filter`` and ``size``."""
    size = click.option(
        "--size", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="Number of matches."
    )
    return filter_option("Only matches that fit this query (JSON).")(size(command))


def scheme_named(name: str | None) -> Scheme | None:
    """Return the scheme of ``--scheme``, if it was given."""
    return None if name is None else read_scheme(name, "--scheme")


def scheme_or_default(name: str | None) -> Scheme:
    """Return the scheme of ``--scheme``, or the default."""
    return read_scheme("default" if name is None else name, "--scheme")


def read_scheme(name: str, option: str) -> Scheme:
    """Return the preset of a name, or the scheme in a file."""
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.settings import PRESETS

    if name in PRESETS:
        return Scheme.preset(name)
    if not Path(name).is_file():
        raise click.UsageError(
            f"{name!r} is neither a preset ({', '.join(PRESETS)}) nor a file. Give one of them to {option}."
        )
    return Scheme.from_json(text_in(name))


def wanted_documents(engine: Engine, index: str, known: dict[str, Any]) -> Documents:
    """Return the documents that the options describe if they name fields, else those of the index."""
    from es_simhash.engines.base import run
    from es_simhash.plans.index_plans import IndexPlans

    return run(IndexPlans(index, **known).wanted_documents(), engine)


def documents_of(engine: Engine, index: str, known: dict[str, Any], dry_run: bool) -> Documents:
    """Return the documents of the index, which first gets the fields that the options name, unless ``dry_run``."""
    from es_simhash.index import Index

    opened = Index(index, engine, **known)
    if known["fields"] and opened.init(dry_run=dry_run).bodies and dry_run:
        return wanted_documents(engine, index, known)
    return opened.documents


def warn_of_indices_without_fields(output: Output, index: Index) -> None:
    """Warn of the indices behind a name that have no fingerprints to search."""
    for name in index.without_fields:
        output.warn(f"Left out: the index {name!r} has no fields for fingerprints. Add them with init.")
