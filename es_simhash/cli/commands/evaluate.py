"""``es-simhash evaluate``: how well near-duplicates are found, measured on labelled documents."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import click

from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import output_file, rarity_option, report_option
from es_simhash.cli.options.index import (
    Source,
    estimate_option,
    near_options,
    scheme_or_default,
    scope_options,
    source_options,
    warn_of_indices_without_fields,
)
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.evaluation import show
from es_simhash.cli.show.output import Output, after

if TYPE_CHECKING:
    from es_simhash.documents.sources import OnReject
    from es_simhash.quality.labels import StoredDocuments
    from es_simhash.scheme.rarity import Rarity
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.scope import Scope


@click.command(name="evaluate", cls=EngineVerb)
@source_options
@click.option(
    "--labels",
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    help="File with the labels, as JSON lines or CSV: clusters, or pairs.",
)
@near_options
@estimate_option
@scope_options
@rarity_option
@report_option
@output_file("--pairs", "pairs_file", help="Write all pairs found to this file, as JSON lines, with their labels.")
def command(
    source: Source,
    labels: str,
    rarity_file: str | None,
    report_file: str | None,
    pairs_file: str | None,
    scope: Scope | None,
    target: Target,
    output: Output,
    **near: Any,
) -> int:
    """Measure how well near-duplicates are found, on labelled documents of INDEX, or of FILEs.

    Labels are clusters, {"cluster": 1, "ids": ["a", "b"]} or rows of id and cluster, or pairs, {"a": "x", "b": "y",
    "label": 1}. Documents without a common cluster are not duplicates; unlabelled pairs are not counted.

    Example: es-simhash evaluate news.jsonl --labels clusters.jsonl --report quality.html
    """
    from es_simhash._core.rows import json_record
    from es_simhash.cli.jobs.files import rarity_in
    from es_simhash.cli.jobs.labelled_documents import gather_files, texts_of_files
    from es_simhash.documents.files import RejectFile, whole_file
    from es_simhash.groups.options import GroupOptions
    from es_simhash.quality.evaluation import EvaluationOptions, evaluation_of
    from es_simhash.quality.labels import StoredDocuments, read_labels

    if source.index and (source.fields or source.scheme or rarity_file):
        raise click.UsageError("An index has its own scheme, fields and table. Drop --scheme, --field and --rarity.")
    if report_file and report_file == pairs_file:
        raise click.UsageError("--report and --pairs are the same file. Name two.")
    with ExitStack() as stack:
        report_out = stack.enter_context(whole_file(report_file)) if report_file else None
        pairs_out = stack.enter_context(whole_file(pairs_file)) if pairs_file else None
        rejects = stack.enter_context(RejectFile(source.files.rejects))
        read = read_labels(labels, rejects)
        documents = stack.enter_context(StoredDocuments(scope=scope))
        if source.index:
            settings, rarity = _gather_index(source, documents, target, output, rejects)
        else:
            settings = scheme_or_default(source.scheme)
            with texts_of_files(source, output, rejects, scope) as (found, on_read):
                gather_files(found, documents, rejects, on_read)
            rarity = rarity_in(rarity_file, settings)
        options = EvaluationOptions(on_reject=rejects, on_step=lambda step: output.note(f"{step} …"))
        grouping = GroupOptions(scope=documents.scope, rarity=rarity, **near)
        evaluation = evaluation_of(documents, read, settings, grouping, options)
        if report_out:
            from es_simhash.cli.reports.evaluation_page import evaluation_page

            name = source.index or ", ".join(source.files.paths)
            report_out.write(evaluation_page(evaluation, name, datetime.now(timezone.utc)))
        if pairs_out:
            pairs_out.writelines(map(json_record, evaluation.found_pairs()))
    output.rejected(rejects.count, source.files.rejects)
    show(output, evaluation)
    return after(rejects.count, rejects.may_pass)


def _gather_index(
    source: Source, documents: StoredDocuments, target: Target, output: Output, rejects: OnReject
) -> tuple[Scheme, Rarity | None]:
    """Gather the documents that have fingerprints of the scheme of the index; return the table of rarity it keeps."""
    from es_simhash.cli.jobs.labelled_documents import gather_index
    from es_simhash.engines.base import run
    from es_simhash.plans.open_index import noted_rarity, require_fingerprints
    from es_simhash.plans.operations import GetMappings
    from es_simhash.scheme.scope import combined

    assert source.index
    with (
        target.index(output, source.index, prefix=source.prefix) as index,
        output.progress("Reading") as advance,
    ):
        warn_of_indices_without_fields(output, index)
        stored = index.documents
        documents.scope = combined(stored.policy.scope, documents.scope)
        learnt = noted_rarity(index.engine.perform(GetMappings(index.name)), stored)
        scheme = {"term": {f"{stored.prefix}.scheme": stored.scheme.id}}
        wanted = {"bool": {"filter": [scheme, *([source.filter] if source.filter else [])]}}
        gather_index(index.engine, index.name, documents, stored.fields, wanted, rejects, advance)
        if not len(documents):
            run(require_fingerprints(source.index, stored), index.engine)
        return stored.scheme, learnt.rarity if learnt else None
