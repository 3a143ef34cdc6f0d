"""How commands that go through an index tell how far they are, and the options that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from time import monotonic
from typing import TYPE_CHECKING, Any

from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.live.doctor.finding import Finding
    from es_simhash.live.sweep.progress import Progress
    from es_simhash.live.sweep.survey import Part, Survey

_SECONDS_BETWEEN_EVENTS = 1.0


def tell_findings(output: Output, findings: Iterable[Finding]) -> None:
    """Tell them beside the results of a command: what is as it should be not at all, what stops it in any case."""
    for finding in findings:
        text = f"{finding.level.capitalize()} ({finding.code}): {finding.message} {finding.remedy}"
        if finding.level == "stop":
            output.warn(text)
        elif finding.level != "ok":
            output.note(text)


def tell_parts(output: Output, parts: Sequence[Part]) -> None:
    """How much there is to do in each index."""
    table = [[part.index, f"{part.due:,}", f"{part.documents:,}"] for part in parts]
    output.table(["index", "to do", "documents"], table)


def planned(survey: Survey) -> dict[str, Any]:
    """What there is to do in each index, and what the doctor says of it."""
    rows = [{"index": part.index, "due": part.due, "documents": part.documents} for part in survey.parts]
    findings = [asdict(finding) for finding in survey.findings if finding.level != "ok"]
    return {"indices": rows, "left_out": survey.left_out, "findings": findings}


def warn_of_left_out(output: Output, progress: Progress) -> None:
    """Say which indices were left out, if any were."""
    if progress.left_out:
        output.warn(f"Left out: {', '.join(progress.left_out)}. The reasons were told before.")


def counts(progress: Progress) -> dict[str, Any]:
    """What became of documents by now."""
    names = ("index", "total", "done", "written", "current", "gone", "rejected", "conflicts", "refusals")
    return {name: getattr(progress, name) for name in names}


def rates(progress: Progress) -> dict[str, Any]:
    """How fast it goes, and how long it will take."""
    a_second = progress.done / progress.seconds if progress.seconds else 0.0
    left = max(0, progress.total - progress.done)
    return {
        "documents_per_second": round(a_second, 1),
        "seconds_left": round(left / a_second, 1) if a_second else None,
    }


@contextmanager
def telling(
    output: Output, doing: str, total: int, more: Callable[[Progress], tuple[str, dict[str, Any]]] | None = None
) -> Iterator[Callable[[Progress], None]]:
    """What is to be told how far a run is; ``more`` is what else people and programs are to see of it."""
    said = float("-inf")
    with output.progress(doing, total) as advance:

        def tell(progress: Progress) -> None:
            nonlocal said
            text, values = more(progress) if more else ("", {})
            advance(progress.done, progress.rejected, min(progress.done, progress.total), more=text)
            if not output.quiet and monotonic() - said >= _SECONDS_BETWEEN_EVENTS:
                said = monotonic()
                output.result({"event": "progress", **counts(progress), **rates(progress), **values})

        yield tell
