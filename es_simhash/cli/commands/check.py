"""``es-simhash check``: which documents of a file are already in an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import Files, input_options
from es_simhash.cli.options.index import (
    filter_option,
    index_argument,
    similarity_option,
    warn_of_indices_without_fields,
)
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output, after, saying_if_interrupted

if TYPE_CHECKING:
    from es_simhash.cli.jobs.files import DistinctIds
    from es_simhash.documents.files import FileDocument, RejectFile
    from es_simhash.plans.add import WriteCounts
    from es_simhash.plans.check import Checked


@click.command(name="check", cls=EngineVerb)
@index_argument
@input_options
@click.option("--new", "new_only", is_flag=True, help="Print only new documents, which have no near-duplicates.")
@click.option("--write", is_flag=True, help="Write the documents that are printed to INDEX, once all are checked.")
@similarity_option
@filter_option("Only matches that fit this query (JSON).")
def command(
    index: str,
    files: Files,
    new_only: bool,
    write: bool,
    prefix: str,
    target: Target,
    output: Output,
    **wanted: Any,
) -> int:
    """List which documents of FILEs have near-duplicates in INDEX, or earlier in the files.

    Documents without a text to compare are neither new nor old: they are listed apart, and the exit code is 1.
    Nothing is written to the index without --write.

    Example: es-simhash check articles new.jsonl --new --write
    """
    from es_simhash.cli.jobs.files import DistinctIds
    from es_simhash.cli.jobs.load import Loader, make_visible
    from es_simhash.documents.sources import WithoutText
    from es_simhash.plans.find_options import MOST_CANDIDATES
    from es_simhash.plans.operations import Count

    new = total = cut_off = unscoped = refused = done = 0
    without_text, ids = WithoutText(), DistinctIds()
    under_way: dict[int, FileDocument] = {}
    kept: list[FileDocument] = []
    with (
        saying_if_interrupted(
            lambda: (
                f"{counted(total, 'document was', 'documents were')} checked. "
                f"{counted(done, 'document was', 'documents were') if done else 'Nothing was'} written to {index}."
            )
        ),
        target.index(output, index, prefix=prefix) as opened,
        files.opened(output, "Checking") as (found, rejects, advance),
    ):
        warn_of_indices_without_fields(output, opened)
        if write:
            opened.add([])  # raises, before anything is read, if nothing can be written there
        checking = opened.check(
            _actions(found, under_way, ids),
            on_reject=lambda one: rejects(under_way.pop(one.position).rejected(one.reason)),
            **wanted,
        )
        for checked in checking:
            document = under_way.pop(checked.position)
            total, new, cut_off = total + 1, new + checked.is_new, cut_off + (not checked.in_index.complete)
            unscoped, refused = unscoped + bool(checked.missing), refused + checked.refused
            if checked.status == "no text":
                without_text.add(f"{document.file}:{document.line}")
            if checked.is_new or not new_only:
                _show(output, checked)
                if write and not _is_refused(document, checked, ids, rejects):
                    kept.append(document)
            advance(total, rejects.count)
        is_empty = new and new == total and not opened.engine.perform(Count(index, {"match_all": {}}))
        if write:
            # Those written before the others are checked would be found twice: in the index, and earlier in the files.

            def note_written(now: WriteCounts) -> None:
                nonlocal done
                done = now.done

            if kept:
                Loader(opened, rejects, note_written).load(kept)
            make_visible(opened, output)
    output.note(f"{new:,} of {counted(total, 'document')} {'is' if new == 1 else 'are'} new.{ids.note}")
    if without_text.count:
        output.warn(f"{without_text.sentence} They were not checked.")
    _note_refused(output, refused)
    if is_empty:
        output.note(f"{index} has no documents to compare with.")
    if write:
        output.note(f"{counted(done, 'document')} written to {index}.")
    if unscoped:
        has = counted(unscoped, "document has", "documents have")
        output.note(f"{has} no value in a field of the scope, and so counts as new.")
    if cut_off:
        has = counted(cut_off, "document has", "documents have")
        output.note(
            f"{has} more than {MOST_CANDIDATES:,} similar documents, or enough equal ones: not all were compared. "
            "Add --filter to compare with fewer."
        )
    return after(rejects.count + without_text.count, rejects.may_pass)


def _note_refused(output: Output, pairs: int) -> None:
    if pairs:
        are = counted(pairs, "pair is", "pairs are")
        output.note(f"{are} similar enough, but the numbers in the texts differ.")


def _actions(
    found: Iterator[FileDocument], under_way: dict[int, FileDocument], ids: DistinctIds
) -> Iterator[dict[str, Any]]:
    for position, each in enumerate(found):
        under_way[position] = each
        yield {"_id": ids.written(each), "_source": each.document}


def _is_refused(document: FileDocument, checked: Checked, ids: DistinctIds, rejects: RejectFile) -> bool:
    """Reject a document whose id an earlier one has, which it would replace."""
    problem = ids.problem(checked.id or "")
    if problem:
        rejects(document.rejected(problem))
    return bool(problem)


def _show(output: Output, checked: Checked) -> None:
    output.result(checked)
    if checked.status != "near-duplicate":
        output.row(checked.id, checked.status)
    for where, matches in (("in the index", checked.in_index), ("earlier", checked.earlier)):
        for match in matches:
            output.row(checked.id, where, match.id, match.nearness)
