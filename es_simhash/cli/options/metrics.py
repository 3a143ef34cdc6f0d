"""The options of long jobs that publish metrics."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from es_simhash.cli.options.files import output_file
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.live.telemetry.publish import MetricsFile

Command = TypeVar("Command", bound=Callable[..., Any])


def metrics_options(command: Command) -> Command:
    """Add where the command publishes its metrics, and publish them while it runs."""

    @wraps(command)
    def with_metrics(metrics_port: int | None, metrics_file: str | None, output: Output, **given: Any) -> Any:
        index = given.get("index") or given.get("source") or ""
        with _published(output, index, metrics_port, metrics_file):
            return command(output=output, **given)

    options = (
        click.option(
            "--metrics-port",
            type=click.IntRange(0, 65535),
            metavar="PORT",
            help="Show Prometheus metrics on this port of this machine while it runs.",
        ),
        output_file("--metrics-file", help="Write Prometheus metrics to this file, as for the textfile collector."),
    )
    for option in reversed(options):
        option(with_metrics)
    return with_metrics  # type: ignore[return-value]


@contextmanager
def _published(output: Output, index: str, port: int | None, path: str | None) -> Iterator[None]:
    if port is None and path is None:
        yield
        return
    from es_simhash.live.telemetry.job_metrics import METRICS, SUCCEEDED
    from es_simhash.live.telemetry.metrics import Metrics
    from es_simhash.live.telemetry.publish import MetricsFile, on_port

    run = output.run
    # Of two files, the textfile collector takes no values with the same labels.
    file_of = {} if path is None else {"file": os.path.basename(path)}
    metrics = Metrics(METRICS, verb=run.verb, index=index, **file_of)
    run.publish(metrics)
    with ExitStack() as stack:
        if port is not None:
            output.note(f"Metrics are on {stack.enter_context(on_port(metrics, port))}.")
        if path is not None:
            file = MetricsFile(metrics, path)
            file.keep(SUCCEEDED)
            file.write()
            run.on_change, run.on_end = partial(_write, output, file, False), partial(_write, output, file, True)
        yield


def _write(output: Output, file: MetricsFile, at_once: bool) -> None:
    """Write the file if it is time to; the job goes on where that fails."""
    if not (at_once or file.is_old):
        return
    try:
        file.write()
    except OSError as error:
        output.warn(
            f"The metrics are not written: {error.filename}: {error.strerror}. Make room, or name another file."
        )
