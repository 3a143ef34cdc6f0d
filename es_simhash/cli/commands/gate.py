"""``es-simhash gate``: decide of documents, as they come, whether an index has them already."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.environment import GATE_TOKEN
from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.index import estimate_option, index_argument, similarity_option
from es_simhash.cli.options.logins import secret_in
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.exits import FINE
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from socket import socket

    from starlette.applications import Starlette

    from es_simhash.gate.gate import Gate
    from es_simhash.live.telemetry.metrics import Metrics


@click.command(name="gate", cls=EngineVerb)
@index_argument
@click.option("--stdin", "by_lines", is_flag=True, help="Answer lines from standard input, one line each, and exit.")
@click.option("--write", is_flag=True, help="With --stdin: write the documents, as /add does.")
@click.option(
    "--mode",
    type=click.Choice(["refuse", "advise", "tag", "divert"]),
    default="refuse",
    show_default=True,
    help="What to do with a duplicate.",
)
@click.option("--divert-to", metavar="INDEX", help="Index for duplicates in the mode divert.")
@click.option(
    "--state",
    type=click.Path(file_okay=False),
    default=".es-simhash-gate",
    show_default=True,
    help="Folder of the journal; one gate at a time uses it.",
)
@click.option(
    "--remember",
    type=click.FloatRange(0, min_open=True),
    default=900.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to remember accepted documents that INDEX does not show yet.",
)
@click.option("--id-field", default="id", show_default=True, metavar="PATH", help="Field with the id, if not _id.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=9280, show_default=True, help="0: any free port.")
@click.option("--token-file", type=click.Path(exists=True, dir_okay=False), help="File with the token of clients.")
@similarity_option
@estimate_option
def command(
    index: str,
    by_lines: bool,
    write: bool,
    mode: str,
    divert_to: str | None,
    state: str,
    remember: float,
    id_field: str,
    host: str,
    port: int,
    token_file: str | None,
    prefix: str,
    target: Target,
    output: Output,
    **found_by: Any,
) -> int:
    """Check incoming documents against INDEX, and against those accepted just before.

    Example: es-simhash gate articles --url https://localhost:9200
    """
    from es_simhash._core.stages import rarely_collected
    from es_simhash.gate.gate import Gate
    from es_simhash.gate.verdict import GateOptions

    if write and not by_lines:
        raise click.UsageError("--write is for --stdin. Over HTTP, /add and /bulk write. Leave it out.")
    find = {name: value for name, value in found_by.items() if value is not None and value is not False}
    options = GateOptions(mode, divert_to, remember, find=find)  # type: ignore[arg-type]
    with ExitStack() as opened:
        if not by_lines:
            # What it needs is there before anything is written.
            token = _token(token_file)
            at = opened.enter_context(_listening(host, port, token is not None))
            metrics = _metrics(index, output)
        engine = opened.enter_context(target.opened(output))
        gate = opened.enter_context(Gate(index, engine, state=Path(state), options=options, prefix=prefix))
        # Remembered documents live for long, and are in no cycle.
        opened.enter_context(rarely_collected())
        if gate.set_aside:
            records = counted(gate.set_aside, "record", "records")
            output.warn(
                f"{records} of the journal could not be used, and stand in {gate.set_aside_in}, each with the "
                "reason. Correct those documents, and send them again; then move the file away."
            )
        if by_lines:
            from es_simhash.cli.jobs.gate_lines import answer_lines

            count = answer_lines(gate, write, id_field)
            output.note(f"{counted(count, 'document was', 'documents were')} answered.")
        else:
            from es_simhash.gate.asgi import application

            made = application(gate, token=token, id_field=id_field, metrics=metrics)
            _serve(gate, made, at, output)
    return FINE


def _metrics(index: str, output: Output) -> Metrics | None:
    """Return metrics, which show the run and its engine as well; without their extra there are none."""
    from es_simhash.errors import MissingExtraError
    from es_simhash.gate.measures import metrics_of

    try:
        metrics = metrics_of(index)
    except MissingExtraError:
        return None
    output.run.appear(metrics)
    return metrics


def _token(file: str | None) -> str | None:
    if file is not None:
        return secret_in(file)
    return os.environ.get(GATE_TOKEN) or None


def _listening(host: str, port: int, has_token: bool) -> socket:
    from es_simhash.gate.server import check_extra, listening

    check_extra()
    return listening(host, port, has_token)


def _serve(gate: Gate, made: Starlette, at: socket, output: Output) -> None:
    from es_simhash.gate.server import serve

    def started(address: str) -> None:
        form = {"address": address, "index": gate.name, "mode": gate.options.mode, "pending": gate.pending}
        output.result({**form, "set_aside": gate.set_aside})
        output.line(f"The gate of {gate.name} listens at {address}")

    serve(made, at, started)
    output.note("Stopped: all requests were answered.")
