"""``es-simhash remove``: remove the fingerprint fields from an index."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import JOB, EngineVerb
from es_simhash.cli.options.index import accept_option, index_argument, run_options
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import (
    FINE,
    SOME_FAILED,
    Output,
    after,
    show_findings,
    show_parts,
    showing_progress,
    warn_of_left_out,
)

if TYPE_CHECKING:
    from es_simhash.live.removal import Removed


@click.command(name="remove", cls=EngineVerb, more=JOB)
@index_argument
@run_options
@accept_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def command(
    index: str,
    prefix: str,
    rejects: str,
    dry_run: bool,
    yes: bool,
    target: Target,
    output: Output,
    **given: Any,
) -> int:
    """Remove the fingerprint fields from all documents of INDEX, and the note about them from its mapping.

    Only these fields are removed; to resume a stopped run, run the same command again. A mapping cannot lose fields:
    they stay in it, empty. If several indices stand behind INDEX, those whose documents would lose other data are left
    out, and the exit code is 1.

    Example: es-simhash remove articles --dry-run
    """
    from es_simhash.documents.files import RejectFile
    from es_simhash.live.removal import Removal
    from es_simhash.live.sweep.reading import UpdateOptions

    with target.index(output, index, prefix=prefix) as opened, RejectFile(rejects) as rejected:
        removal = Removal(opened.engine, index, opened.documents, UpdateOptions(**given))
        show_findings(output, removal.survey.findings)
        output.result({"event": "plan"}, removal.survey, {"prefix": prefix})
        if dry_run or not output.quiet:
            show_parts(output, removal.survey.parts)
        if dry_run:
            return SOME_FAILED if removal.survey.left_out else FINE
        removal.survey.check()
        if not yes:
            _confirm(index, removal.progress.total)

        def done(written: int) -> str:
            return f"The fields were removed from {counted(written, 'document')}"

        with showing_progress(output, "Removing", removal.progress, done) as show:
            removed = removal.run(show, rejected)
    _show(output, removed, rejects)
    if removed.progress.left_out or removed.left > rejected.count:
        return SOME_FAILED
    return after(rejected.count, rejected.may_pass)


def _confirm(index: str, total: int) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("Confirmation needs a terminal. Without one, confirm with --yes.")
    question = f"Remove the fingerprints of {counted(total, 'document')} of {index}?"
    if not click.confirm(question, err=True):
        raise click.UsageError("Nothing was changed.")


def _show(output: Output, removed: Removed, rejects: str) -> None:
    progress = removed.progress
    output.result({"event": "done"}, progress, {"rejects": rejects, "left": removed.left})
    others = {"rejected": progress.rejected, "left": removed.left}
    rest = "".join(f", {count:,} {what}" for what, count in others.items() if count)
    output.report(f"{progress.index}: fingerprints removed from {counted(progress.written, 'document')}{rest}.")
    output.detail(f"It took {progress.seconds:,.1f} s.")
    warn_of_left_out(output, progress)
    if removed.left:
        output.note("Some documents still have fingerprints. Stop their writers, and run the command again.")
    else:
        output.note("The mapping keeps its empty fields. Only a copy of the index can do without them.")
    output.rejected(progress.rejected, rejects)
