"""The plan and the progress of commands that go through an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from time import monotonic
from typing import TYPE_CHECKING, Any

from es_simhash.cli.show.output import Output
from es_simhash.live.telemetry.job_metrics import counts_of

if TYPE_CHECKING:
    from es_simhash.live.doctor.finding import Finding
    from es_simhash.live.sweep.progress import Progress
    from es_simhash.live.sweep.survey import Part, Survey

_SECONDS_BETWEEN_EVENTS = 1.0


def show_findings(output: Output, findings: Iterable[Finding]) -> None:
    """Print the doctor's findings beside the results of a command: no "ok", and with --quiet only stops."""
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


def planned(survey: Survey) -> dict[str, Any]:
    """Return the number of documents to process in each index, and the doctor's findings."""
    rows = [{"index": part.index, "due": part.due, "documents": part.documents} for part in survey.parts]
    findings = [asdict(finding) for finding in survey.findings if finding.level != "ok"]
    return {"indices": rows, "left_out": survey.left_out, "findings": findings}


def warn_of_left_out(output: Output, progress: Progress) -> None:
    """Warn of indices that were left out."""
    if progress.left_out:
        output.warn(f"Left out: {', '.join(progress.left_out)}. The reasons are above.")


def counts(progress: Progress) -> dict[str, Any]:
    """Count the documents by what became of them."""
    names = ("index", "total", "done", "written", "current", "gone", "rejected", "conflicts", "refusals")
    return {name: getattr(progress, name) for name in names}


def rates(progress: Progress) -> dict[str, Any]:
    """Compute the speed and the time left."""
    a_second = progress.done / progress.seconds if progress.seconds else 0.0
    left = max(0, progress.total - progress.done)
    return {
        "documents_per_second": round(a_second, 1),
        "seconds_left": round(left / a_second, 1) if a_second else None,
    }


@contextmanager
def showing_progress(
    output: Output, doing: str, total: int, more: Callable[[Progress], tuple[str, dict[str, Any]]] | None = None
) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows the progress of a run; ``more`` returns additional text and values to show."""
    said = float("-inf")
    with output.progress(doing, total) as advance:

        def show(progress: Progress) -> None:
            nonlocal said
            output.run.count(counts_of(progress), max(0, progress.total - progress.done))
            text, values = more(progress) if more else ("", {})
            advance(progress.done, progress.rejected, min(progress.done, progress.total), more=text)
            if not output.quiet and monotonic() - said >= _SECONDS_BETWEEN_EVENTS:
                said = monotonic()
                output.result({"event": "progress", **counts(progress), **rates(progress), **values})

        yield show
