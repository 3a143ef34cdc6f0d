"""``es-simhash evaluate``: how well near-duplicates are found, measured on labelled documents."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.environment import PATIENCE
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import output_file, rarity_option
from es_simhash.cli.options.index import (
    estimate_option,
    near_options,
    scheme_or_default,
    warn_of_indices_without_fields,
)
from es_simhash.cli.options.scope import scope_options
from es_simhash.cli.options.source import Source, source_options
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.evaluation import show
from es_simhash.cli.show.exits import after
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.documents.rejected import OnReject
    from es_simhash.quality.predictions import StoredDocuments
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.scope import Scope
    from es_simhash.scheme.verdict.rarity import Rarity


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
@output_file("--report", "report_file", help="Write an HTML report to this file.")
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
    """Measure how well near-duplicates are found, on labelled documents of FILEs or of an index.

    Labels are clusters, {"cluster": 1, "ids": ["a", "b"]} or rows of id and cluster, or pairs, {"a": "x", "b": "y",
    "label": 1}. Documents without a common cluster are not duplicates; unlabelled pairs are not counted.

    Example: es-simhash evaluate news.jsonl --labels clusters.jsonl --report quality.html
    """
    from es_simhash._core.rows import json_record
    from es_simhash.cli.jobs.rarity_file import rarity_in
    from es_simhash.documents.files import RejectFile, whole_file
    from es_simhash.groups.options import GroupOptions
    from es_simhash.quality.evaluation import EvaluationOptions, evaluation_of
    from es_simhash.quality.labels import read_labels
    from es_simhash.quality.predictions import StoredDocuments

    if source.index and (source.fields or source.scheme or rarity_file):
        raise click.UsageError("An index has its own scheme, fields and table. Drop --scheme, --field and --rarity.")
    if report_file and report_file == pairs_file:
        raise click.UsageError("--report and --pairs are the same file. Name two.")
    with ExitStack() as stack:
        report_out = stack.enter_context(whole_file(report_file)) if report_file else None
        pairs_out = stack.enter_context(whole_file(pairs_file)) if pairs_file else None
        rejects = stack.enter_context(RejectFile(source.files.rejects))
        read = read_labels(labels, rejects)
        gather = _gather_index if source.index else _gather_files
        documents = stack.enter_context(StoredDocuments(scope=scope))
        settings, kept = gather(source, documents, target, output, rejects)
        options = EvaluationOptions(on_reject=rejects, on_step=lambda step: output.note(f"{step} …"))
        rarity = kept if source.index else rarity_in(rarity_file, settings)
        grouping = GroupOptions(scope=documents.scope, rarity=rarity, **near)
        evaluation = evaluation_of(documents, read, settings, grouping, options)
        if report_out:
            from es_simhash.cli.reports.html.evaluation import evaluation_page

            name = source.index or ", ".join(source.files.paths)
            report_out.write(evaluation_page(evaluation, name, datetime.now(timezone.utc)))
        if pairs_out:
            pairs_out.writelines(map(json_record, evaluation.found_pairs()))
    output.rejected(rejects.count, source.files.rejects)
    show(output, evaluation)
    return after(rejects.count, rejects.may_pass)


def _gather_files(
    source: Source,
    documents: StoredDocuments,
    _target: Target,
    output: Output,
    rejects: OnReject,
    /,
) -> tuple[Scheme, Rarity | None]:
    from es_simhash.cli.jobs.file_texts import NamedFields, read_texts
    from es_simhash.cli.jobs.labelled_documents import gather_files
    from es_simhash.documents.files import total_bytes

    scheme, files = scheme_or_default(source.scheme), source.files
    named = NamedFields(source.fields, documents.scope)
    with output.progress("Reading", total_bytes(files.paths)) as advance:
        found = named.checked(read_texts(files.read(rejects), source.fields, rejects, named))
        gather_files(found, documents, rejects, lambda done: advance(done, 0, files.bytes_read))
    output.warn(named.warning)
    if named.without_text.count:
        output.note(named.without_text.sentence)
    return scheme, None


def _gather_index(
    source: Source,
    documents: StoredDocuments,
    target: Target,
    output: Output,
    rejects: OnReject,
    /,
) -> tuple[Scheme, Rarity | None]:
    from es_simhash.cli.jobs.labelled_documents import gather_index
    from es_simhash.engines.base import run
    from es_simhash.index import Index
    from es_simhash.plans.open_index import require_fingerprints
    from es_simhash.scheme.scope import combined

    assert source.index
    with target.opened(output) as engine, output.progress("Reading") as advance:
        opened = Index(source.index, engine, prefix=source.prefix)
        warn_of_indices_without_fields(output, opened)
        documents.scope = combined(opened.documents.policy.scope, documents.scope)
        rarity = gather_index(opened, documents, source.filter, rejects, advance, PATIENCE)
        if not len(documents):
            run(require_fingerprints(source.index, opened.documents), engine)
        return opened.scheme, rarity
