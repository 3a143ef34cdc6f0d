"""The options of commands that go through an index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

accept_option = click.option(
    "--accept", multiple=True, metavar="CODE", help="Go on in spite of what doctor finds by this code; repeat for more."
)


def patience_option(command: Command) -> Command:
    """How long an engine is waited for."""
    return click.option(
        "--patience", type=float, default=600.0, show_default=True, help="Seconds to wait for a busy engine."
    )(command)


def run_options(command: Command) -> Command:
    """How a run goes about it: the keywords of `RunOptions`, and ``rejects``."""
    options = (
        click.option(
            "--parallel",
            "parallel",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            help="Work on so many at once.",
        ),
        click.option("--max-rate", type=float, metavar="N", help="Write at most N documents a second."),
        patience_option,
        click.option(
            "--rejects",
            type=click.Path(dir_okay=False),
            default="rejected.jsonl",
            show_default=True,
            help="Where to append what could not be done, with its id and the reason.",
        ),
    )
    for option in reversed(options):
        option(command)
    return command
