"""Evaluations as JSON, or as tables of scores, kinds of pairs, and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from es_simhash._core.humanize import counted, score_text
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.quality.evaluation import Evaluation, PairError, PairScores
    from es_simhash.quality.scores import Curve

# Errors of each kind in tables, and characters of their texts; JSON and the report have all.
_ERRORS = 5
_EXCERPT = 60


def show(output: Output, evaluation: Evaluation) -> None:
    """Print an evaluation."""
    if output.as_json:
        output.result(evaluation)
        return
    shown = evaluation.shown()
    output.table(shown.columns, list(shown.rows), "Scores, with intervals of 95%")
    _buckets(output, evaluation)
    _thresholds(output, evaluation)
    _errors(output, "Found wrongly", evaluation, evaluation.wrong)
    _errors(output, "Missed", evaluation, evaluation.missed)
    for note in evaluation_notes(evaluation):
        output.note(note)


def _buckets(output: Output, evaluation: Evaluation) -> None:
    columns = ["pairs", "right", "wrong", "missed", "precision", "recall", "F1"]
    rows = [
        [f"{kind}: {name}", *_row(scores)] for kind, each in evaluation.buckets.items() for name, scores in each.items()
    ]
    output.table(columns, rows, "By kinds of pairs")


def _row(scores: PairScores) -> list[Any]:
    estimates = (scores.precision, scores.recall, scores.f1)
    return [scores.right, scores.wrong, scores.missed, *(score_text(each.value) for each in estimates)]


def _thresholds(output: Output, evaluation: Evaluation) -> None:
    rows = [_best(f"by {curve.axis}", curve) for curve in evaluation.curves]
    rows.append(_best("by exact Jaccard similarity of all pairs", evaluation.ceiling.curve))
    output.table(["best threshold", "at", "precision", "recall", "F1"], rows, "Thresholds with the highest F1")


def _best(name: str, curve: Curve) -> list[Any]:
    best = curve.best
    if best is None:
        return [name, None, None, None, None]
    at = f"{best.threshold:.0f} bits" if curve.axis == "distance" else f"{best.threshold:g}"
    return [name, at, *map(score_text, (best.precision, best.recall, best.f1))]


def _errors(output: Output, title: str, evaluation: Evaluation, errors: Any) -> None:
    rows = [_error(evaluation, error) for error in errors[:_ERRORS]]
    if rows:
        output.table([title.lower(), "with", "exact Jaccard", "bits", "text", "other text"], rows, title)


def _error(evaluation: Evaluation, error: PairError) -> list[Any]:
    places = error.first, error.second
    texts = [" ".join(evaluation.texts[place].split())[:_EXCERPT] for place in places]
    return [*(evaluation.ids[place] for place in places), error.jaccard, error.distance, *texts]


def evaluation_notes(evaluation: Evaluation) -> Iterator[str]:
    """Yield what limits an evaluation: what keys can find, and what was not compared or not counted."""
    ceiling, truth, counts = evaluation.ceiling, evaluation.truth, evaluation.counts
    if ceiling.candidates is not None:
        yield f"Searches can find {ceiling.candidates:.2%} of the pairs that are similar enough."
    if ceiling.true_candidates is not None:
        yield f"Searches can find {ceiling.true_candidates:.2%} of the labelled duplicates."
    if evaluation.judged.not_labelled:
        yield f"Unlabelled pairs were found, and not counted: {evaluation.judged.not_labelled:,}."
    if evaluation.out_of_scope:
        yield f"{counted(evaluation.out_of_scope, 'pair')} of the duplicates were missed because of the scope."
    yield from counts.notes
    for problem, names in (
        ("ids in the labels have no document", truth.unknown),
        ("labels contradict", truth.contradictory),
    ):
        if names:
            yield f"{len(names):,} {problem}, such as {names[0]}."
