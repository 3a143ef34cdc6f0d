"""The options of commands that group documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

import click

from es_simhash._core.environment import MEMORY
from es_simhash.cli.options.files import output_file
from es_simhash.cli.options.index import KEPT, estimate_option, near_options
from es_simhash.cli.options.scope import scope_options_by_date
from es_simhash.scheme.scope import Scope

Command = TypeVar("Command", bound=Callable[..., Any])

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}


class Size(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.2
    """A number of bytes."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a size such as 64MB."""
        if isinstance(value, int):
            return value
        read = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]i?)?b?", value.strip().lower())
        if not read:
            self.fail(f"{value!r} is not a size. Write it as 64MB, 1.5GiB or 500000.", param, ctx)
        return int(float(read[1]) * _UNITS[read[2] or ""])


SIZE = Size()


def canonical_option(first: str, *, is_kept: bool = False) -> Callable[[Command], Command]:
    """Add the order of documents in a group, by its name; ``first`` says what comes first by default.

    If it ``is_kept``, it is that of the last run unless it is given.
    """
    orders = f"first ({first}), longest, oldest:FIELD, newest:FIELD, order:FIELD=A,B,C."
    return click.option(
        "--canonical",
        default=None if is_kept else "first",
        show_default=not is_kept,
        metavar="ORDER",
        help=f"Canonical documents: {orders}{KEPT if is_kept else ''}",
    )


def group_options(first: str) -> Callable[[Command], Command]:
    """Add the options that define a group; ``first`` says what comes first by default.

    The command gets them as ``asked``, the keywords of `GroupOptions`, but for the order by its name, ``canonical``.
    """
    names = ("distance", "similarity", "numbers", "estimate", "memory", "state")
    options = (
        canonical_option(first),
        estimate_option,
        click.option("--strip", multiple=True, metavar="REGEX", help="Remove matches from texts; repeatable."),
        click.option(
            "--memory",
            type=SIZE,
            default=MEMORY,
            show_default="256MiB",
            help="Approximate memory to use; the rest goes to temporary files.",
        ),
    )

    def with_options(command: Command) -> Command:
        @wraps(command)
        def with_asked(**given: Any) -> Any:
            return command(asked={name: given.pop(name) for name in names if name in given}, **given)

        for option in reversed(options):
            option(with_asked)
        return near_options(with_asked)  # type: ignore[return-value]

    return with_options


state_option = click.option(
    "--state", type=click.Path(file_okay=False), help="Keep each stage in this directory, to resume a stopped run."
)


def groups_file_options(command: Command) -> Command:
    """Add the scope, and the files that groups are written to."""
    options = (
        output_file("--output", "-o", "groups_file", help="Write the groups to this file; as CSV if it is named so."),
        output_file("--pairs", "pairs_file", help="Write the pairs that link documents to this file; or as CSV."),
        output_file("--report", "report_file", help="Write an HTML report to this file."),
        click.option(
            "--date", "date_field", metavar="FIELD", help="With --window or --report: the field with a document's date."
        ),
    )
    command = scope_options_by_date(command)
    for option in reversed(options):
        option(command)
    return command


def check_outputs(named: Mapping[str, str | None], date_field: str | None, scope: Scope | None) -> None:
    """Refuse a date that nothing asks for; ``named`` has the files by their options."""
    if date_field and not named["--report"] and not (scope and scope.date):
        raise click.UsageError("--date is for the report or a window. Add --report or --window, or drop it.")
