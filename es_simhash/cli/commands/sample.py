"""``es-simhash sample``: how similar texts are to each other, with examples, to choose a threshold by eye."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from es_simhash.cli.options.sampled import Source, sampled_options
from es_simhash.cli.options.shared import EngineVerb
from es_simhash.cli.show.exits import FINE, SOME_FAILED
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.quality.similarity_histogram import Histogram, Level

_BAR = 40


@click.command(name="sample", cls=EngineVerb)
@sampled_options
@click.option(
    "--examples", type=click.IntRange(0), default=2, show_default=True, help="How many pairs of each level are shown."
)
def command(size: int, examples: int, output: Output, **given: Any) -> int:
    """Show how similar the texts of FILEs, or of an index, are to each other, with examples of each level.

    Look at the examples from the top: the threshold lies where the first pairs are no duplicates to you. Nothing is
    written to an index. Similarity is that of features that weigh the more the rarer they are.

    Example: es-simhash sample news.jsonl --field body
    """
    from es_simhash.documents.files import RejectFile
    from es_simhash.quality.similarity_histogram import histogram
    from es_simhash.quality.tuning_json import histogram_json
    from es_simhash.scheme.scheme import Scheme

    source = Source(**given)
    with RejectFile(source.files.rejects) as rejects:
        scheme, sampled = source.read(output, rejects, size)
    output.note(f"Comparing {len(sampled.documents):,} of {sampled.total:,} documents …")
    found = histogram(scheme or Scheme.preset("default"), sampled.documents, examples)
    output.result(histogram_json(found))
    if not output.as_json:
        _show(output, found)
    if rejects.count:
        output.note(f"{rejects.count:,} could not be used; {source.files.rejects} tells which, and why.")
    return SOME_FAILED if rejects.count else FINE


def _show(output: Output, found: Histogram) -> None:
    most = max((level.pairs for level in found.levels), default=0)
    rows = [[_name(level), level.pairs, "█" * -(-_BAR * level.pairs // max(most, 1))] for level in found.levels]
    output.table(["similarity", "pairs", ""], rows, f"Pairs of {found.documents:,} documents")
    if found.threshold is not None:
        output.line(f"The scheme's threshold is {found.threshold:g}: {found.near:,} of these pairs are near by it.")
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
