"""``es-simhash group``: all groups of near-duplicates in an index."""

from __future__ import annotations

import sys
from collections.abc import Collection
from contextlib import ExitStack
from functools import partial
from typing import IO, TYPE_CHECKING, Any

import click

from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import output_file
from es_simhash.cli.options.group import check_outputs, group_options, groups_file_options
from es_simhash.cli.options.index import filter_option, index_argument, prefix_option
from es_simhash.cli.options.kibana import kibana_url_option
from es_simhash.cli.options.metrics import metrics_options
from es_simhash.cli.options.run import accept_option, max_rate_option, patience_option, shard_option
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.exits import after, saying_if_interrupted
from es_simhash.cli.show.groups import show_grouped, were_written
from es_simhash.cli.show.output import Output
from es_simhash.cli.show.progress import show_findings
from es_simhash.live.telemetry.job_metrics import counts_of

if TYPE_CHECKING:
    from es_simhash.cli.jobs.group_output import Link
    from es_simhash.groups.of_index.options import GroupOptions
    from es_simhash.groups.of_index.result import Grouped
    from es_simhash.groups.of_index.writing import GroupsWritten, WriteOptions
    from es_simhash.index import Index
    from es_simhash.live.doctor.finding import Finding


@click.command(name="group", cls=EngineVerb)
@index_argument
@prefix_option
@group_options("by id")
@filter_option("Only documents that this query, as JSON, selects.")
@click.option("--incremental", is_flag=True, help="Read and compare only what is new since groups were written.")
@click.option(
    "--state", type=click.Path(file_okay=False), help="Keep each stage in this directory, to resume a stopped run."
)
@shard_option("Only read shard I of N into --state, on one of N machines.")
@patience_option
@click.option("--write", is_flag=True, help="Store the groups on the documents.")
@click.option("--singles", is_flag=True, help="With --write: give each document without duplicates its own group.")
@max_rate_option
@accept_option
@groups_file_options
@metrics_options
@kibana_url_option
@output_file("--delete-script", help="Write a bulk request that deletes the duplicates.")
def command(
    index: str,
    prefix: str,
    write: bool,
    singles: bool,
    max_rate: float | None,
    accept: tuple[str, ...],
    target: Target,
    output: Output,
    **given: Any,
) -> int:
    """Find all groups of near-duplicates in INDEX, among the documents that have fingerprints.

    Print a line for each group, the largest first, with each canonical document before its duplicates. Without
    --write nothing is changed, and documents are never deleted.

    Example: es-simhash group articles --canonical oldest:published --write
    """
    from es_simhash.groups.of_index.writing import WriteOptions
    from es_simhash.index import Index

    if not write and (singles or max_rate or accept):
        raise click.UsageError("--singles, --max-rate and --accept are for writing groups. Add --write, or drop them.")
    if write and given["delete_script"]:
        raise click.UsageError(
            "--delete-script deletes what is as it was read, and --write changes it. Write first, then make the script."
        )
    if given["shard"] and (write or any(given[name] for name in ("groups_file", "pairs_file", "report_file"))):
        raise click.UsageError(
            "--shard reads a part of the documents, and makes no groups. Give the other options to the run without "
            "--shard, when the shards are read."
        )
    if given["incremental"] and (given["delete_script"] or given["report_file"]):
        raise click.UsageError(
            "--delete-script and --report are of all groups, and --incremental reads only those that new documents "
            "may change. Drop one of them."
        )
    named = {"--output": given["groups_file"], "--report": given["report_file"]}
    check_outputs(named, given["date_field"], given["scope"], given["output_format"], output.as_json)
    with target.opened(output) as engine, ExitStack() as stack:
        opened = Index(index, engine, prefix=prefix)
        options = _options(opened, given, singles if write else None)
        link = _link(opened, given["kibana_url"], target.distribution) if given["kibana_url"] else None
        if write:
            show_findings(output, _check(opened, accept))
        with (
            saying_if_interrupted(lambda: "Nothing was written to the index."),
            output.progress("Reading") as advance,
        ):

            def on_read(done: int) -> None:
                output.run.count({"read": done})
                advance(done)

            grouped = stack.enter_context(opened.group(options, on_progress=on_read))
        how = WriteOptions(singles, max_rate, options.patience, accept)
        written = _write(output, opened, grouped, how) if write else None
        _write_files(grouped, link, **{name: given[name] for name in _FILES})
        if given["report_file"]:
            _write_report(grouped, opened, options, given["report_file"], given["date_field"], link)
        show_grouped(output, grouped, written, options.criteria(opened.documents.scheme))
    rejected = written.rejected if written else []
    return after(len(rejected), sum(each.may_pass for each in rejected))


