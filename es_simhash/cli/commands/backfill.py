"""``es-simhash backfill``: add fingerprints to the documents of an index."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.environment import STATE_HOME
from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import JOB, EngineVerb
from es_simhash.cli.options.index import filter_option, index_argument, index_options, wanted_documents
from es_simhash.cli.options.places import is_server
from es_simhash.cli.options.run import accept_option, part_option, run_options
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.backfill import BackfillOutput
from es_simhash.cli.show.exits import FINE, SOME_FAILED, after, saying_if_interrupted
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.documents.documents import Documents
    from es_simhash.engines.base import Engine
    from es_simhash.index import Index
    from es_simhash.live.backfill.options import BackfillOptions
    from es_simhash.live.backfill.totals_file import TotalsFile
    from es_simhash.live.sweep.reading import Survey


@click.command(name="backfill", cls=EngineVerb, more=JOB)
@index_argument
@filter_option("Only documents that match this query (JSON).")
@click.option("--since", metavar="FIELD:TIME", help="Only documents with this date or a later one.")
@click.option("--refresh-stale", is_flag=True, help="Also update the fingerprints of texts that have changed.")
@part_option("Process only part I of N, so that N machines share the work.")
@click.option("--no-refresh", is_flag=True, help="Turn the index's refreshes off during the run.")
@click.option("--no-replicas", is_flag=True, help="Drop replicas during the run: faster, but with a single copy.")
@run_options
@accept_option
@index_options
def command(
    index: str,
    known: dict[str, Any],
    rejects: str,
    dry_run: bool,
    target: Target,
    output: Output,
    **given: Any,
) -> int:
    """Add fingerprints to the documents of INDEX.

    Only documents without fingerprints are processed: to resume a stopped run, run the same command again. With
    --field, the index first gets the fields, as with init. Documents are updated in place, in these fields only, and
    never if somebody else has changed them since they were read.

    The checks of doctor run first. If several indices stand behind INDEX, those that cannot be processed are left out,
    and the exit code is 1.

    Example: es-simhash backfill articles --field title --field body
    """
    from es_simhash.documents.files import RejectFile
    from es_simhash.index import Index
    from es_simhash.live.backfill.run import Backfill

    options = _options(given)
    with target.opened(output) as engine, RejectFile(rejects) as rejected:
        documents = wanted_documents(engine, index, known)
        report = BackfillOutput(output, _totals_file(target, index, documents, options))
        backfill = Backfill(engine, index, documents, options, brings_fields=bool(known["fields"]))
        report.begin(backfill.survey, backfill.trial() if dry_run else None, dry_run)
        if dry_run:
            return SOME_FAILED if backfill.survey.left_out else FINE
        backfill.survey.check()
        if known["fields"]:
            _add_fields(engine, backfill.survey, known)
        with (
            report.showing_progress(backfill.progress.total) as show,
            saying_if_interrupted(lambda: f"{report.so_far(backfill.progress)}. Run the command again for the rest."),
        ):
            try:
                progress = backfill.run(show, rejected)
            finally:
                if not backfill.is_set_back:
                    output.warn(
                        f"The settings of {index} may not be restored. Run the command again: it restores them first."
                    )
        report.end(progress, rejects)
        _group(output, Index(index, engine, prefix=known["prefix"]), options.patience)
    output.rejected(rejected.count, rejects)
    if progress.written:
        output.next_step("group", index)
    if progress.left_out or progress.unsettled:
        return SOME_FAILED
    return after(rejected.count, rejected.may_pass)


def _add_fields(engine: Engine, survey: Survey, known: dict[str, Any]) -> None:
    """Add the fields to the indices that can be processed."""
    from es_simhash.index import Index

    for part in survey.parts:
        Index(part.index, engine, **known).init()


def _group(output: Output, index: Index, patience: float) -> None:
    """Group what has no group, where the policy of the index says so."""
    from es_simhash.groups.of_index.run import reconcile

    with saying_if_interrupted(
        lambda: f"Some documents are not grouped yet. Run: es-simhash group {index.name} --incremental --write."
    ):
        written = reconcile(index.engine, index.name, index.documents, patience)
    if written is not None:
        output.note(f"{counted(written.written, 'document')} grouped.")


def _options(given: dict[str, Any]) -> BackfillOptions:
    from es_simhash.live.backfill.options import BackfillOptions

    since = given["since"]
    return BackfillOptions(
        filter=given["filter"],
        since=None if since is None else _since(since),
        refresh_stale=given["refresh_stale"],
        parallel=given["parallel"],
        shard=given["shard"] or (0, 1),
        max_rate=given["max_rate"],
        patience=given["patience"],
        without_refresh=given["no_refresh"],
        without_replicas=given["no_replicas"],
        accept=frozenset(given["accept"]),
    )


def _since(text: str) -> tuple[str, str]:
    field, _, moment = text.partition(":")
    if not (field and moment):
        raise click.UsageError(f"--since cannot be {text!r}. Write, say, --since published:2026-11-01.")
    return field, moment


def _totals_file(target: Target, index: str, documents: Documents, options: BackfillOptions) -> TotalsFile:
    """Open the totals of the backfill with these aims, under the user's state directory."""
    from es_simhash.live.backfill.totals_file import TotalsFile

    place = target.place if is_server(target.place) else str(Path(target.place).resolve())
    aims = (place, index, documents.prefix, documents.scheme.id, options.filter, options.since, options.shard)
    name = hashlib.sha256(repr(aims).encode()).hexdigest()[:16]
    state = os.environ.get(STATE_HOME) or Path.home() / ".local" / "state"
    return TotalsFile(Path(state) / "es-simhash" / "backfill" / f"{name}.json", repr(aims))
