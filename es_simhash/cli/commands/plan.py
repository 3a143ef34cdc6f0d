"""``es-simhash plan``: what a long job will take, before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.environment import PATIENCE
from es_simhash._core.humanize import counted, rounded, with_unit
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.index import index_argument, index_options, wanted_documents
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.live.backfill.forecast import BackfillForecast


@click.command(name="plan", cls=EngineVerb)
@click.argument("job", type=click.Choice(["backfill"]))
@index_argument
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), metavar="N", help="Documents a second that one node writes."
)
@click.option(
    "--failures",
    type=click.FloatRange(0),
    default=0.01,
    show_default=True,
    metavar="N",
    help="How often a node is lost, a day.",
)
@click.option(
    "--away",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="HOURS",
    help="How long a lost node is away, on average.",
)
@click.option(
    "--trial", type=click.IntRange(0), default=300, show_default=True, metavar="N", help="Number of documents to try."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the simulation.")
@index_options
def command(
    job: str,
    index: str,
    known: dict[str, Any],
    rate: float | None,
    failures: float,
    away: float,
    trial: int,
    seed: int,
    target: Target,
    output: Output,
) -> None:
    """Plan a job over INDEX: hours, disk, heap and slices, on 1 to 16 nodes that may fail. Nothing is written.

    Some documents are read and fingerprinted. How fast a node writes comes from the benchmarks, by the size of the
    documents and the processors; measure it by a backfill of a small part (--filter) and give --rate. That more nodes
    are faster, while there are shards for them, is assumed. The simulation runs a hundred times.

    Example: es-simhash plan backfill articles
    """
    from es_simhash.engines.base import run
    from es_simhash.live.backfill.forecast import ForecastOptions, plan_backfill
    from es_simhash.live.backfill.simulation import Failures

    options = ForecastOptions(rate, Failures(failures, away, PATIENCE), trial, seed)
    with target.opened(output) as engine:
        planned = run(plan_backfill(index, wanted_documents(engine, index, known), options), engine)
    output.result({"job": job, **_as_json(planned)})
    _show(output, planned, failures, away)


def _as_json(planned: BackfillForecast) -> dict[str, Any]:
    form = asdict(planned)
    return {**form, "needs": [{**each.pop("forecast"), **each} for each in form["needs"]]}


def _show(output: Output, planned: BackfillForecast, failures: float, away: float) -> None:
    from es_simhash.live.backfill.forecast import CLIENT_BYTES

    columns = ["nodes", "hours, half the runs", "hours, 9 of 10 runs", "losses", "restarts", "slices", "heap", "disk"]
    rows = []
    for each in planned.needs:
        found = each.forecast
        now = " (now)" if found.nodes == len(planned.nodes) else ""
        simulated = map(rounded, (found.p50, found.p90, found.losses, found.restarts))
        rows.append([f"{found.nodes}{now}", *simulated, each.slices, with_unit(each.heap), with_unit(each.disk)])
    output.table(columns, rows)
    for line in _remarks(planned):
        output.line(line)
    output.line(f"Assumed: each node is lost {failures:g} times a day, for {away:g} hours.")
    output.line(
        "Heap and disk are those of each node. A slice is one command with --shard I/N, which takes a core and "
        f"{with_unit(CLIENT_BYTES)}."
    )


def _remarks(planned: BackfillForecast) -> Iterator[str]:
    free = "" if planned.free is None else f", and {with_unit(planned.free)} are free"
    yield (
        f"{counted(planned.due, 'document')} of {planned.documents:,} in {counted(planned.shards, 'shard')} with "
        f"{counted(planned.replicas, 'replica')}, of {planned.bytes:,} bytes and up to {planned.added:,} more."
    )
    yield f"The disks need {with_unit(planned.peak)} until segments are merged{free}."
    how = "from the benchmarks, by the size of the documents and the processors"
    how = "as given" if planned.by == "given" else how
    yield f"Writing: {planned.rate:,.0f} documents a second and node, {how}."
    if trial := planned.trial:
        yield (
            f"Measured on {counted(trial.documents, 'document')} of the index: {1e6 * trial.reading:,.0f} µs to read "
            f"one, and {1e6 * trial.computing:,.0f} µs of a core to fingerprint it."
        )
