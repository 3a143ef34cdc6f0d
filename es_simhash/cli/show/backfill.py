"""The plan, the progress and the result of ``backfill``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted, counted_parts, lasting, rounded
from es_simhash.cli.show.learning import show_learnt
from es_simhash.cli.show.output import Output
from es_simhash.cli.show.progress import show_findings, show_parts, showing_progress, warn_of_left_out

if TYPE_CHECKING:
    from es_simhash.live.backfill.totals_file import TotalsFile
    from es_simhash.live.backfill.trial import Trial
    from es_simhash.live.sweep.progress import Progress
    from es_simhash.live.sweep.reading import Survey


@dataclass
class BackfillOutput:
    """A report for people as a bar or lines, for programs as events; it stores the totals of several runs."""

    output: Output
    totals_file: TotalsFile

    def begin(self, survey: Survey, trial: Trial | None, dry_run: bool) -> None:
        """Print the doctor's findings, the indices, the number of documents to process in each, and a trial of some.

        With ``dry_run``, --quiet does not hide them.
        """
        show_findings(self.output, survey.findings)
        self.output.result({"event": "plan"}, survey, {"run": self.totals_file.before.runs, "trial": trial})
        if dry_run or not self.output.quiet:
            show_parts(self.output, survey.parts)
        if trial:
            self.output.line(
                f"Reading and fingerprinting takes about {lasting(trial.seconds)}, at "
                f"{rounded(trial.documents_per_second)} documents/s, measured on "
                f"{counted(trial.documents, 'document')}. Writing takes additional time."
            )
        before = self.totals_file.before
        if before.written:
            self.output.note(
                f"Run {before.runs}: {counted(before.written, 'document')} fingerprinted earlier, "
                f"in {before.seconds:,.0f} s."
            )

    @contextmanager
    def showing_progress(self, total: int) -> Iterator[Callable[[Progress], None]]:
        """Yield a function that shows and stores the progress of the run."""
        with showing_progress(self.output, "Backfilling", total, _more) as show:

            def show_and_store(progress: Progress) -> None:
                self.totals_file.update(progress)
                show(progress)

            yield show_and_store

    def so_far(self, progress: Progress) -> str:
        """Return what was done, as a sentence without a full stop."""
        return f"{counted(progress.written, 'document')} of {progress.index} fingerprinted"

    def end(self, progress: Progress, rejects: str) -> None:
        """Print the result; keep the totals unless everything is done."""
        totals = self.totals_file.totals(progress)
        self.output.result({"event": "done"}, progress, {"rejects": rejects, "all_runs": totals})
        self.output.report(f"{progress.index}: {_summary(progress)}.")
        self.output.detail(f"It took {progress.seconds:,.1f} s.")
        if progress.resent:
            resent = counted(progress.resent, "document was", "documents were")
            self.output.detail(f"{resent} sent twice, because a reply was lost; the second request changed nothing.")
        show_learnt(self.output, progress.learnt)
        warn_of_left_out(self.output, progress)
        if progress.unsettled:
            self.output.warn(
                f"Texts keep changing: {counted(progress.unsettled, 'change')} came after the last pass. Run the "
                "command again when the writers have stopped, or let them write fingerprints."
            )
        if progress.rejected or progress.left_out or progress.unsettled:
            self.totals_file.write(progress)
        else:
            self.totals_file.remove()


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
