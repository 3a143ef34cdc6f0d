"""What a backfill says: what it has before it, how far it is, what it came to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from es_simhash._core.humanize import counted
from es_simhash.cli.show.output import Output
from es_simhash.cli.show.progress import counts, planned, rates, tell_findings, tell_parts, telling, warn_of_left_out

if TYPE_CHECKING:
    from es_simhash.live.backfill.checkpoint import Checkpoint
    from es_simhash.live.sweep.progress import Progress
    from es_simhash.live.sweep.survey import Survey


@dataclass
class Report:
    """Tells people by a bar or lines, and programs by events; keeps the totals of several runs."""

    output: Output
    checkpoint: Checkpoint

    def begin(self, survey: Survey, dry_run: bool) -> None:
        """Tell what the doctor found, which indices there are, and how much is to be done in each.

        With ``dry_run`` that is all that is asked for.
        """
        tell_findings(self.output, survey.findings)
        self.output.result({"event": "plan", **planned(survey), "run": self.checkpoint.before.runs})
        if dry_run or not self.output.quiet:
            tell_parts(self.output, survey.parts)
        before = self.checkpoint.before
        if before.written:
            self.output.note(
                f"Run {before.runs}: {counted(before.written, 'document was', 'documents were')} written before, "
                f"in {before.seconds:,.0f} s."
            )

    @contextmanager
    def telling(self, total: int) -> Iterator[Callable[[Progress], None]]:
        """What is to be told how far the run is."""
        with telling(self.output, "Backfilling", total, _more) as tell:

            def tell_and_keep(progress: Progress) -> None:
                self.checkpoint.update(progress)
                tell(progress)

            yield tell_and_keep

    def so_far(self, progress: Progress) -> str:
        """What was done, in a sentence without its end."""
        return f"Fingerprints were given to {counted(progress.written, 'document')} of {progress.index}"

    def end(self, progress: Progress, rejects: str) -> None:
        """Tell what it came to."""
        totals = self.checkpoint.totals(progress)
        done = {**counts(progress), **rates(progress), **_megabytes_per_second(progress)}
        done["seconds"] = round(progress.seconds, 3)
        done["unsettled"] = progress.unsettled
        self.output.result(
            {"event": "done", **done, "rejects": rejects, "left_out": progress.left_out, "all_runs": asdict(totals)}
        )
        self.output.report(
            f"{progress.index}: {progress.written:,} written, {progress.current:,} up to date, {progress.gone:,} gone "
            f"meanwhile, {progress.rejected:,} rejected; {progress.conflicts:,} conflicts with others' changes"
        )
        self.output.note(f"{self.so_far(progress)} in {progress.seconds:,.1f} s.")
        warn_of_left_out(self.output, progress)
        if progress.unsettled:
            self.output.warn(
                f"Others go on changing texts: {counted(progress.unsettled, 'change')} came after the last look. "
                "Run it again when they have stopped, or have them write fingerprints as well."
            )
        if progress.rejected or progress.left_out or progress.unsettled:
            self.checkpoint.write(progress)
        else:
            self.checkpoint.remove()


def _more(progress: Progress) -> tuple[str, dict[str, Any]]:
    """What else there is to see of a run on its way."""
    return f", {_megabytes(progress):.1f} MB/s, {progress.conflicts:,} conflicts", _megabytes_per_second(progress)


def _megabytes_per_second(progress: Progress) -> dict[str, Any]:
    return {"megabytes_per_second": round(_megabytes(progress), 3)}


def _megabytes(progress: Progress) -> float:
    """Millions of characters of text a second: a little less than bytes."""
    return progress.characters / 1e6 / progress.seconds if progress.seconds else 0.0
