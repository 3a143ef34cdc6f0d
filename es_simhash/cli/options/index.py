"""Options that name an index, its scheme and fields, define near-duplicates and groups, and go through it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from functools import partial, reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from es_simhash._core.environment import MEMORY
from es_simhash.cli.options.files import (
    Files,
    input_options,
    is_file,
    json_object,
    output_file,
    rejects_option,
    report_option,
    text_in,
)
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.verification import NAMES, Level

if TYPE_CHECKING:
    from es_simhash.cli.show.output import Output
    from es_simhash.documents.documents import Documents
    from es_simhash.engines.base import Engine
    from es_simhash.index import Index
    from es_simhash.scheme.scheme import Scheme


def _named(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    if name is not None and not name.strip():
        raise click.BadParameter("It is empty. Give the name of an index.")
    try:
        (name or "").encode()
    except UnicodeEncodeError:  # bytes that could not be decoded are lone surrogates
        raise click.BadParameter(
            "It has bytes that are not text in the terminal's encoding. Give the name as text."
        ) from None
    return name


index_argument = click.argument("index", callback=_named)
optional_index_argument = click.argument("index", required=False, callback=_named)
scheme_option = click.option(
    "--scheme", metavar="PRESET|FILE", help="A preset (see: es-simhash info), or a file with a scheme's JSON."
)


def fields_option(help: str) -> Callable[[Command], Command]:
    """Add the fields of a document, as dotted paths."""
    return click.option("--field", "fields", multiple=True, metavar="PATH", help=help)


def source_option(of: str, *names: str) -> Callable[[Command], Command]:
    """Add the fields of documents that the command shows, under another name if one is given."""
    help = f"Field of the {of} to show; repeatable."
    return click.option("--source", *names, multiple=True, metavar="PATH", help=help)


field_option = fields_option("Text field, as a dotted path; repeatable.")
texts_option = fields_option("Text field, as a dotted path; repeatable.  [default: all texts of a file's document]")


def _known(fields: tuple[str, ...], prefix: str, scheme: str | None) -> dict[str, Any]:
    # An empty value, as of a variable of a shell, is like an option that was left out.
    fields = tuple(filter(str.strip, fields))
    return {"scheme": scheme_named(scheme), "fields": fields or None, "prefix": prefix}


def scheme_named(name: str | None) -> Scheme | None:
    """Return the scheme of ``--scheme``, a preset or one in a file, if it was given."""
    return None if name is None else scheme_or_default(name)


def scheme_or_default(name: str | None) -> Scheme:
    """Return the scheme of ``--scheme``, or the default."""
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.settings import PRESETS

    name = "default" if name is None else name
    if name in PRESETS:
        return Scheme.preset(name)
    if not Path(name).is_file():
        raise click.UsageError(
            f"{name!r} is neither a preset ({', '.join(PRESETS)}) nor a file. Give one of them to --scheme."
        )
    return Scheme.from_json(text_in(name))


Command = TypeVar("Command", bound=Callable[..., Any])


def all_of(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds options, which help lists in this order."""

    def add(command: Any) -> Any:
        return reduce(lambda made, option: option(made), reversed(options), command)

    return add


def as_one(
    name: str, make: Callable[..., Any], names: Sequence[str], *options: Callable[[Any], Any]
) -> Callable[[Command], Command]:
    """Return a decorator that adds options; as ``name`` the command gets what ``make`` makes of some values."""

    def add(command: Command) -> Any:
        @wraps(command)
        def with_one(**given: Any) -> Any:
            taken = {each: given.pop(each) for each in names}
            return command(**{name: make(**taken)}, **given)

        return all_of(*options)(with_one)

    return add


# The scheme and fields of a new index; the command gets the keywords of `Index` as ``known``.
index_options = as_one("known", _known, ("fields", "prefix", "scheme"), scheme_option, field_option)


def similarity(value: str) -> float | Level:
    """Read a minimum similarity: a number, or the name of a level."""
    if value in NAMES:
        return value
    try:
        return float(value)
    except ValueError:
        known = ", ".join(NAMES)
        raise click.BadParameter(f"{value!r} is not a similarity. Give a number up to 1, or one of: {known}.") from None


estimate_option = click.option("--estimate", is_flag=True, help="Decide by fingerprints alone; read no texts.")

# The help of options that an index keeps.
KEPT = "  [default: as in the last run]"


def _similarity_option(more: str = "") -> Callable[[Command], Command]:
    text = f"Minimum: up to 1, or copies (about 0.85), near (0.63), versions (0.5).{more}"
    return click.option("--similarity", type=similarity, metavar="S|LEVEL", help=text)


similarity_option, kept_similarity_option = _similarity_option(), _similarity_option(KEPT)

