"""The options of commands that go through an index."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from es_simhash.cli.options.files import rejects_option

Command = TypeVar("Command", bound=Callable[..., Any])

accept_option = click.option(
    "--accept", multiple=True, metavar="CODE", help="Continue despite doctor findings with this code; repeatable."
)
max_rate_option = click.option("--max-rate", type=float, metavar="N", help="Write at most N documents per second.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be done, without doing it.")


class Part(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.2
    """One machine's part: its number and their count."""

    name = "part"

    def convert(
        self, value: str | tuple[int, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Read the number of a part, from 0, and how many there are."""
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"(\d+)/(\d+)", value)
        if not match:
            raise click.UsageError(f"--part cannot be {value!r}. Write, say, --part 3/8.")
        return int(match[1]) - 1, int(match[2])


def part_option(help: str) -> Callable[[Command], Command]:
    """Add an option for what one of several machines does."""
    return click.option("--part", "shard", type=Part(), metavar="I/N", help=help)


def run_options(command: Command) -> Command:
    """Add the keywords of `RunOptions` but for ``patience``, ``rejects`` and ``dry_run``."""
    options = (
        click.option(
            "--workers",
            "parallel",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            metavar="N",
            help="Read and write with N workers at once, on this machine.",
        ),
        max_rate_option,
        rejects_option,
        dry_run_option,
    )
    for option in reversed(options):
        option(command)
    return command
