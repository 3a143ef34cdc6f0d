"""The results of ``tune``: a table of keys to choose from, or a histogram of similarities with examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from es_simhash.cli.show.groups import show_valley
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.quality.key_choice import KeyOption
    from es_simhash.quality.similarity_histogram import Histogram, Level
    from es_simhash.quality.threshold_choice import Threshold
    from es_simhash.quality.tuning import Tuned

_BAR = 40
_LEGEND = """\
expected: the expected share of wanted pairs that keys find; measured: the same, measured. random: candidates of a
query that share keys by chance alone; false: those and documents that share phrases, as texts of the sample do.
bytes: what the fields add to a document's JSON. µs: processor time per document."""


def show_histogram(output: Output, found: Histogram) -> None:
    """Print the number of pairs of each level of similarity, with examples."""
    most = max((level.pairs for level in found.levels), default=0)
    rows = [[_name(level), level.pairs, "█" * -(-_BAR * level.pairs // max(most, 1))] for level in found.levels]
    output.table(["similarity", "pairs", "histogram"], rows, f"Pairs of {found.documents:,} documents")
    if found.threshold is not None:
        output.line(f"The scheme's threshold is {found.threshold:g}: {found.near:,} of these pairs reach it.")
    show_valley(output, found.valley)
    for level in found.levels:
        _show_examples(output, level)


def _show_examples(output: Output, level: Level) -> None:
    from es_simhash.quality.tuning_json import marked

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
    """Print the thresholds that were tried, and the keys, without those that others beat in everything."""
    if tuned.threshold:
        thresholds = [_scored(each, each is tuned.threshold.best) for each in tuned.threshold.tried]
        columns = ["similarity", "level", "precision", "recall", "F1", "from", "to"]
        output.table(columns, thresholds, "Thresholds, with intervals of 95% for F1")
        output.line()
    columns = ["row", "keys", "expected", "measured", "random", "false", "bytes", "µs"]
    rows = [[_marked(place + 1, place == tuned.choice), *_row(option)] for place, option in enumerate(tuned.front)]
    output.table(
        columns, rows, f"Keys, for {tuned.goal.documents:,} documents; false candidates by {tuned.texts:,} texts"
    )
    output.line(_LEGEND)


def _scored(threshold: Threshold, is_best: bool) -> list[Any]:
    scores, f1 = threshold.scores, threshold.scores.f1
    similarity = _marked(threshold.similarity, is_best)
    return [similarity, threshold.level, scores.precision.value, scores.recall.value, f1.value, f1.low, f1.high]


def _marked(number: float, is_chosen: bool) -> str:
    return f"{number:g}{' *' if is_chosen else ''}"


def _row(option: KeyOption) -> list[Any]:
    scheme = option.scheme
    if scheme.minhash:
        keys = f"{scheme.minhash.bands} bands of {scheme.minhash.rows} rows, of {scheme.minhash.size} values"
    else:
        assert scheme.simhash
        keys = f"{scheme.simhash.blocks} blocks of {scheme.simhash.bits} bits, within {scheme.simhash.distance}"
    return [
        keys,
        f"{option.expected_recall:.2%}",
        f"{option.recall:.2%}",
        f"{option.random_candidates:,.2g}",
        f"{option.candidates:,.1f}",
        option.json_bytes,
        f"{1e6 * option.cpu_seconds:,.0f}",
    ]
