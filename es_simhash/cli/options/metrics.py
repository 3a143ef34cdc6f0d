"""The metrics of a job, published while it runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.live.telemetry.metrics import MetricsFile


def listening(value: str) -> tuple[str, int]:
    """Read a port, of this machine alone unless an address stands before it: 9464, 0.0.0.0:9464 or [::]:9464."""
    from ipaddress import ip_address

    host, _, port = value.rpartition(":")
    with suppress(ValueError):
        if re.fullmatch("[0-9]{1,5}", port) and int(port) <= 65535:
            return str(ip_address(host.strip("[]") or "127.0.0.1")), int(port)
    raise click.BadParameter(f"{value!r} is not a port. Write, say, 9464, or 0.0.0.0:9464 for other machines.")


@contextmanager
def published(output: Output, index: str, port: tuple[str, int] | None, path: str | None) -> Iterator[None]:
    """Publish the metrics of a run at a port and in a file, if they are named."""
    if port is None and path is None:
        yield
        return
    from es_simhash.live.telemetry.metrics import METRICS, SUCCEEDED, Metrics, MetricsFile, on_port

    run = output.run
    # Of two files, the textfile collector takes no values with the same labels.
    file_of = {} if path is None else {"file": os.path.basename(path)}
    metrics = Metrics(METRICS, verb=run.verb, index=index, **file_of)
    run.publish(metrics)
    with ExitStack() as stack:
        if port is not None:
            output.note(f"Metrics are on {stack.enter_context(on_port(metrics, *port))}.")
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
