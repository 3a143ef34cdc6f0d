"""The results of ``tune``: the thresholds that were tried, or a histogram of similarities with examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from es_simhash.cli.show.groups import show_valley
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.quality.similarity_histogram import Histogram, Level
    from es_simhash.quality.threshold_choice import Threshold
    from es_simhash.quality.tuning import Tuned

_BAR = 40


def show_histogram(output: Output, found: Histogram) -> None:
    """Print the number of pairs of each level of similarity, with examples."""
    most = max((level.pairs for level in found.levels), default=0)
    rows = [[_name(level), level.pairs, "█" * -(-_BAR * level.pairs // max(most, 1))] for level in found.levels]
    output.table(["similarity", "pairs", "histogram"], rows, f"Pairs of {found.documents:,} documents")
    if found.threshold is not None:
        output.line(f"The threshold is {found.threshold:g}: {found.near:,} of these pairs reach it.")
    show_valley(output, found.valley)
    for level in found.levels:
        _show_examples(output, level)


def _show_examples(output: Output, level: Level) -> None:
    from es_simhash.plans.explain.text_differences import marked

    rows = [
        [
            example.similarity,
            example.first,
            example.second,
            marked(example.difference) or f"no difference: {marked(example.beginning)}",
        ]
        for example in level.examples
    ]
    if rows:
        output.line()
        output.table(["similarity", "first", "second", "difference"], rows, f"Similarity {_name(level)}")


def _name(level: Level) -> str:
    return "1" if level.below is None else f"{level.least:g} to {level.below:g}"


def show_tuned(output: Output, tuned: Tuned) -> None:
    """Print the thresholds that were tried, and why one was chosen."""
    if tuned.threshold:
        thresholds = [_scored(each, each is tuned.threshold.best) for each in tuned.threshold.tried]
        columns = ["similarity", "level", "precision", "recall", "F1", "from", "to"]
        output.table(columns, thresholds, "Thresholds, with intervals of 95% for F1")
    output.line(tuned.why)
    output.warn(tuned.warning)


def _scored(threshold: Threshold, is_best: bool) -> list[Any]:
    scores, f1 = threshold.scores, threshold.scores.f1
    similarity = f"{threshold.similarity:g}{' *' if is_best else ''}"
    return [similarity, threshold.level, scores.precision.value, scores.recall.value, f1.value, f1.low, f1.high]
