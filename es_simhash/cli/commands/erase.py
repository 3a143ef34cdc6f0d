"""``es-simhash erase``: delete documents with all their copies."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.humanize import counted, counted_parts
from es_simhash._core.rows import json_record
from es_simhash.cli.options.connection import JOB, EngineVerb
from es_simhash.cli.options.files import output_file, text_file_option, text_in
from es_simhash.cli.options.index import index_argument, scope_value_option
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import FINE, SOME_FAILED, Output, saying_if_interrupted
from es_simhash.live.telemetry import counts_of

if TYPE_CHECKING:
    from es_simhash.index import Index
    from es_simhash.live.erase.copies import Copies, Erased

# Characters of a text that a table shows.
_SHOWN = 60
_COLUMNS = ["index", "id", "kind", "similarity", "contained", "fingerprint", "text"]
_SHARE = click.FloatRange(0, 1, min_open=True)


@click.command(name="erase", cls=EngineVerb, more=JOB)
@index_argument
@click.option("--id", "ids", multiple=True, metavar="ID", help="Document to erase with its copies; repeatable.")
@click.option("--text", "texts", multiple=True, help="Text to erase, of an already deleted document; repeatable.")
@text_file_option
@scope_value_option
@click.option("--similarity", type=_SHARE, default=0.5, metavar="S", help="Minimum similarity of a copy.")
@click.option(
    "--containment",
    type=_SHARE,
    default=0.9,
    metavar="SHARE",
    help="Or minimum share of one text that is in the other.",
)
@click.option("--scan", is_flag=True, help="Compare every document of the index, not only those that searches find.")
@output_file("--output", "list_file", help="Write the copies to this file, to be edited, and delete nothing.")
@click.option(
    "--confirmed",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Delete the copies that are still in this file.",
)
@click.option("--yes", is_flag=True, help="Delete all copies, without asking.")
@output_file("--report", "report_file", help="Write a report to this file; as JSON if its name ends with .json.")
def command(
    index: str,
    ids: tuple[str, ...],
    texts: tuple[str, ...],
    file: str | None,
    list_file: str | None,
    confirmed: str | None,
    yes: bool,
    report_file: str | None,
    prefix: str,
    target: Target,
    output: Output,
    **given: Any,
) -> int:
    """Delete documents of INDEX with all their copies: equal, similar, or one a part of the other.

    Copies without a fingerprint, or with other settings, are found as well. All are shown first, and nothing is deleted
    without your confirmation. Only the versions shown are deleted; then the search is repeated until it finds none.

    Example: es-simhash erase articles --id 42 --output copies.jsonl
    """
    from es_simhash.documents.files import whole_file

    if sum((list_file is not None, confirmed is not None, yes)) > 1:
        raise click.UsageError("Give one of --output, --confirmed and --yes.")
    if file is not None:
        texts = (*texts, text_in(file))
    if not ids and not texts:
        raise click.UsageError("Name what to erase by --id, --text or --file.")
    with target.index(output, index, prefix=prefix) as opened:
        copies = opened.copies(ids, texts=texts, **given)
        if confirmed is not None:
            copies = copies.confirmed_by(text_in(confirmed).split("\n"))
        _show_copies(output, copies)
        if copies:
            output.note(_share_of(opened, len(copies)))
            output.warn(_doubts_about(opened, copies))
        if list_file is not None:
            with whole_file(list_file) as out:
                out.writelines(copies.to_lines())
            output.note(f"Nothing was deleted. Edit {list_file}, and give it to --confirmed.")
            return FINE
        if not copies and copies.incomplete:
            return SOME_FAILED
        if not (yes or confirmed or (copies and _is_confirmed(output, copies))):
            return FINE
        erased = _erase(output, opened, copies, yes, report_file)
    _show_erased(output, erased, report_file)
    return FINE if erased.is_complete else SOME_FAILED


def _share_of(index: Index, copies: int) -> str:
    """Return how many documents of an index would go."""
    from es_simhash.groups.loss_counts import Loss, percent
    from es_simhash.plans.operations import Count

    every = max(index.engine.perform(Count(index.name, {"match_all": {}})), copies)
    return f"{copies:,} of {counted(every, 'document')} ({percent(Loss('', every, copies).share)}) would go."


def _doubts_about(index: Index, copies: Copies) -> str:
    """Return why copies are likely none, judged by six of them; nothing if they are likely some."""
    from es_simhash.documents.documents import readable_text
    from es_simhash.groups.losses import SAID, look_at
    from es_simhash.groups.of_index.stored_fingerprints import DocumentReader

    some, documents = [copy.ref for copy in copies.found[:: -(-len(copies) // 6)]], index.documents
    found = DocumentReader(index.engine, copies.options.patience).read(some, True)
    texts = [text for hit in found if hit and (text := readable_text(documents, hit.get("_source") or {}))]
    reason = look_at(documents.scheme, texts, len(copies)).reason
    return "" if reason == "copies" else f"They are {SAID[reason][0]}. Review each: --output lists them, to be edited."


def _is_confirmed(output: Output, copies: Copies) -> bool:
    if not sys.stdin.isatty():
        output.note("Nothing was deleted. Confirm with --yes, or list the copies by --output, and edit them.")
        return False
    question = f"Delete {counted(len(copies), 'document')} of {copies.index}?"
    if not click.confirm(question, err=True):
        raise click.UsageError("Nothing was deleted.")
    return True


def _erase(output: Output, index: Index, copies: Copies, everything: bool, report_file: str | None) -> Erased:
    """Erase, and write the report however it ends."""
    from es_simhash.documents.files import whole_file

    so_far: Erased | None = None

    def on_progress(erased: Erased) -> None:
        nonlocal so_far
        so_far = erased
        output.run.count(counts_of(erased))
        advance(len(erased.deleted))

    def done() -> str:
        return f"{counted(len(so_far.deleted) if so_far else 0, 'document was', 'documents were')} deleted."

    try:
        with saying_if_interrupted(done), output.progress("Erasing", len(copies)) as advance:
            return index.erase(copies, everything=everything, on_progress=on_progress)
    finally:
        if so_far is not None and report_file is not None:
            with whole_file(report_file) as out:
                out.write(json_record(so_far) if report_file.endswith(".json") else so_far.to_text())


# ---- what is shown


def _show_copies(output: Output, copies: Copies) -> None:
    """Print the copies, for a review."""
    output.result({"event": "found"}, copies)
    if copies:
        rows = [
            [copy.index, copy.id, copy.kind, copy.similarity, copy.containment, copy.fingerprint, copy.text[:_SHOWN]]
            for copy in copies
        ]
        output.table(_COLUMNS, rows)
    else:
        output.line("No copies to erase.")
    _warn_of_missed(output, copies.incomplete)


def _show_erased(output: Output, erased: Erased, report_file: str | None) -> None:
    """Print what was deleted and what was left."""
    output.result({"event": "done"}, erased)
    left = [each for each in erased.left if each.reason != "dropped"]
    counts = {
        "deleted": len(erased.deleted),
        "not deleted": len(left),
        "kept at your request": len(erased.left) - len(left),
        "already gone": erased.gone,
    }
    output.report(f"{erased.index}: {counted_parts(counts) or 'no documents'}.")
    for deleted in erased.deleted:
        if deleted.appeared:
            output.note(f"Also deleted, added or changed during the run: {deleted.copy.id!r} in {deleted.copy.index}.")
    for each in left:
        detail = f" ({each.detail})" if each.detail else ""
        output.warn(f"Not deleted: {each.copy.id!r} in {each.copy.index}: {each.reason}{detail}.")
    if left:
        output.warn("Some copies may remain. Check them, stop their writers, and run the command again.")
    _warn_of_missed(output, erased.incomplete)
    if report_file is not None:
        output.note(f"{report_file} has the report on {counted(erased.rounds, 'round')}.")
    if erased.deleted:
        output.note(
            "The index's files keep the deleted texts until segments are merged, and snapshots keep them, too. "
            "docs/how-to/erase.md shows how to remove them."
        )


def _warn_of_missed(output: Output, incomplete: list[str] | tuple[str, ...]) -> None:
    for where in incomplete:
        output.warn(f"Some copies may not have been found: {where}.")
