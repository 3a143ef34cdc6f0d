"""``es-simhash group``: all groups of near-duplicates in an index."""

from __future__ import annotations

import sys
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Any

import click

from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import Target
from es_simhash.cli.options.group import group_options
from es_simhash.cli.options.index import filter_option, index_argument, prefix_option
from es_simhash.cli.options.kibana import kibana_url_option
from es_simhash.cli.options.run import accept_option, patience_option
from es_simhash.cli.options.shared import EngineVerb
from es_simhash.cli.show.exits import FINE, SOME_FAILED, saying_if_interrupted
from es_simhash.cli.show.groups import summary
from es_simhash.cli.show.output import Output
from es_simhash.cli.show.progress import tell_findings

if TYPE_CHECKING:
    from es_simhash.cli.jobs.group import Link
    from es_simhash.groups.of_index.options import GroupOptions
    from es_simhash.groups.of_index.result import Grouped
    from es_simhash.groups.of_index.writing import GroupsWritten, WriteOptions
    from es_simhash.index import Index
    from es_simhash.live.doctor.finding import Finding


@click.command(name="group", cls=EngineVerb)
@index_argument
@prefix_option
@group_options("star", "estimate", "by id")
@filter_option("Only documents that this query, as JSON, selects.")
@click.option("--incremental", is_flag=True, help="Compare only what came since groups were last written.")
@click.option(
    "--state", type=click.Path(file_okay=False), help="Keep there what is read, so that a stopped run can go on."
)
@patience_option
@click.option("--write", is_flag=True, help="Store the groups on the documents.")
@click.option("--singles", is_flag=True, help="With --write: documents in no group get one of their own.")
@click.option("--max-rate", type=float, metavar="N", help="With --write: at most N documents a second.")
@accept_option
@click.option("--output", "-o", "groups_file", type=click.Path(dir_okay=False), help="Write the groups to a file.")
@click.option("--pairs", "pairs_file", type=click.Path(dir_okay=False), help="Write the pairs that link to a file.")
@click.option(
    "--output-format",
    type=click.Choice(["jsonl", "csv"]),
    default="jsonl",
    show_default=True,
    help="The form of groups and pairs.",
)
@click.option("--report", "report_file", type=click.Path(dir_okay=False), help="Write a page of HTML about it all.")
@click.option("--date", "date_field", metavar="FIELD", help="With --report: the field of a document's date.")
@kibana_url_option
@click.option("--delete-script", type=click.Path(dir_okay=False), help="Write a bulk request that deletes duplicates.")
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

    A line for each group, the largest first, with the document to keep first. Nothing is changed unless you say
    --write, and no document is ever deleted.

    Example: es-simhash group articles --canonical oldest:published --write
    """
    from es_simhash.groups.of_index.writing import WriteOptions
    from es_simhash.index import Index

    if not write and (singles or max_rate or accept):
        raise click.UsageError(
            "--singles, --max-rate and --accept say how groups are written. Add --write, or drop them."
        )
    if given["date_field"] and not given["report_file"]:
        raise click.UsageError("--date is for the report. Add --report, or drop it.")
    if write and given["delete_script"]:
        raise click.UsageError(
            "--delete-script deletes what is as it was read, and --write changes it. Write first, then make the script."
        )
    if output.as_json and given["output_format"] == "csv" and not given["groups_file"]:
        raise click.UsageError("--json prints the groups as JSON. Name a file for the CSV with --output, or drop one.")
    with target.opened(output) as engine:
        opened = Index(index, engine, prefix=prefix)
        options = _options(opened, given)
        link = _link(opened, given["kibana_url"], target.distribution) if given["kibana_url"] else None
        if write:
            tell_findings(output, _look(opened, accept))
        with (
            saying_if_interrupted(lambda: "Nothing was written to the index."),
            output.progress("Reading") as advance,
        ):
            grouped = opened.group(options, on_progress=advance)
        with grouped:
            how = WriteOptions(singles, max_rate, options.patience, accept)
            written = _write(output, opened, grouped, how) if write else None
            _write_files(grouped, link, **{name: given[name] for name in _FILES})
            if given["report_file"]:
                _write_report(grouped, opened, options, given["report_file"], given["date_field"], link)
            _summarise(output, grouped, written)
    return SOME_FAILED if written and written.rejected else FINE


_FILES = ("groups_file", "pairs_file", "delete_script", "output_format")


def _options(index: Index, given: dict[str, Any]) -> GroupOptions:
    from es_simhash.groups.of_index.canonical import canonical_named
    from es_simhash.groups.of_index.options import GroupOptions

    names = (
        "by",
        "distance",
        "similarity",
        "linkage",
        "verify",
        "strip",
        "common",
        "max_bucket",
        "incremental",
        "state",
    )
    return GroupOptions(
        filter=given["filter"],
        canonical=canonical_named(given["canonical"], index.documents.fields),
        memory=given["memory"],
        patience=given["patience"],
        **{name: given[name] for name in names},
    )


def _look(index: Index, accepted: Collection[str]) -> list[Finding]:
    """What the doctor says of writing groups, before all is read that they are made of."""
    from es_simhash.engines.base import run
    from es_simhash.groups.of_index.writing import examine_writing
    from es_simhash.plans.operations import GetMappings
    from es_simhash.scheme.mapping import entries

    mappings = index.engine.perform(GetMappings(index.name))
    found = entries(mappings, index.documents.prefix)
    return run(examine_writing([name for name, entry in found.items() if entry], accepted), index.engine)


def _write(output: Output, index: Index, grouped: Grouped, how: WriteOptions) -> GroupsWritten:
    so_far = 0

    def tell(done: GroupsWritten) -> None:
        nonlocal so_far
        so_far = done.written
        advance(done.written, len(done.rejected))

    with (
        saying_if_interrupted(lambda: f"{_were_written(so_far)} Run the command again for the rest."),
        output.progress("Writing") as advance,
    ):
        return index.write_groups(grouped, how, on_progress=tell)


def _link(index: Index, kibana_url: str, distribution: str | None) -> Link:
    """What makes the address of a group's page."""
    from es_simhash.cli.reports.dashboards.kibana import Kibana
    from es_simhash.cli.reports.dashboards.subject import Subject
    from es_simhash.plans.operations import GetInfo

    kibana = Kibana.at(kibana_url)
    subject = Subject(index.name, index.documents.prefix, space=kibana.space)
    match distribution or index.engine.perform(GetInfo()).distribution:
        case "elasticsearch":
            return lambda group: kibana.group(subject, group, "kibana")
        case "opensearch":
            return lambda group: kibana.group(subject, group, "opensearch")
    raise click.UsageError("--kibana-url is for groups on a server; no Kibana reads the embedded engine. Drop it.")


