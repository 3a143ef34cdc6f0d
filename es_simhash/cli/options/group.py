"""The options of commands that group documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import click

from es_simhash._core.environment import MEMORY
from es_simhash.cli.options.decorators import Command, all_of, as_one
from es_simhash.cli.options.files import output_file, report_option
from es_simhash.cli.options.index import KEPT, estimate_option, near_options, scope_options_by_date, source_option
from es_simhash.scheme.scope import Scope

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
    help="Group as people have decided, by this file (see show).",
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
