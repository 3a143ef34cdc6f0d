"""The copies that ``erase`` finds, and its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted, counted_parts
from es_simhash._core.rows import json_record
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.live.erase.copies import Copies, Erased

_SHOWN = 60
_COLUMNS = ["index", "id", "kind", "similarity", "contained", "fingerprint", "text"]


def show_copies(output: Output, copies: Copies) -> None:
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


def write_list(copies: Copies, path: str) -> None:
    """Write the copies to a file that may be edited."""
    from es_simhash.documents.files import whole_file

    with whole_file(path) as out:
        out.writelines(copies.to_lines())


def write_report(erased: Erased, path: str) -> None:
    """Write the report on an erasure, as JSON or as text."""
    from es_simhash.documents.files import whole_file

    with whole_file(path) as out:
        if path.endswith(".json"):
            out.write(json_record(erased))
        else:
            out.write(erased.to_text())


def show_erased(output: Output, erased: Erased, report_file: str | None) -> None:
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
