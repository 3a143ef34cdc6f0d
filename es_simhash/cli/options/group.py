"""The options that the commands have in common which make groups of all documents."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from es_simhash.cli.options.index import near_options

Command = TypeVar("Command", bound=Callable[..., Any])

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}


class Size(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.2
    """A number of bytes."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes that a text stands for."""
        if isinstance(value, int):
            return value
        read = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]i?)?b?", value.strip().lower())
        if not read:
            self.fail(f"{value!r} is no size. Write it as 64MB, 1.5GiB or 500000.", param, ctx)
        return int(float(read[1]) * _UNITS[read[2] or ""])


SIZE = Size()


def group_options(linkage: str, verify: str | None, first: str) -> Callable[[Command], Command]:
    """What a group is, with these defaults, and ``first`` as what the order by default means."""
    options = (
        click.option(
            "--linkage",
            type=click.Choice(["star", "single", "complete"]),
            default=linkage,
            show_default=True,
            help="Near whom a member is: the document kept; any other; all others.",
        ),
        click.option(
            "--canonical",
            default="first",
            show_default=True,
            metavar="ORDER",
            help=f"Which to keep: first ({first}), longest, oldest:FIELD, newest:FIELD, order:FIELD=A,B,C.",
        ),
        click.option(
            "--verify",
            type=click.Choice(["estimate", "doubtful", "exact"]),
            default=verify,
            show_default=verify or "as the scheme says",
            help="Which pairs are decided by their texts: none, those in doubt, all.",
        ),
        click.option("--strip", multiple=True, metavar="REGEX", help="Leave out of texts what this finds; repeat it."),
        click.option("--common", type=float, metavar="SHARE", help="Let features of more than this share not decide."),
        click.option("--max-bucket", type=click.IntRange(2), metavar="N", help="Compare only N documents of a key."),
        click.option(
            "--memory",
            type=SIZE,
            default="256MB",
            show_default=True,
            help="About how much memory to take; what is more goes to temporary files.",
        ),
    )

    def with_options(command: Command) -> Command:
        for option in reversed(options):
            option(command)
        return near_options(command)

    return with_options