# What makes documents near-duplicates: ``distance``, ``similarity`` and ``numbers``.
near_options = all_of(
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
        help="Of the numbers in a text, the share that the other must have, too: 1 is all, 0 is none.",
    ),
)


def filter_option(help: str) -> Callable[[Command], Command]:
    """Add a query that restricts documents; the command gets it as JSON."""
    return click.option("--filter", metavar="QUERY", callback=_query, help=help)


def _query(_context: click.Context, _parameter: click.Parameter, text: str | None) -> dict[str, Any] | None:
    return None if text is None else json_object(text, "--filter", '{"term": {"lang": "en"}}')


def wanted_documents(engine: Engine, index: str, known: dict[str, Any]) -> Documents:
    """Return the documents that the options describe if they name fields, else those of the index."""
    from es_simhash.engines.base import run
    from es_simhash.plans.index_plans import IndexPlans

    return run(IndexPlans(index, **known).wanted_documents(), engine)


def warn_of_indices_without_fields(output: Output, index: Index) -> None:
    """Warn of the indices behind a name that have no fingerprints to search."""
    for name in index.without_fields:
        output.warn(f"Left out: the index {name!r} has no fields for fingerprints. Add them with init.")


# ---- which pairs of documents count at all: within a field, across one, in a window of time

_FIELDS = (
    click.option(
        "--within",
        multiple=True,
        metavar="PATH",
        help="Compare only documents with the same value in this field; repeatable.",
    ),
    click.option(
        "--across",
        multiple=True,
        metavar="PATH",
        help="Compare only documents with different values in this field; repeatable.",
    ),
    click.option(
        "--window",
        metavar="LENGTH",
        help="Compare only documents at most this far apart, such as 72h or 3d, by --date.",
    ),
)
_NAMES = ("within", "across", "window", "date")

# The command gets the scope as ``scope``, None without any of the options.
scope_options = as_one(
    "scope",
    Scope.of,
    _NAMES,
    *_FIELDS,
    click.option("--date", metavar="PATH", help="Field with the date that --window is for."),
)


def scope_options_by_date(command: Command) -> Command:
    """Add the options of a scope to a command whose ``--date``, as ``date_field``, has another use as well."""
    scoped = as_one("scope", Scope.of, _NAMES)(command)

    @wraps(command)
    def with_date(window: str | None, date_field: str | None, **given: Any) -> Any:
        return scoped(window=window, date=date_field if window else None, date_field=date_field, **given)

    return all_of(*_FIELDS)(with_date)  # type: ignore[return-value]


def _values(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for each in given:
        path, equals, value = each.partition("=")
        if not path or not equals:
            raise click.BadParameter(f"{each!r} does not name a field and its value. Write it as tenant=acme.")
        values.setdefault(path, []).append(value)
    return values


# The values of a text in the fields of the scope; the command gets them as ``scope_values``, by field.
scope_value_option = click.option(
    "--scope-value",
    "scope_values",
    multiple=True,
    metavar="PATH=VALUE",
    callback=_values,
    help="A value that the text has in a field of the scope; repeatable.",
)

# What an index demands of every command: its scope, no scope, and when groups are made.
policy_options = all_of(
    scope_options,
    click.option("--no-scope", is_flag=True, help="Drop what --within, --across and --window set; documents stay."),
    click.option(
        "--groups",
        type=click.Choice(["batch", "online"]),
        help="Give documents their groups when they are written (online), or when group or sync runs (batch).",
    ),
)

# ---- what commands that go through an index take

accept_option = click.option(
    "--accept",
    multiple=True,
    metavar="CODE",
    callback=lambda _context, _parameter, codes: frozenset(codes),
    help="Continue despite doctor findings with this code; repeatable.",
)
max_rate_option = click.option("--max-rate", type=float, metavar="N", help="Write at most N documents per second.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be done, without doing it.")


def _part(value: str) -> tuple[int, int]:
    """Read the number of one machine's part, from 0, and how many there are."""
    match = re.fullmatch(r"(\d+)/(\d+)", value)
    if not match:
        raise click.UsageError(f"--part cannot be {value!r}. Write, say, --part 3/8.")
    return int(match[1]) - 1, int(match[2])


def part_option(help: str) -> Callable[[Command], Command]:
    """Add an option for what one of several machines does."""
    return click.option("--part", "shard", type=_part, metavar="I/N", help=help)


# The keywords of `RunOptions` but for ``patience``, ``rejects`` and ``dry_run``.
run_options = all_of(
    click.option(
        "--workers",
        "parallel",
        type=click.IntRange(1),
        default=1,
        metavar="N",
        help="Read and write with N workers at once, on this machine.",
    ),
    max_rate_option,
    rejects_option,
    dry_run_option,
)


# ---- the documents that `tune` and `evaluate` read: those of files, or of an index


@dataclass(frozen=True)
class Source:
    """The files or the index, and how its texts are read."""

    files: Files
    prefix: str
    filter: dict[str, Any] | None
    fields: tuple[str, ...]
    scheme: str | None

    def __post_init__(self) -> None:
        paths = self.files.paths
        if others := [each for each in paths if len(paths) > 1 and not (is_file(each) or Path(each).exists())]:
            raise click.UsageError(f"{others[0]!r} is not a file. Name files, or one index.")
        if self.filter is not None and not self.index:
            raise click.UsageError("--filter is for an index. Name one instead of files, or drop the filter.")

    @property
    def index(self) -> str | None:
        """The name of the index, unless there are files."""
        first, *others = self.files.paths
        return None if others or is_file(first) else first


# Files or an index; the command gets the `Source` as ``source``.
source_options = all_of(
    partial(input_options, metavar="INDEX|FILE..."),
    as_one(
        "source",
        Source,
        [each.name for each in fields_of(Source)],
        filter_option("Of an INDEX: only documents that match this query (JSON)."),
        texts_option,
        scheme_option,
    ),
)

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}


