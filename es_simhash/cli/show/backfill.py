"""The plan, the progress and the result of ``backfill``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted, lasting, rounded
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
                f"All takes about {lasting(trial.seconds)} at {rounded(trial.documents_per_second)} documents/s, as "
                f"{counted(trial.documents, 'document')} were read and fingerprinted; writing comes on top."
            )
        before = self.totals_file.before
        if before.written:
            self.output.note(
                f"Run {before.runs}: {counted(before.written, 'document was', 'documents were')} written before, "
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
        return f"Fingerprints were given to {counted(progress.written, 'document')} of {progress.index}"

    def end(self, progress: Progress, rejects: str) -> None:
        """Print the result; keep the totals unless everything is done."""
        totals = self.totals_file.totals(progress)
        self.output.result({"event": "done"}, progress, {"rejects": rejects, "all_runs": totals})
        self.output.report(
            f"{progress.index}: {progress.written:,} written, {progress.current:,} up to date, {progress.gone:,} gone "
            f"meanwhile, {progress.rejected:,} rejected; {progress.conflicts:,} conflicts with others' changes"
        )
        self.output.note(f"{self.so_far(progress)} in {progress.seconds:,.1f} s.")
        if progress.resent:
            resent = counted(progress.resent, "document was", "documents were")
            self.output.note(f"{resent} written by requests whose replies were lost; sent again, they changed nothing.")
        show_learnt(self.output, progress.learnt)
        warn_of_left_out(self.output, progress)
        if progress.unsettled:
            self.output.warn(
                f"Texts keep changing: {counted(progress.unsettled, 'change')} came after the last pass. "
                "Run it again when the writers have stopped, or have them write fingerprints as well."
            )
        if progress.rejected or progress.left_out or progress.unsettled:
            self.totals_file.write(progress)
        else:
            self.totals_file.remove()


def _more(progress: Progress) -> str:
    """Return the throughput and the conflicts of a run under way."""
    return f", {progress.megabytes_per_second:.1f} MB/s, {progress.conflicts:,} conflicts"
