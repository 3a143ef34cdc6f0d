"""How commands that go through an index tell how far they are, and the options that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import click

from es_simhash.cli.output import Output

if TYPE_CHECKING:
    from es_simhash.live.backfill.scope import Part
    from es_simhash.live.backfill.survey import Survey
    from es_simhash.live.sweep.progress import Progress

Command = TypeVar("Command", bound=Callable[..., Any])

_SECONDS_BETWEEN_EVENTS = 1.0


def patience_option(command: Command) -> Command:
    """How long an engine is waited for."""
    return click.option(
        "--patience", type=float, default=600.0, show_default=True, help="Seconds to wait for a busy engine."
    )(command)


def run_options(command: Command) -> Command:
    """How a run goes about it: the keywords of `RunOptions`, and ``rejects``."""
    options = (
        click.option(
            "--slices",
            "parallel",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            help="Work on so many at once.",
        ),
        click.option("--max-rate", type=float, metavar="N", help="Write at most N documents a second."),
        patience_option,
        click.option(
            "--rejects",
            type=click.Path(dir_okay=False),
            default="rejected.jsonl",
            show_default=True,
            help="Where to append what could not be done, with its id and the reason.",
        ),
    )
    for option in reversed(options):
        option(command)
    return command


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
