"""``es-simhash gate``: decide of documents, as they come, whether an index has them already."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.environment import GATE_TOKEN
from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import EngineVerb, listening
from es_simhash.cli.options.index import estimate_option, index_argument, similarity_option
from es_simhash.cli.options.target import Target, secret_in
from es_simhash.cli.show.output import FINE, Output

if TYPE_CHECKING:
    from es_simhash.gate.gate import Answered
    from es_simhash.live.telemetry import Metrics


@click.command(name="gate", cls=EngineVerb)
@index_argument
@click.option("--stdin", "by_lines", is_flag=True, help="Answer lines from standard input, one line each, and exit.")
@click.option("--write", is_flag=True, help="With --stdin: write the documents, as /add does.")
@click.option(
    "--mode",
    type=click.Choice(["refuse", "advise"]),
    default="refuse",
    help="What to do with a duplicate.",
)
@click.option(
    "--state",
    type=click.Path(file_okay=False),
    default=".es-simhash-gate",
    help="Folder of the journal; one gate at a time uses it.",
)
@click.option(
    "--remember",
    type=click.FloatRange(0, min_open=True),
    default=900.0,
    metavar="SECONDS",
    help="How long to remember accepted documents that INDEX does not show yet.",
)
@click.option("--id-field", default="id", metavar="PATH", help="Field with the id, if not _id.")
@click.option(
    "--port",
    "at",
    type=listening,
    default="9280",
    show_default=False,
    metavar="[HOST:]PORT",
    help="Where to listen; 0 is any free port.  [default: 127.0.0.1:9280]",
)
@click.option("--token-file", type=click.Path(exists=True, dir_okay=False), help="File with the token of clients.")
@similarity_option
@estimate_option
def command(
    index: str,
    by_lines: bool,
    write: bool,
    mode: str,
    state: str,
    remember: float,
    id_field: str,
    at: tuple[str, int],
    token_file: str | None,
    prefix: str,
    target: Target,
    output: Output,
    **found_by: Any,
) -> int:
    """Check incoming documents against INDEX, and against those accepted just before.

    It answers HTTP requests until it is stopped: /check only decides about a document, /add also writes it. With
    --stdin it answers lines instead.

    Example: es-simhash gate articles --url https://localhost:9200
    """
    from es_simhash._core.batches import rarely_collected
    from es_simhash.gate.gate import Gate
    from es_simhash.gate.judging import GateOptions

    if write and not by_lines:
        raise click.UsageError("--write is for --stdin. Over HTTP, /add and /bulk write. Leave it out.")
    find = {name: value for name, value in found_by.items() if value is not None and value is not False}
    options = GateOptions(mode, remember, find=find)  # type: ignore[arg-type]
    with ExitStack() as opened:
        if not by_lines:
            # What it needs is there before anything is written.
            from es_simhash.gate.server import bound, check_extra

            token = secret_in(token_file) if token_file is not None else os.environ.get(GATE_TOKEN) or None
            check_extra()
            socket = opened.enter_context(bound(*at, token is not None))
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

            answer_lines(gate, write, id_field)
            _show_answered(output, gate.answered)
        else:
            from es_simhash.gate.asgi import application
            from es_simhash.gate.server import serve

            def started(address: str) -> None:
                form = {"address": address, "index": gate.name, "mode": mode, "pending": gate.pending}
                output.result({**form, "set_aside": gate.set_aside})
                output.line(f"The gate of {gate.name} listens at {address}")

            serve(application(gate, token=token, id_field=id_field, metrics=metrics), socket, started)
            _show_answered(output, gate.answered)
            output.note("Stopped: all requests were answered.")
    return FINE


def _show_answered(output: Output, answered: Answered) -> None:
    output.note(answered.sentence)
    for sentence in answered.warnings:
        output.warn(sentence)


def _metrics(index: str, output: Output) -> Metrics | None:
    """Return metrics, which show the run and its engine as well; without their extra there are none."""
    from es_simhash.errors import MissingExtraError
    from es_simhash.gate.asgi import metrics_of

    try:
        metrics = metrics_of(index)
    except MissingExtraError:
        return None
    output.run.appear(metrics)
    return metrics
