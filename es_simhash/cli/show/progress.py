"""The plan and the progress of commands that go through an index, and what they have learnt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from es_simhash.cli.show.exits import saying_if_interrupted
from es_simhash.cli.show.output import Output
from es_simhash.live.telemetry.metrics import counts_of

if TYPE_CHECKING:
    from es_simhash.live.doctor.facts import Part
    from es_simhash.live.doctor.finding import Finding
    from es_simhash.live.learning import Learnt
    from es_simhash.live.sweep.writing import Progress
    from es_simhash.scheme.verdict.learnt import LearntRarity

_SECONDS_BETWEEN_EVENTS = 1.0


def show_findings(output: Output, findings: Iterable[Finding]) -> None:
    """Print the doctor's findings, except "ok", and with --quiet only stops."""
    for finding in findings:
        text = f"{finding.level.capitalize()} ({finding.code}): {finding.message} {finding.remedy}"
        if finding.level == "stop":
            output.warn(text, event="finding", code=finding.code)
        elif finding.level != "ok":
            output.note(text, event="finding", code=finding.code)


def show_parts(output: Output, parts: Sequence[Part]) -> None:
    """Print the number of documents to process in each index."""
    table = [[part.index, f"{part.due:,}", f"{part.documents:,}"] for part in parts]
    output.table(["index", "to do", "documents"], table)


def warn_of_left_out(output: Output, progress: Progress) -> None:
    """Warn of indices that were left out."""
    if progress.left_out:
        output.warn(f"Indices left out: {', '.join(progress.left_out)}. See the reasons above.")


@contextmanager
def showing_progress(
    output: Output,
    doing: str,
    progress: Progress,
    done: Callable[[int], str],
    more: Callable[[Progress], str] = lambda _: "",
) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows the progress of a run; ``more`` returns additional text.

    ``done`` says how many documents were written until an interruption.
    """
    said = float("-inf")
    with (
        output.progress(doing, progress.total) as advance,
        saying_if_interrupted(lambda: f"{done(progress.written)}. Run the command again for the rest."),
    ):

        def show(progress: Progress) -> None:
            nonlocal said
            output.run.count(counts_of(progress), max(0, progress.total - progress.done))
            advance(progress.done, progress.rejected, min(progress.done, progress.total), more=more(progress))
            if not output.quiet and monotonic() - said >= _SECONDS_BETWEEN_EVENTS:
                said = monotonic()
                output.result({"event": "progress"}, progress)

        yield show


def sample(learnt: LearntRarity) -> str:
    """Return from how many documents it was learnt, in words."""
    whole = "" if learnt.among is None else f" of {learnt.among:,}"
    return f"{learnt.sample:,}{whole} documents"


def show_learnt(output: Output, learnt: Learnt, path: str | None = None) -> None:
    """Say what was learnt, or why it could not be; a file at the ``path`` keeps it, or else the index."""
    if isinstance(learnt, Exception):
        output.note(f"The common phrases of these texts could not be stored, so built-in ones are used: {learnt}")
    elif learnt is not None:
        output.note(f"Learnt from {sample(learnt)} which phrases are common: they count less in comparisons.")
        output.detail(f"The rarity table {learnt.table} is in {path or 'the mapping'}.")