def _write_files(
    grouped: Grouped,
    link: Link | None,
    groups_file: str | None,
    pairs_file: str | None,
    delete_script: str | None,
    output_format: str,
) -> None:
    from es_simhash.cli.jobs.group import write_deletes, write_groups, write_pairs
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


def _summarise(output: Output, grouped: Grouped, written: GroupsWritten | None) -> None:
    counts = grouped.counts
    for index, reason in grouped.unread.items():
        output.warn(f"Left out: the index {index!r} {reason}.")
    output.note(summary(counts))
    if grouped.new is not None:
        output.note(f"{grouped.new:,} of them were compared with the others; the rest had been.")
    if grouped.others:
        output.note(
            f"{counted(grouped.others, 'document has', 'documents have')} an empty text, or no whole fingerprint."
        )
    hot = [
        {"key": key.name, "documents": key.documents, "index": index, "id": id_}
        for key in grouped.hot_keys
        for index, id_ in grouped.keys([key.position])
    ]
    for key in hot[:3]:
        output.note(f"{key['documents']:,} documents share {key['key']} of document {key['id']!r}.")
    if counts.left_out or counts.cut_off:
        output.note(
            f"{counts.left_out:,} comparisons were left out, of documents with keys that very many share; "
            f"{counts.cut_off:,} times a document was not compared because of --max-bucket."
        )
    numbers = {**asdict(counts), "others": grouped.others, "new": grouped.new, "unread": grouped.unread}
    if written:
        _tell_written(output, written)
    output.result({"summary": {**numbers, "hot_keys": hot, "written": asdict(written) if written else None}})


def _were_written(documents: int) -> str:
    return f"{counted(documents, 'document was', 'documents were')} written."


def _tell_written(output: Output, written: GroupsWritten) -> None:
    output.note(_were_written(written.written))
    if written.lost:
        output.note(f"{written.lost:,} were changed or deleted meanwhile, and are in no group.")
    for undone in written.rejected[:10]:
        output.warn(undone.reason)
