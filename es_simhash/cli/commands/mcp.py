"""``es-simhash mcp``: an index's near-duplicates as tools for agents."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click

from es_simhash.cli.options.connection import EngineVerb, show_end
from es_simhash.cli.options.index import index_argument, warn_of_indices_without_fields
from es_simhash.cli.options.target import Target
from es_simhash.cli.show import output as log
from es_simhash.cli.show.output import INTERRUPTED, Output


@click.command(name="mcp", cls=EngineVerb)
@index_argument
@click.option("--allow-write", is_flag=True, help="Add the tool that writes new documents.")
def command(index: str, allow_write: bool, prefix: str, target: Target, output: Output) -> None:
    """Serve the tools find, check, explain, groups and sample on INDEX to an agent.

    A client of the Model Context Protocol starts it, and talks to it by standard input and output. It reads only,
    unless --allow-write adds the tool add.

    Example: es-simhash mcp articles --url https://localhost:9200
    """
    from es_simhash.integrations.mcp import server_of

    with target.index(output, index, prefix=prefix) as opened:
        warn_of_indices_without_fields(output, opened)
        with _ended_by_interruption(output), _ended_by_the_client():
            server_of(opened, allow_write).run("stdio")


@contextmanager
def _ended_by_interruption(output: Output) -> Iterator[None]:
    """End the process at once if it is interrupted: a thread that waits for the client would keep it from ending."""

    def end(*_: object) -> None:
        log.write("error", "interrupted", "Interrupted.")
        show_end(output, INTERRUPTED)
        os._exit(INTERRUPTED)

    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def _ended_by_the_client() -> Iterator[None]:
    """End quietly where the client is gone, and nobody reads the answers."""
    try:
        yield
    except Exception as error:
        if not _is_of_a_closed_pipe(error):
            raise


def _is_of_a_closed_pipe(error: BaseException) -> bool:
    from anyio import BrokenResourceError, ClosedResourceError

    # Tasks that fail together raise a group.
    several = getattr(error, "exceptions", ())
    if several:
        return all(map(_is_of_a_closed_pipe, several))
    return isinstance(error, BrokenPipeError | ConnectionResetError | BrokenResourceError | ClosedResourceError)
