"""``es-simhash remove``: take the fields of fingerprints out of an index."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import Target
from es_simhash.cli.options.index import index_argument, prefix_option
from es_simhash.cli.options.run import accept_option, run_options
from es_simhash.cli.options.shared import EngineVerb
from es_simhash.cli.show.exits import FINE, SOME_FAILED, saying_if_interrupted
from es_simhash.cli.show.output import Output
from es_simhash.cli.show.progress import counts, planned, rates, tell_findings, tell_parts, telling, warn_of_left_out

if TYPE_CHECKING:
    from es_simhash.live.removal import RemovalSurvey, Removed


@click.command(name="remove", cls=EngineVerb)
@index_argument
@prefix_option
@run_options
@accept_option
@click.option("--dry-run", is_flag=True, help="Show what there is to do, and do nothing.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def command(
    index: str,
    prefix: str,
    rejects: str,
    accept: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    target: Target,
    output: Output,
    **given: Any,
) -> int:
    """Take the fields of fingerprints out of all documents of INDEX, and our note out of its mapping.

    Only these fields go; a run that was stopped is gone on with by running the same command again. The mapping itself
    cannot lose fields: they stay in it, and hold nothing. An index whose documents would lose something else by it, as
    doctor finds out, is left out if there are others, and the exit code is 1.

    Example: es-simhash remove articles --dry-run
    """
    from es_simhash.documents.files import RejectFile
    from es_simhash.index import Index
    from es_simhash.live.removal import Removal
    from es_simhash.live.sweep.options import UpdateOptions

    with target.opened(output) as engine, RejectFile(rejects) as undone:
        documents = Index(index, engine, prefix=prefix).documents
        removal = Removal(engine, index, documents, UpdateOptions(**given, accept=frozenset(accept)))
        _show_prospect(output, removal.survey, prefix, dry_run)
        if dry_run:
            return SOME_FAILED if removal.survey.left_out else FINE
        removal.survey.check()
        if not yes:
            _confirm(index, removal.progress.total)
        with (
            telling(output, "Removing", removal.progress.total) as tell,
            saying_if_interrupted(lambda: f"{_so_far(removal.progress.written)}. Run the command again for the rest."),
        ):
            removed = removal.run(tell, undone)
    _show(output, removed, prefix, rejects)
    return SOME_FAILED if removed.left or removed.progress.left_out or undone.count else FINE


def _show_prospect(output: Output, survey: RemovalSurvey, prefix: str, dry_run: bool) -> None:
    tell_findings(output, survey.findings)
    output.result({"event": "plan", **planned(survey), "prefix": prefix})
    if dry_run or not output.quiet:
        tell_parts(output, survey.parts)


def _confirm(index: str, total: int) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("There is no terminal to ask whether this is meant. Say so with --yes.")
    question = f"Take the fingerprints out of {counted(total, 'document')} of {index}?"
    if not click.confirm(question, err=True):
        raise click.UsageError("Nothing was changed.")


def _so_far(written: int) -> str:
    return f"The fields were taken out of {counted(written, 'document')}"


def _show(output: Output, removed: Removed, prefix: str, rejects: str) -> None:
    progress = removed.progress
    done = {**counts(progress), **rates(progress), "seconds": round(progress.seconds, 3)}
    output.result({"event": "done", **done, "rejects": rejects, "left_out": progress.left_out, "left": removed.left})
    output.report(f"{progress.index}: {progress.written:,} done, {progress.rejected:,} rejected, {removed.left:,} left")
    output.note(f"{_so_far(progress.written)} in {progress.seconds:,.1f} s.")
    warn_of_left_out(output, progress)
    if removed.left:
        output.note("Some have the fields still, or again. See that nobody writes them, then run the command again.")
    else:
        output.note(f"The mapping still has the fields of {prefix}, which hold nothing: a mapping cannot lose fields.")
    if progress.rejected:
        output.note(f"{progress.rejected:,} could not be done; {rejects} tells which, and why.")