def size(value: str | int) -> int:
    """Read a number of bytes, such as 64MB."""
    if isinstance(value, int):  # the default
        return value
    read = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]i?)?b?", value.strip().lower())
    if not read:
        raise click.BadParameter(f"{value!r} is not a size. Write it as 64MB, 1.5GiB or 500000.")
    return int(float(read[1]) * _UNITS[read[2] or ""])


def canonical_option(first: str, *, is_kept: bool = False) -> Callable[[Command], Command]:
    """Add the order of documents in a group, by its name; ``first`` says what comes first by default.

    If it ``is_kept``, it is that of the last run unless it is given.
    """
    orders = f"first ({first}), longest, oldest:FIELD, newest:FIELD, order:FIELD=A,B,C."
    return click.option(
        "--canonical",
        default=None if is_kept else "first",
        metavar="ORDER",
        help=f"Canonical documents: {orders}{KEPT if is_kept else ''}",
    )


def group_options(first: str) -> Callable[[Command], Command]:
    """Add the options that define a group; ``first`` says what comes first by default.

    The command gets them as ``asked``, the keywords of `GroupOptions`, but for the order by its name, ``canonical``.
    """
    return all_of(
        near_options,
        as_one(
            "asked",
            dict,
            ("distance", "similarity", "numbers", "estimate", "memory", "state"),
            canonical_option(first),
            estimate_option,
            click.option("--strip", multiple=True, metavar="REGEX", help="Remove matches from texts; repeatable."),
            click.option(
                "--memory",
                type=size,
                default=MEMORY,
                show_default="256MiB",
                help="Approximate memory to use; the rest goes to temporary files.",
            ),
        ),
    )


state_option = click.option(
    "--state", type=click.Path(file_okay=False), help="Keep each stage in this directory, to resume a stopped run."
)

decisions_option = click.option(
    "--decisions",
    "decisions_file",
    type=click.Path(exists=True, dir_okay=False),
    help="Group as people have decided, by this file.  [default: that of show for a single FILE]",
)

# The files that groups are written to, and the scope.
groups_file_options = all_of(
    output_file("--output", "-o", "groups_file", help="Write the groups to this file; as CSV if it is named so."),
    source_option("members", "shown"),
    output_file("--pairs", "pairs_file", help="Write the pairs that link documents to this file; or as CSV."),
    report_option,
    click.option(
        "--date", "date_field", metavar="FIELD", help="With --window or --report: the field with a document's date."
    ),
    scope_options_by_date,
)


def _share(_context: click.Context, _parameter: click.Parameter, value: str | None) -> float | None:
    """Read a share, such as 30% or 0.3."""
    if value is None:
        return None
    try:
        number = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise click.BadParameter(f"{value!r} is not a share. Write it as 30% or 0.3.")
    return number


# How much may go.
loss_options = all_of(
    click.option("--per", metavar="FIELD", help="Also count how many documents would go of each value of this field."),
    click.option(
        "--max-loss",
        metavar="SHARE",
        callback=_share,
        help="Write nothing if more than this share would go, such as 30%; with --per of any value that 20 have.",
    ),
)


def check_outputs(named: Mapping[str, str | None], date_field: str | None, scope: Scope | None) -> None:
    """Refuse a date that nothing asks for; ``named`` has the files by their options."""
    if date_field and not named["--report"] and not (scope and scope.date):
        raise click.UsageError("--date is for the report or a window. Add --report or --window, or drop it.")
