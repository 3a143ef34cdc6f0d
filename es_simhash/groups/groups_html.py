"""Groups as a notebook shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted, with_error
from es_simhash._core.notebook import in_notebook, listed

if TYPE_CHECKING:
    from es_simhash.groups.corpus import Corpus
    from es_simhash.groups.groups import Group, Groups


def groups_html(groups: Groups[Corpus]) -> str:
    """Return the markup of the largest groups."""
    counts, columns = groups.counts, ["group", "documents", "lowest similarity", "canonical", "duplicates"]
    parts = (
        counted(counts.documents, "document"),
        counted(counts.groups, "group"),
        counted(counts.duplicates, "duplicate"),
    )
    notes = ["The result is closed, so its groups are no longer at hand."] if groups.is_closed else []
    if counts.empty:
        notes.append(f"Without text to compare: {counted(counts.empty, 'document')}.")
    if counts.unscoped:
        notes.append(f"Without a value of the scope: {counted(counts.unscoped, 'document')}.")
    if counts.refused:
        notes.append(f"Similar enough, but with other numbers: {counted(counts.refused, 'pair')}.")
    rows, total = (iter(()), 0) if groups.is_closed else (map(_row, groups), len(groups))
    return in_notebook(", ".join(parts), columns, rows, total, *notes)


def _row(group: Group) -> list[str]:
    lowest = min(group.members, key=lambda each: 1.0 if each.similarity is None else each.similarity)
    shown = "" if lowest.similarity is None else with_error(lowest.similarity, lowest.standard_error, 3)
    canonical, others = (
        [member.id for member in group.members if member.is_canonical == stands] for stands in (True, False)
    )
    return [group.id, f"{len(group.members):,}", shown, listed(canonical), listed(others)]
