"""``es-simhash sync``: fingerprints and groups of an index, brought up to date in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from es_simhash.cli.options.connection import JOB, EngineVerb
from es_simhash.cli.options.index import (
    accept_option,
    canonical_option,
    field_option,
    index_argument,
    kept_similarity_option,
    scope_options,
)
from es_simhash.cli.options.target import Target, is_server
from es_simhash.cli.show.groups import show_alarms
from es_simhash.cli.show.output import SOME_FAILED, Output, after, saying_if_interrupted, show_findings
from es_simhash.live.telemetry import counts_of

if TYPE_CHECKING:
    from es_simhash.documents.sources import Rejected
    from es_simhash.groups.of_index.sync import Synced
    from es_simhash.live.sweep.writing import Progress
    from es_simhash.scheme.scope import Scope
    from es_simhash.scheme.verification import Level

# How many of the rejected documents are named.
_REASONS = 10


@click.command(name="sync", cls=EngineVerb, more=JOB)
@index_argument
@field_option
@kept_similarity_option
@canonical_option("by id", is_kept=True)
@scope_options
@accept_option
def command(
    index: str,
    prefix: str,
    patience: float,
    fields: tuple[str, ...],
    similarity: float | Level | None,
    canonical: str | None,
    scope: Scope | None,
    accept: frozenset[str],
    target: Target,
    output: Output,
) -> int:
    """Bring INDEX up to date: fingerprint its new and changed documents, and write the groups of near-duplicates.

    Run it every night: after the first run, it reads only what changed. Run it again after an interruption. The checks
    of doctor run first. For an index without fingerprints, name the text fields by --field. Each run keeps the order,
    similarity and scope of the last one, unless you give others.

    Example: es-simhash sync articles --field title --field body --canonical oldest:published
    """
    rejected: list[bool] = []

    def on_reject(each: Rejected) -> None:
        rejected.append(each.may_pass)
        if len(rejected) <= _REASONS:
            output.warn(f"Rejected: {each.reason}")

    def on_progress(progress: Progress) -> None:
        output.run.count(counts_of(progress), max(0, progress.total - progress.done))

    with (
        target.index(output, index, fields=fields or None, prefix=prefix) as opened,
        saying_if_interrupted(lambda: "Run the command again for the rest."),
    ):
        synced = opened.sync(
            similarity=similarity,
            canonical=canonical,
            scope=scope,
            accept=accept,
            patience=patience,
            on_progress=on_progress,
            on_reject=on_reject,
        )
    show_findings(output, synced.findings)
    _show(output, synced, prefix, is_server(target.place))
    if len(rejected) > _REASONS:
        output.warn(f"Rejected: {len(rejected) - _REASONS:,} more documents.")
    if synced.left_out:
        output.warn(f"Left out: {', '.join(synced.left_out)}. The reasons are above.")
        return SOME_FAILED
    return after(len(rejected), sum(rejected))


def _show(output: Output, synced: Synced, prefix: str, has_dashboards: bool) -> None:
    """Print the summary, and the next step where there is something new to look at."""
    output.result(synced)
    shown = synced.shown()
    for line in (f"{shown.heading}.", *shown.notes):
        output.report(line)
    show_alarms(output, synced.alarms, "" if synced.is_first else "Of new documents: ")
    if synced.alarms:
        output.note("Give such an option to group --write once: sync keeps it.")
    if synced.groups and (synced.is_first or synced.new_groups):
        report = ("--report", "duplicates.html")
        output.next_step(
            *(("dashboard", synced.index) if has_dashboards else ("group", synced.index, *report)), prefix=prefix
        )
