"""An evaluation as a table: its scores by name, as rows for Arrow, and as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from es_simhash._core.humanize import counted
from es_simhash._core.notebook import in_notebook, shortened
from es_simhash.quality.bootstrap import Estimate

if TYPE_CHECKING:
    from es_simhash.quality.evaluation import Evaluation
    from es_simhash.quality.pair_outcomes import PairScores

COLUMNS = {
    "kind": "string",
    "name": "string",
    "score": "string",
    "value": "double",
    "low": "double",
    "high": "double",
}


def rows_of(evaluation: Evaluation) -> Iterator[tuple[Any, ...]]:
    """Yield each score, and each count, of all pairs, of groups, and of each kind of pairs."""
    yield from _pair_rows("pairs", None, evaluation.pairs)
    if evaluation.clusters:
        for name, score in asdict(evaluation.clusters).items():
            yield "clusters", None, name, *score.values()
    for kind, buckets in evaluation.buckets.items():
        for name, scores in buckets.items():
            yield from _pair_rows(kind, name, scores)


def _pair_rows(kind: str, name: str | None, scores: PairScores) -> Iterator[tuple[Any, ...]]:
    for score, value in asdict(scores).items():
        ends = value.values() if isinstance(value, dict) else (float(value), None, None)
        yield kind, name, score, *ends


def named_scores(evaluation: Evaluation) -> dict[str, Estimate]:
    """Return the scores of all pairs, and of groups where clusters were labelled, by names for people."""
    pairs = evaluation.pairs
    scores = {"precision of pairs": pairs.precision, "recall of pairs": pairs.recall, "F1 of pairs": pairs.f1}
    if clusters := evaluation.clusters:
        scores |= {
            "precision of pairs in groups": clusters.closure_precision,
            "recall of pairs in groups": clusters.closure_recall,
            "F1 of pairs in groups": clusters.closure_f1,
            "adjusted Rand index": clusters.adjusted_rand_index,
            "B-cubed precision": clusters.b_cubed_precision,
            "B-cubed recall": clusters.b_cubed_recall,
            "B-cubed F1": clusters.b_cubed_f1,
        }
    return scores


def evaluation_html(evaluation: Evaluation) -> str:
    """Return the markup of the scores, and of the worst errors' ids."""
    pairs = evaluation.pairs
    found = f"{pairs.right:,} right, {pairs.wrong:,} wrong, {pairs.missed:,} missed"
    heading = f"{counted(len(evaluation.ids), 'document')}; of their pairs {found}"
    rows = [[name, *map(_number, (each.value, each.low, each.high))] for name, each in named_scores(evaluation).items()]
    return in_notebook(heading, ["score", "value", "from", "to"], rows, len(rows), *_notes(evaluation))


def _notes(evaluation: Evaluation) -> Iterator[str]:
    for curve in evaluation.curves:
        if best := curve.best:
            yield f"By {curve.axis}, the F1 is highest at {best.threshold:g}: {best.f1:.3f}."
    for what, errors in (("Found wrongly", evaluation.wrong), ("Missed", evaluation.missed)):
        if errors:
            ids = (shortened(evaluation.ids[place]) for place in (errors[0].first, errors[0].second))
            yield f"{what}, the worst first: {' and '.join(ids)}."


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