_FILES = ("groups_file", "pairs_file", "delete_script", "output_format")


def _options(index: Index, given: dict[str, Any], singles: bool | None) -> GroupOptions:
    from es_simhash.groups.canonical import canonical_named
    from es_simhash.groups.of_index.options import GroupOptions

    names = [
        "by",
        "distance",
        "similarity",
        "numbers",
        "estimate",
        "strip",
        "max_bucket",
        "incremental",
        "state",
        "shard",
        "memory",
        "patience",
        "scope",
    ]
    return GroupOptions(
        filter=given["filter"],
        canonical=canonical_named(given["canonical"], index.documents.fields),
        singles=singles,
        **{name: given[name] for name in names},
    )


def _check(index: Index, accepted: Collection[str]) -> list[Finding]:
    """Check whether groups can be written, before fingerprints are read."""
    from es_simhash.engines.base import run
    from es_simhash.groups.of_index.writing import examine_writing
    from es_simhash.plans.operations import GetMappings
    from es_simhash.scheme.mapping import entries

    mappings = index.engine.perform(GetMappings(index.name))
    found = entries(mappings, index.documents.prefix)
    return run(examine_writing([name for name, entry in found.items() if entry], accepted), index.engine)


def _write(output: Output, index: Index, grouped: Grouped, how: WriteOptions) -> GroupsWritten:
    so_far = 0

    def on_progress(done: GroupsWritten) -> None:
        nonlocal so_far
        so_far = done.written
        output.run.count(counts_of(done))
        advance(done.written, len(done.rejected))

    with (
        saying_if_interrupted(lambda: f"{were_written(so_far)} Run the command again for the rest."),
        output.progress("Writing") as advance,
    ):
        return index.write_groups(grouped, how, on_progress=on_progress)


def _link(index: Index, kibana_url: str, distribution: str | None) -> Link:
    """Return a function that makes the address of a group's page."""
    from es_simhash.cli.reports.dashboards.kibana import Kibana
    from es_simhash.cli.reports.dashboards.subject import Subject
    from es_simhash.plans.operations import GetInfo

    kibana = Kibana.at(kibana_url)
    documents = index.documents
    subject = Subject(
        index.name,
        documents.prefix,
        text_fields=tuple(documents.fields),
        measure="similarity" if documents.scheme.minhash else "distance",
        space=kibana.space,
    )
    if (distribution or index.engine.perform(GetInfo()).distribution) == "embedded":
        raise click.UsageError("--kibana-url is for groups on a server; no Kibana reads the embedded engine. Drop it.")
    return partial(kibana.group, subject)


def _write_files(
    grouped: Grouped,
    link: Link | None,
    groups_file: str | None,
    pairs_file: str | None,
    delete_script: str | None,
    output_format: str,
) -> None:
    from es_simhash.cli.jobs.group_output import write_deletes, write_groups, write_pairs
    from es_simhash.documents.files import whole_file

    with ExitStack() as stack:
        out: IO[str] = stack.enter_context(whole_file(groups_file)) if groups_file else sys.stdout
        write_groups(grouped, output_format, out, link)
        if pairs_file:
            write_pairs(grouped, output_format, stack.enter_context(whole_file(pairs_file)))
        if delete_script:
            write_deletes(grouped, stack.enter_context(whole_file(delete_script)))


def _write_report(
    grouped: Grouped, index: Index, options: GroupOptions, path: str, date_field: str | None, link: Link | None
) -> None:
    from es_simhash.cli.jobs.group_report import report_on
    from es_simhash.documents.files import whole_file

    with whole_file(path) as out:
        out.write(report_on(grouped, index, options, date_field, link))
