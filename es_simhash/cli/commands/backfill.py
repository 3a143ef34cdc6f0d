"""``es-simhash backfill``: add fingerprints to the documents of an index."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.environment import STATE_HOME
from es_simhash._core.humanize import counted, counted_parts, lasting, rounded
from es_simhash.cli.options.connection import JOB, EngineVerb
from es_simhash.cli.options.index import (
    accept_option,
    filter_option,
    index_argument,
    index_options,
    part_option,
    run_options,
    wanted_documents,
)
from es_simhash.cli.options.target import Target, is_server
from es_simhash.cli.show.output import (
    FINE,
    SOME_FAILED,
    Output,
    after,
    saying_if_interrupted,
    show_findings,
    show_learnt,
    show_parts,
    showing_progress,
    warn_of_left_out,
)

if TYPE_CHECKING:
    from es_simhash.documents.documents import Documents
    from es_simhash.index import Index
    from es_simhash.live.backfill import BackfillOptions, TotalsFile, Trial
    from es_simhash.live.sweep.reading import Survey
    from es_simhash.live.sweep.writing import Progress


@click.command(name="backfill", cls=EngineVerb, more=JOB)
@index_argument
@filter_option("Only documents that match this query (JSON).")
@click.option("--refresh-stale", is_flag=True, help="Also update the fingerprints of texts that have changed.")
@part_option("Process only part I of N, so that N machines share the work.")
@click.option("--no-refresh", "without_refresh", is_flag=True, help="Turn the index's refreshes off during the run.")
@run_options
@accept_option
@index_options
def command(
    index: str,
    known: dict[str, Any],
    shard: tuple[int, int] | None,
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
    from es_simhash.live.backfill import Backfill, BackfillOptions

    options = BackfillOptions(**given, shard=shard or (0, 1))
    with target.opened(output) as engine, RejectFile(rejects) as rejected:
        documents = wanted_documents(engine, index, known)
        totals = _totals_file(target, index, documents, options)
        backfill = Backfill(engine, index, documents, options, brings_fields=bool(known["fields"]))
        _show_plan(output, backfill.survey, totals, backfill.trial() if dry_run else None, dry_run)
        if dry_run:
            return SOME_FAILED if backfill.survey.left_out else FINE
        backfill.survey.check()
        if known["fields"]:
            for part in backfill.survey.parts:
                Index(part.index, engine, **known).init()

        def done(written: int) -> str:
            return f"{counted(written, 'document')} of {index} fingerprinted"

        with showing_progress(output, "Backfilling", backfill.progress, done, _more) as show:

            def on_progress(progress: Progress) -> None:
                totals.update(progress)
                show(progress)

            try:
                progress = backfill.run(on_progress, rejected)
            finally:
                if not backfill.is_set_back:
                    output.warn(
                        f"The settings of {index} may not be restored. Run the command again: it restores them first."
                    )
        _show(output, progress, totals, rejects)
        _group(output, Index(index, engine, prefix=known["prefix"]), options.patience)
    output.rejected(rejected.count, rejects)
    if progress.written:
        output.next_step("group", index, prefix=documents.prefix)
    if progress.left_out or progress.unsettled:
        return SOME_FAILED
    return after(rejected.count, rejected.may_pass)


def _group(output: Output, index: Index, patience: float) -> None:
    """Group what has no group, where the policy of the index says so."""
    from es_simhash.groups.of_index.writing import reconcile

    with saying_if_interrupted(
        lambda: f"Some documents are not grouped yet. Run: es-simhash group {index.name} --incremental --write."
    ):
        written = reconcile(index.engine, index.name, index.documents, patience)
    if written is not None:
        output.note(f"{counted(written.written, 'document')} grouped.")


def _totals_file(target: Target, index: str, documents: Documents, options: BackfillOptions) -> TotalsFile:
    """Open the totals of the backfill with these aims, under the user's state directory."""
    from es_simhash.live.backfill import TotalsFile

    place = target.place if is_server(target.place) else str(Path(target.place).resolve())
    aims = (place, index, documents.prefix, documents.scheme.id, options.filter, options.shard)
    name = hashlib.sha256(repr(aims).encode()).hexdigest()[:16]
    state = os.environ.get(STATE_HOME) or Path.home() / ".local" / "state"
    return TotalsFile(Path(state) / "es-simhash" / "backfill" / f"{name}.json", repr(aims))


# ---- what is shown


def _show_plan(output: Output, survey: Survey, totals: TotalsFile, trial: Trial | None, dry_run: bool) -> None:
    """Print the doctor's findings, the indices, the number of documents to process in each, and a trial of some.

    With ``dry_run``, --quiet does not hide them.
    """
    show_findings(output, survey.findings)
    output.result({"event": "plan"}, survey, {"run": totals.before.runs, "trial": trial})
    if dry_run or not output.quiet:
        show_parts(output, survey.parts)
    if trial:
        output.line(
            f"Reading and fingerprinting takes about {lasting(trial.seconds)}, at "
            f"{rounded(trial.documents_per_second)} documents/s, measured on "
            f"{counted(trial.documents, 'document')}. Writing takes additional time."
        )
    before = totals.before
    if before.written:
        output.note(
            f"Run {before.runs}: {counted(before.written, 'document')} fingerprinted earlier, "
            f"in {before.seconds:,.0f} s."
        )


def _show(output: Output, progress: Progress, totals: TotalsFile, rejects: str) -> None:
    """Print the result; keep the totals unless everything is done."""
    output.result({"event": "done"}, progress, {"rejects": rejects, "all_runs": totals.totals(progress)})
    output.report(f"{progress.index}: {_summary(progress)}.")
    output.detail(f"It took {progress.seconds:,.1f} s.")
    if progress.resent:
        resent = counted(progress.resent, "document was", "documents were")
        output.detail(f"{resent} sent twice, because a reply was lost; the second request changed nothing.")
    show_learnt(output, progress.learnt)
    warn_of_left_out(output, progress)
    if progress.unsettled:
        output.warn(
            f"Texts keep changing: {counted(progress.unsettled, 'change')} came after the last pass. Run the "
            "command again when the writers have stopped, or let them write fingerprints."
        )
    if progress.rejected or progress.left_out or progress.unsettled:
        totals.write(progress)
    else:
        totals.remove()


def _summary(progress: Progress) -> str:
    """Describe what became of the documents; what did not happen is left out."""
    counts = {
        "fingerprinted": progress.written,
        "already up to date": progress.current,
        "deleted during the run": progress.gone,
        "rejected": progress.rejected,
        "written again after concurrent changes": progress.conflicts,
    }
    return counted_parts(counts) or "all documents have fingerprints"


def _more(progress: Progress) -> str:
    """Return the throughput of a run under way, and how many writes met concurrent changes."""
    conflicts = f", {counted(progress.conflicts, 'conflict')}" if progress.conflicts else ""
    return f", {progress.megabytes_per_second:.1f} MB/s{conflicts}"
