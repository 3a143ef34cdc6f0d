"""``es-simhash evaluate``: how well near-duplicates are found, by documents whose duplicates somebody has labelled."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import click

from es_simhash.cli.options.connection import Target
from es_simhash.cli.options.group import group_options
from es_simhash.cli.options.index import (
    filter_option,
    prefix_option,
    scheme_named,
    scheme_option,
    texts_option,
    warn_of_indices_without_fields,
)
from es_simhash.cli.options.inputs import Files, optional_file_options
from es_simhash.cli.options.shared import EngineVerb
from es_simhash.cli.show.evaluation import show
from es_simhash.cli.show.exits import FINE, SOME_FAILED
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.cli.jobs.evaluate import Gathered
    from es_simhash.documents.files import RejectFile
    from es_simhash.documents.rejected import OnReject
    from es_simhash.scheme.settings import Settings

_PATIENCE = 600.0


@click.command(name="evaluate", cls=EngineVerb)
@optional_file_options
@click.option(
    "--labels",
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    help="A file with the labels, as JSON lines or CSV: clusters, or pairs.",
)
@click.option("--index", metavar="INDEX", help="Take the documents of this index, in place of files.")
@prefix_option
@filter_option("With --index: only documents that this query, as JSON, selects.")
@texts_option
@scheme_option
@group_options("single", None, "in the files, or by the index")
@click.option(
    "--samples", type=click.IntRange(0), default=200, show_default=True, help="How many samples make the intervals."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Which samples these are.")
@click.option("--examples", type=click.IntRange(0), default=10, show_default=True, help="How many errors are shown.")
@click.option(
    "--report", "report_file", type=click.Path(dir_okay=False, writable=True), help="Also write a page to this file."
)
@click.option(
    "--pairs",
    "pairs_file",
    type=click.Path(dir_okay=False, writable=True),
    help="Write all pairs that are found to a file, as JSON lines, and whether they are right.",
)
def command(
    files: Files,
    labels: str,
    index: str | None,
    prefix: str,
    filter: dict[str, Any] | None,
    fields: tuple[str, ...],
    scheme: str | None,
    canonical: str,
    strip: tuple[str, ...],
    samples: int,
    seed: int,
    examples: int,
    report_file: str | None,
    pairs_file: str | None,
    target: Target,
    output: Output,
    **wanted: Any,
) -> int:
    """Measure how well near-duplicates are found among the documents of FILEs, or of an index, by labels.

    Labels are clusters, {"cluster": 1, "ids": ["a", "b"]} or rows of id and cluster, or pairs, {"a": "x", "b": "y",
    "label": 1}. Documents in no common cluster are no duplicates; of pairs that are not labelled nothing is known.

    Example: es-simhash evaluate news.jsonl --labels clusters.jsonl --report quality.html
    """
    from es_simhash.cli.reports.html.evaluation import evaluation_page
    from es_simhash.documents.files import RejectFile, whole_file
    from es_simhash.groups.pairs.deduplicator import Deduplicator
    from es_simhash.quality.bootstrap import Bootstrap
    from es_simhash.quality.evaluation import EvaluationOptions, evaluate
    from es_simhash.quality.evaluation_json import write_pairs
    from es_simhash.quality.labels import read_labels

    if bool(files.paths) == bool(index):
        raise click.UsageError("Name the files with the documents, or an index by --index; one of both.")
    if index and (fields or scheme):
        raise click.UsageError("An index has its own scheme and fields. Drop --scheme and --field.")
    if filter is not None and not index:
        raise click.UsageError("--filter is for an index. Name it by --index, or drop the filter.")
    if report_file and report_file == pairs_file:
        raise click.UsageError("--report and --pairs are the same file. Name two.")
    with ExitStack() as stack:
        page_out = stack.enter_context(whole_file(report_file)) if report_file else None
        pairs_out = stack.enter_context(whole_file(pairs_file)) if pairs_file else None
        rejects = stack.enter_context(RejectFile(files.rejects))
        read = read_labels(labels, rejects)
        if index:
            source = _FromIndex(index, prefix, filter, target)
            settings, gathered = source.read(output, canonical, strip, rejects)
        else:
            settings = _scheme(scheme)
            gathered = _from_files(files, fields, output, canonical, strip, rejects)
        options = EvaluationOptions(
            Bootstrap(samples, seed), examples, rejects, lambda step: output.note(f"{step} …"), gathered.rank
        )
        evaluation = evaluate(gathered.documents, read, Deduplicator(settings, **wanted), options)
        name = index or ", ".join(files.paths)
        if page_out:
            page_out.write(evaluation_page(evaluation, name, datetime.now(timezone.utc)))
        if pairs_out:
            write_pairs(evaluation, pairs_out)
    if rejects.count:
        output.note(f"{rejects.count:,} documents or labels could not be used; {files.rejects} tells which, and why.")
    show(output, evaluation)
    return SOME_FAILED if rejects.count else FINE


def _scheme(name: str | None) -> Settings:
    from es_simhash.scheme.scheme import Scheme

    return scheme_named(name) or Scheme.preset("default")


def _from_files(
    files: Files, fields: tuple[str, ...], output: Output, canonical: str, strip: tuple[str, ...], rejects: OnReject
) -> Gathered:
    from es_simhash.cli.jobs.evaluate import gather_files
    from es_simhash.cli.jobs.file_texts import AbsentFields, read_texts
    from es_simhash.documents.files import total_bytes
    from es_simhash.documents.sources import patterns
    from es_simhash.groups.of_index.canonical import canonical_named

    absent = AbsentFields(fields)
    with output.progress("Reading", total_bytes(files.paths)) as advance:
        found = read_texts(files.read(rejects), fields, rejects, absent, patterns(strip))
        gathered = gather_files(
            found, canonical_named(canonical, fields), rejects, lambda done: advance(done, 0, files.bytes_read)
        )
    output.warn(absent.warning)
    return gathered


@dataclass(frozen=True)
class _FromIndex:
    """Documents of an index."""

    index: str
    prefix: str
    filter: dict[str, Any] | None
    target: Target

    def read(
        self, output: Output, canonical: str, strip: tuple[str, ...], rejects: RejectFile
    ) -> tuple[Settings, Gathered]:
        """The scheme of the index, and its documents."""
        from es_simhash.cli.jobs.evaluate import gather_index
        from es_simhash.documents.sources import patterns
        from es_simhash.groups.of_index.canonical import canonical_named
        from es_simhash.index import Index

        with self.target.opened(output) as engine, output.progress("Reading") as advance:
            opened = Index(self.index, engine, prefix=self.prefix)
            warn_of_indices_without_fields(output, opened)
            rule = canonical_named(canonical, opened.documents.fields)
            return opened.scheme, gather_index(opened, rule, self.filter, patterns(strip), rejects, advance, _PATIENCE)
