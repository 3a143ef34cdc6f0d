"""``es-simhash tune``: a scheme for one's own texts, by labels or for a similarity, measured on these texts."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from es_simhash.cli.options.sampled import Source, sampled_options
from es_simhash.cli.options.shared import EngineVerb
from es_simhash.cli.show.exits import FINE, SOME_FAILED
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.quality.key_options import KeyOption
    from es_simhash.quality.tuning import Tuned

_LEGEND = """\
expected: the expected share of wanted pairs that keys find; measured: the same, measured. random: candidates of a
query that share keys by chance alone; false: those and documents that share phrases, as texts of the sample do.
bytes: what the fields add to a document's JSON. µs: processor time per document."""


@click.command(name="tune", cls=EngineVerb)
@sampled_options
@click.option(
    "--labels",
    type=click.Path(exists=True, dir_okay=False),
    help="A file with labels, as for evaluate: the scheme is to tell these apart. All documents are compared then.",
)
@click.option(
    "--similarity", type=float, metavar="S", help="Find pairs from this similarity on (see: es-simhash sample)."
)
@click.option(
    "--documents",
    type=click.IntRange(1),
    metavar="N",
    help="How many documents the index will hold.  [default: as many as there are]",
)
@click.option("--recall", type=float, default=0.99, show_default=True, help="Which share of such pairs is to be found.")
@click.option(
    "--max-candidates",
    type=float,
    metavar="N",
    help="Maximum number of false candidates a query.  [default: 1% of all, 20 to 1,000]",
)
@click.option(
    "--choose", type=click.IntRange(1), metavar="ROW", help="Take this row, in place of the one that is best."
)
@click.option(
    "--output",
    "-o",
    "scheme_file",
    type=click.Path(dir_okay=False, writable=True),
    help="Write the scheme to this file.",
)
def command(
    labels: str | None,
    similarity: float | None,
    documents: int | None,
    recall: float,
    max_candidates: float | None,
    choose: int | None,
    scheme_file: str | None,
    size: int,
    output: Output,
    **given: Any,
) -> int:
    """Choose a scheme for the texts of FILEs, or of an index, and say what it finds and costs before anything is built.

    Say what near-duplicates are: by --labels, or by --similarity. What other keys would find and cost is shown beside;
    none in the table is worse than another in everything. With --similarity, --scheme says which features to take.

    Example: es-simhash tune news.jsonl --labels clusters.jsonl --output scheme.json
    """
    from es_simhash.documents.files import RejectFile, whole_file
    from es_simhash.quality.key_options import Goal
    from es_simhash.quality.labels import read_labels
    from es_simhash.quality.tuning import tune_by_labels, tune_by_similarity
    from es_simhash.quality.tuning_json import tuning_json

    if (labels is None) == (similarity is None):
        raise click.UsageError("Say what near-duplicates are: by --labels, or by --similarity; one of both.")
    source = Source(**given)
    with ExitStack() as stack:
        scheme_out = stack.enter_context(whole_file(scheme_file)) if scheme_file else None
        rejects = stack.enter_context(RejectFile(source.files.rejects))
        told = read_labels(labels, rejects) if labels else None
        base, sampled = source.read(output, rejects, None if told else size)
        goal = Goal(max(documents or sampled.total, 1), recall, max_candidates)

        def on_step(step: str) -> None:
            output.note(f"{step} …")

        if told:
            tuned = tune_by_labels(sampled.documents, told, goal, base, on_step, rejects)
        else:
            texts = [text for _, text in sampled.documents]
            tuned = tune_by_similarity(texts, similarity or 0.0, goal, base if source.scheme else None, on_step)
        if choose:
            tuned = tuned.with_choice(choose - 1)
        if scheme_out:
            scheme_out.write(tuned.scheme.to_json() + "\n")
    if rejects.count:
        output.note(
            f"{rejects.count:,} documents or labels could not be used; {source.files.rejects} tells which, and why."
        )
    output.result({**tuning_json(tuned), "out": scheme_file})
    _show(output, tuned)
    output.line(tuned.why)
    output.warn(tuned.warning)
    output.note(
        f"Use it: es-simhash init INDEX --field FIELD --scheme {scheme_file}"
        if scheme_file
        else "Write the scheme by --output FILE."
    )
    return SOME_FAILED if rejects.count else FINE


def _show(output: Output, tuned: Tuned) -> None:
    from es_simhash.quality.tuning_text import describe_rule, describe_tokens

    if tuned.tried:
        rows = [
            [describe_tokens(each.tokens), describe_rule(each.rule.verification), each.rule.f1, each.others]
            for each in tuned.tried
        ]
        output.table(
            ["features", "near", "F1", "as similar, a query"], rows, "Rules, by labels that they were not chosen on"
        )
        output.line()
    columns = ["row", "keys", "expected", "measured", "random", "false", "bytes", "µs"]
    rows = [[_number(tuned, place), *_row(option)] for place, option in enumerate(tuned.front)]
    output.table(
        columns, rows, f"Keys, for {tuned.goal.documents:,} documents; false candidates by {tuned.texts:,} texts"
    )
    output.line(_LEGEND)


def _number(tuned: Tuned, place: int) -> str:
    return f"{place + 1}{' *' if place == tuned.choice else ''}"


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
