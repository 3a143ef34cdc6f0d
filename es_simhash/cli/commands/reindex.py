"""``es-simhash reindex``: copy an index, with fingerprints, into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.humanize import counted, counted_parts, json_text
from es_simhash.cli.options.connection import JOB, EngineVerb
from es_simhash.cli.options.index import index_options, run_options
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import FINE, SOME_FAILED, Output, after, show_learnt, showing_progress

if TYPE_CHECKING:
    from es_simhash.live.reindex import Reindexed, ReindexSurvey


@click.command(name="reindex", cls=EngineVerb, more=JOB)
@click.argument("source")
@click.argument("destination")
@click.option(
    "--alias",
    "aliases",
    multiple=True,
    metavar="NAME",
    help="Afterwards, move this alias from SOURCE to DESTINATION, or create it; repeatable.",
)
@click.option("--fast", is_flag=True, help="Turn refreshes and replicas of DESTINATION off until it is complete.")
@run_options
@index_options
def command(
    source: str,
    destination: str,
    known: dict[str, Any],
    rejects: str,
    dry_run: bool,
    target: Target,
    output: Output,
    **given: Any,
) -> int:
    """Copy the index SOURCE, with fingerprints, into DESTINATION, which gets its settings and mapping.

    A DESTINATION that exists keeps its own, and must be empty. To resume a stopped run, run the same command again; a
    later run also copies what has changed since. Afterwards,
    both indices are counted and a sample is compared; only then is the alias moved, in one step. To miss nothing, stop
    writes to SOURCE during the last run. Nothing is ever deleted.

    Example: es-simhash reindex articles-1 articles-2 --field title --field body --alias articles
    """
    from es_simhash.documents.files import RejectFile
    from es_simhash.live.reindex import Reindexing, ReindexOptions
    from es_simhash.plans.index_plans import IndexPlans

    options = ReindexOptions(**given)
    with target.opened(output) as engine, RejectFile(rejects) as rejected:
        documents = IndexPlans(source, **known).documents_of_copy()
        run = Reindexing(engine, source, destination, documents, options)
        _show_plan(output, run.survey, dry_run)
        if dry_run:
            return FINE

        def done(written: int) -> str:
            return f"{counted(written, 'document was', 'documents were')} copied"

        with showing_progress(output, "Copying", run.progress, done) as show:
            reindexed = run.run(show, rejected)
    _show(output, run.survey, reindexed, rejects)
    output.rejected(rejected.count, rejects)
    if rejected.count or reindexed.is_whole:
        return after(rejected.count, rejected.may_pass)
    return SOME_FAILED


def _show_plan(output: Output, survey: ReindexSurvey, dry_run: bool) -> None:
    output.result({"event": "plan"}, survey, {"dry_run": dry_run})
    made = "a new index" if survey.create else "an existing index"
    say = output.line if dry_run else output.report
    say(f"{survey.source}: {survey.due:,} of {survey.documents:,} documents to copy to {survey.destination}, {made}")
    if survey.left_out:
        output.note(f"The copy does not get {', '.join(survey.left_out)}. Set them afterwards if it needs them.")
    if dry_run:
        requests = {
            f"PUT /{survey.destination}": survey.create,
            f"PUT /{survey.destination}/_mapping": survey.mapping,
            f"PUT /{survey.destination}/_settings (until it is complete)": survey.interim,
            "POST /_aliases (in the end)": {"actions": survey.aliases} if survey.aliases else None,
        }
        for request, body in requests.items():
            if body:
                output.line(request)
                output.line(json_text(body, indent=2))


def _show(output: Output, survey: ReindexSurvey, done: Reindexed, rejects: str) -> None:
    progress, verified = done.progress, done.verified
    output.result({"event": "done"}, progress, {"rejects": rejects}, done)
    counts = {
        "copied": progress.written,
        "already copied": progress.current,
        "deleted during the run": progress.gone,
        "rejected": progress.rejected,
        "without a fingerprint": progress.unfit,
    }
    output.report(f"{survey.destination}: {counted_parts(counts) or 'no documents'}.")
    problems = {
        "missing": verified.missing,
        "copies of deleted documents": verified.extra,
        "different": len(verified.different),
    }
    found = "".join(f", {count:,} {what}" for what, count in problems.items() if count)
    say = output.report if done.is_verified else output.line
    say(
        f"{'Verified' if done.is_verified else 'NOT verified'}: {counted(verified.documents, 'document')}, "
        f"{counted(verified.copies, 'copy', 'copies')}, {verified.compared:,} compared{found}."
    )
    for alias in done.aliases:
        output.report(f"The alias {alias} now points to {survey.destination}.")
    if done.late:
        late = counted(done.late, "document")
        output.warn(f"{late} reached {survey.source} while the alias was moved; {rejects} lists them.")
    show_learnt(output, progress.learnt)
    output.detail(f"It took {progress.seconds:,.1f} s.")
    output.note(_next(survey, done))


def _next(survey: ReindexSurvey, done: Reindexed) -> str:
    """Suggest what to do next."""
    if not done.is_verified:
        return "Read the messages above, and run the command again."
    if not done.aliases:
        return f"{survey.source} is unchanged. Run the command again with --alias, or point programs at the copy."
    return f"{survey.source} is unchanged: delete it when you no longer need it."
