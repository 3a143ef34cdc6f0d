"""``es-simhash group``: all groups of near-duplicates in an index."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from es_simhash.cli.options.connection import JOB, EngineVerb
from es_simhash.cli.options.files import output_file
from es_simhash.cli.options.index import (
    accept_option,
    check_outputs,
    filter_option,
    group_options,
    groups_file_options,
    index_argument,
    loss_options,
    max_rate_option,
    part_option,
    state_option,
)
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.groups import how_to_resume, print_groups, show_groups, show_losses, were_written
from es_simhash.cli.show.output import Output, after, saying_if_interrupted, show_findings
from es_simhash.live.telemetry import counts_of

if TYPE_CHECKING:
    from es_simhash.cli.jobs.groups import Link
    from es_simhash.groups.groups import Groups
    from es_simhash.groups.losses import Losses
    from es_simhash.groups.of_index.corpus import IndexCorpus
    from es_simhash.groups.of_index.writing import GroupsWritten
    from es_simhash.index import Index
    from es_simhash.live.doctor.facts import Finding
    from es_simhash.scheme.scope import Scope

_COPY = "With --write: store this field of the canonical document on its duplicates, in dedup.of; repeatable."


@click.command(name="group", cls=EngineVerb, more=JOB)
@index_argument
@group_options("by id")
@filter_option("Only documents that match this query (JSON).")
@click.option(
    "--incremental", is_flag=True, help="Compare only documents added or changed since groups were last written."
)
@state_option
@part_option("Only read part I of N into --state, so that N machines share the work.")
@click.option("--write", is_flag=True, help="Store the groups on the documents.")
@click.option("--copy", multiple=True, metavar="FIELD", help=_COPY)
@click.option("--singles", is_flag=True, help="With --write: give each document without duplicates its own group.")
@max_rate_option
@accept_option
@groups_file_options
@click.option("--kibana-url", metavar="URL", help="Link groups to Kibana or OpenSearch Dashboards at this URL.")
@output_file("--delete-script", help="Write a bulk request that deletes the duplicates.")
@loss_options
def command(
    index: str,
    prefix: str,
    write: bool,
    copy: tuple[str, ...],
    singles: bool,
    max_rate: float | None,
    accept: frozenset[str],
    patience: float,
    canonical: str,
    filter: dict[str, Any] | None,
    strip: tuple[str, ...],
    incremental: bool,
    shard: tuple[int, int] | None,
    scope: Scope | None,
    date_field: str | None,
    kibana_url: str | None,
    shown: tuple[str, ...],
    per: str | None,
    max_loss: float | None,
    asked: dict[str, Any],
    target: Target,
    output: Output,
    **named_files: str | None,
) -> int:
    """Find all groups of near-duplicates in INDEX, among the documents that have fingerprints.

    Print a line of JSON for each group, or on a terminal a table of the largest ones. A group has several canonical
    documents if it is a chain of small changes: each comes before its own duplicates. To see what the documents say,
    add --source with their fields, or --report. Without --write nothing is changed; no document is ever deleted.

    Example: es-simhash group articles --canonical oldest:published --write
    """
    from es_simhash.cli.jobs.groups import losses_in_index

    named = {option: named_files[name] for option, name in _FILES.items()}
    if not write and (copy or singles or max_rate or accept):
        raise click.UsageError(
            "--copy, --singles, --max-rate and --accept are for writing groups. Add --write, or drop them."
        )
    if write and named["--delete-script"]:
        raise click.UsageError(
            "--write changes the documents, and the script would then delete nothing. Write first, then add the script."
        )
    if shard and (write or any(named[option] for option in ("--output", "--pairs", "--report"))):
        raise click.UsageError(
            "--part reads a part of the documents, and makes no groups. When all parts are read, run group with the "
            "other options and without --part."
        )
    if incremental and (named["--delete-script"] or named["--report"]):
        raise click.UsageError(
            "--delete-script and --report need all groups, and --incremental reads only those that new documents "
            "may change. Drop one of them."
        )
    counts_losses = any((write, named["--delete-script"], named["--report"], per, max_loss is not None))
    if (per and incremental) or (max_loss is not None and (incremental or shard)):
        raise click.UsageError(
            "--per and --max-loss need all groups, which --incremental and --part do not make. Drop one of them; with "
            "--part, --per alone keeps the field for later."
        )
    check_outputs(named, date_field, scope)
    with target.index(output, index, prefix=prefix) as opened, ExitStack() as stack:
        asked |= {
            "canonical": canonical,
            "filter": filter,
            "strip": strip,
            "copy": copy,
            "incremental": incremental,
            "singles": singles if write else None,
            "shard": shard,
            "per": per,
            "years": date_field if counts_losses and not incremental else None,
            "patience": patience,
            "scope": scope,
        }
        link = _link(opened, kibana_url, target.distribution) if kibana_url else None
        if write:
            show_findings(output, _check(opened, accept))
        with (
            saying_if_interrupted(lambda: f"Nothing was written to the index. {how_to_resume(asked['state'])}"),
            output.progress("Reading") as advance,
        ):

            def on_read(done: int) -> None:
                output.run.count({"read": done})
                advance(done)

            groups = stack.enter_context(opened.group(on_progress=on_read, **asked))
        losses = losses_in_index(groups) if counts_losses and not (incremental or shard) else None
        try:
            show_losses(output, losses, max_loss, with_total=bool(named["--delete-script"]))
        except click.ClickException:
            groups.corpus.remove_kept()  # runs by the clock would otherwise judge the same old documents for ever
            raise
        how = {"singles": singles, "max_rate": max_rate, "patience": patience, "accept": accept}
        written = _write(output, opened, groups, how) if write else None
        with saying_if_interrupted(lambda: f"No output files were written. {how_to_resume(asked['state'])}"):
            _write_files(output, groups, opened, shown, named, date_field, link, losses)
        show_groups(
            output, groups, ids="INDEX/ID" if groups.corpus.has_indices else "ID", losses=losses, written=written
        )
        if written:
            output.next_step("dashboard", index, prefix=prefix)
        elif len(groups) and not output.as_json and asked["filter"] is None:
            output.note("To store the groups on the documents, add --write.")
    rejected = written.rejected if written else []
    return after(len(rejected), sum(each.may_pass for each in rejected))


_FILES = {
    "--output": "groups_file",
    "--pairs": "pairs_file",
    "--report": "report_file",
    "--delete-script": "delete_script",
}


def _check(index: Index, accepted: Collection[str]) -> list[Finding]:
    """Check whether groups can be written, before fingerprints are read."""
    from es_simhash.engines.base import run
    from es_simhash.groups.of_index.writing import examine_writing
    from es_simhash.plans.operations import GetMappings
    from es_simhash.scheme.mapping import entries

    mappings = index.engine.perform(GetMappings(index.name))
    found = entries(mappings, index.documents.prefix)
    return run(examine_writing([name for name, entry in found.items() if entry], accepted), index.engine)


def _write(output: Output, index: Index, groups: Groups[IndexCorpus], how: dict[str, Any]) -> GroupsWritten:
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
        return index.write_groups(groups, on_progress=on_progress, **how)


def _link(index: Index, kibana_url: str, distribution: str | None) -> Link:
    """Return a function that makes the address of a group's page."""
    from es_simhash.cli.reports.dashboards import Kibana, Subject
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
        raise click.UsageError("--kibana-url needs a server: Kibana cannot read the embedded engine. Drop it.")
    return partial(kibana.group, subject)


