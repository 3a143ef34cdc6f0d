"""``es-simhash tune``: a scheme for one's own texts, by labels or for a similarity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.batches import OnProgress
from es_simhash._core.humanize import score_text
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import output_file
from es_simhash.cli.options.index import (
    Source,
    scheme_named,
    scope_options,
    similarity,
    source_options,
    wanted_documents,
)
from es_simhash.cli.options.target import Target, explaining_a_file
from es_simhash.cli.show.groups import show_valley
from es_simhash.cli.show.output import Output, after

if TYPE_CHECKING:
    from es_simhash.cli.jobs.labelled_documents import Sampled
    from es_simhash.documents.documents import Documents
    from es_simhash.documents.files import RejectFile
    from es_simhash.engines.base import Engine
    from es_simhash.quality.labels import StoredDocuments
    from es_simhash.quality.similarity_histogram import Histogram
    from es_simhash.quality.similarity_histogram import Level as LevelOfHistogram
    from es_simhash.quality.tuning import Threshold, Tuned
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.scope import Scope
    from es_simhash.scheme.verification import Level

# Characters of the longest bar of a histogram.
_BAR = 40


@click.command(name="tune", cls=EngineVerb)
@source_options
@click.option(
    "--sample",
    type=click.IntRange(2),
    default=2_000,
    metavar="N",
    help="Number of documents to draw at random; with --labels, all are read.",
)
@click.option("--histogram", is_flag=True, help="Show how similar the texts are, to choose --similarity by eye.")
@click.option(
    "--labels",
    type=click.Path(exists=True, dir_okay=False),
    help="Choose the threshold that best separates the labels in this file (see: es-simhash evaluate --help).",
)
@click.option(
    "--similarity", type=similarity, metavar="S|LEVEL", help="Minimum similarity (see --histogram), or a level."
)
@scope_options
@output_file("--output", "-o", "scheme_file", help="Write the scheme to this file.")
def command(source: Source, target: Target, output: Output, histogram: bool, **given: Any) -> int:
    """Choose settings (a scheme) for the texts of INDEX, or of FILEs.

    Define near-duplicates by --similarity, or by --labels, which choose it. Other settings come from --scheme or the
    index, or else from the preset that suits the length of the texts.

    With --histogram, read the examples from the top: your threshold is where the first pairs are no longer duplicates.
    Pairs out of scope do not count. Nothing is written to an index.

    Example: es-simhash tune news.jsonl --labels clusters.jsonl --output scheme.json
    """
    from es_simhash.documents.files import RejectFile

    if [histogram, given["labels"] is not None, given["similarity"] is not None].count(True) != 1:
        raise click.UsageError(
            "Give one of these: --histogram, to see how similar the texts are; --similarity, to name a threshold; or "
            "--labels, to have one chosen."
        )
    with RejectFile(source.files.rejects) as rejects:
        if histogram:
            read = _read(source, target, output, rejects, given["sample"], given["scope"])
            _histogram(output, *read)
        else:
            _tune(source, target, output, rejects, **given)
    output.rejected(rejects.count, source.files.rejects)
    return after(rejects.count, rejects.may_pass)


def _histogram(output: Output, scheme: Scheme | None, sampled: Sampled) -> None:
    from es_simhash.quality.similarity_histogram import histogram
    from es_simhash.scheme.scheme import Scheme

    output.note(f"Comparing {len(sampled.documents):,} of {sampled.total:,} documents …")
    found = histogram(scheme or Scheme.preset("default"), sampled.documents, in_scope=sampled.in_scope)
    output.result(found)
    if not output.as_json:
        _show_histogram(output, found)


def _tune(
    source: Source,
    target: Target,
    output: Output,
    rejects: RejectFile,
    *,
    labels: str | None,
    similarity: float | Level | None,
    scheme_file: str | None,
    sample: int,
    scope: Scope | None,
) -> None:
    from es_simhash.documents.files import whole_file
    from es_simhash.quality.labels import StoredDocuments, read_labels
    from es_simhash.quality.tuning import tune_by_labels, tune_by_similarity
    from es_simhash.scheme.scheme import to_file

    def on_step(step: str) -> None:
        output.note(f"{step} …")

    with ExitStack() as stack:
        scheme_out = stack.enter_context(whole_file(scheme_file)) if scheme_file else None
        read = read_labels(labels, rejects) if labels else None
        if read:
            stored = stack.enter_context(StoredDocuments(scope=scope))
            base = _read_all(source, target, output, rejects, stored)
            tuned = tune_by_labels(stored, read, base=base, on_step=on_step, on_reject=rejects)
        else:
            base, sampled = _read(source, target, output, rejects, sample, scope)
            tuned = tune_by_similarity([text for _, text in sampled.documents], similarity=similarity or 0.0, base=base)
        if scheme_out:
            scheme_out.write(to_file(tuned.scheme))
    output.result(tuned, {"out": scheme_file})
    _show_tuned(output, tuned)
    if scheme_file:
        output.next_step("init", "INDEX", "--field", "FIELD", "--scheme", scheme_file)
    else:
        output.note("Store these settings with --output FILE.")


def _read(
    source: Source, target: Target, output: Output, rejects: RejectFile, size: int, scope: Scope | None
) -> tuple[Scheme | None, Sampled]:
    """Sample documents, and read the scheme that the options or the index name."""
    from es_simhash.cli.jobs.labelled_documents import sample_of_files, sample_of_index, texts_of_files

    if source.index:
        with _index(source, target, output, scope) as (engine, documents, scheme, _):
            fields, all_of = documents.fields, documents.policy.scope
            return scheme, sample_of_index(engine, source.index, fields, source.filter, size, rejects, all_of)
    with texts_of_files(source, output, rejects, scope) as (found, on_read):
        return scheme_named(source.scheme), sample_of_files(found, size, on_read, scope=scope)


def _read_all(
    source: Source, target: Target, output: Output, rejects: RejectFile, stored: StoredDocuments
) -> Scheme | None:
    """Store all documents, and read the scheme that the options or the index name."""
    from es_simhash.cli.jobs.labelled_documents import gather_files, gather_index, texts_of_files

    if source.index:
        with _index(source, target, output, stored.scope) as (engine, documents, scheme, advance):
            stored.scope = documents.policy.scope
            gather_index(engine, source.index, stored, documents.fields, source.filter, rejects, advance)
            return scheme
    with texts_of_files(source, output, rejects, stored.scope) as (found, on_read):
        gather_files(found, stored, rejects, on_read)
    return scheme_named(source.scheme)


@contextmanager
def _index(
    source: Source, target: Target, output: Output, scope: Scope | None
) -> Iterator[tuple[Engine, Documents, Scheme | None, OnProgress[int]]]:
    """Open the index: yield its engine, how its documents are read, the scheme, and what counts those that were read.

    The policy has what is in both scopes, that of the index and that of the options.
    """
    from es_simhash.engines.base import run
    from es_simhash.plans.open_index import policy_in
    from es_simhash.plans.operations import GetMappings
    from es_simhash.plans.text_fields import check_text_fields
    from es_simhash.scheme.scope import Policy, combined

    assert source.index
    name, scheme = source.index, scheme_named(source.scheme)
    with explaining_a_file(name), target.opened(output) as engine, output.progress("Reading") as advance:
        known = {"scheme": scheme, "fields": source.fields or None, "prefix": source.prefix}
        documents = wanted_documents(engine, name, known)
        mappings = engine.perform(GetMappings(name))
        if source.fields:
            run(check_text_fields(mappings, documents), engine)
        else:
            scheme = scheme or documents.scheme
        # With fields named, the documents lack what the index demands.
        policy = Policy(combined(policy_in(mappings, source.prefix).scope, scope))
        yield engine, replace(documents, policy=policy), scheme, advance


# ---- what is shown


def _show_histogram(output: Output, found: Histogram) -> None:
    """Print the number of pairs of each level of similarity, with examples."""
    most = max((level.pairs for level in found.levels), default=0)
    rows = [[_name(level), level.pairs, "█" * -(-_BAR * level.pairs // max(most, 1))] for level in found.levels]
    output.table(["similarity", "pairs", "histogram"], rows, f"Pairs of {found.documents:,} documents")
    if found.threshold is not None:
        output.line(f"The threshold is {found.threshold:g}: {found.near:,} of these pairs reach it.")
    show_valley(output, found.valley)
    for level in found.levels:
        _show_examples(output, level)


def _show_examples(output: Output, level: LevelOfHistogram) -> None:
    from es_simhash.plans.text_differences import marked

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


def _name(level: LevelOfHistogram) -> str:
    return "1" if level.below is None else f"{level.least:g} to {level.below:g}"


def _show_tuned(output: Output, tuned: Tuned) -> None:
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
    found = (scores.precision.value, scores.recall.value, f1.value, f1.low, f1.high)
    return [similarity, threshold.level, *map(score_text, found)]