def _write_files(
    output: Output,
    groups: Groups[IndexCorpus],
    index: Index,
    shown: tuple[str, ...],
    named: Mapping[str, str | None],
    date_field: str | None,
    link: Link | None,
    losses: Losses | None,
) -> None:
    from es_simhash.cli.jobs import groups_report
    from es_simhash.cli.jobs.groups import MemberFields, format_of, write_deletes, write_pairs
    from es_simhash.documents.files import whole_file
    from es_simhash.scheme.scope import combined

    corpus, documents = groups.corpus, index.documents
    with ExitStack() as stack:
        out = {option: stack.enter_context(whole_file(path)) for option, path in named.items() if path}
        asked = MemberFields(shown, groups_report.sources_in_index(corpus, shown)) if shown else None
        print_groups(output, groups, named["--output"], out.get("--output"), link, asked)
        if pairs_out := out.get("--pairs"):
            write_pairs(groups, format_of(named["--pairs"]), pairs_out)
        if deletes_out := out.get("--delete-script"):
            write_deletes(groups, deletes_out)
        if report_out := out.get("--report"):
            page = groups_report.report_on(
                groups,
                index.name,
                documents.fields,
                scope=combined(documents.policy.scope, corpus.options.scope),
                dates=groups_report.dates_in_index(groups, date_field) if date_field else (),
                date_field=date_field,
                fetch=groups_report.sources_in_index(corpus),
                link=link,
                losses=losses,
            )
            report_out.write(page)
