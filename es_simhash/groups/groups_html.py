"""Groups as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted, with_error
from es_simhash._core.notebook import MOST_ROWS, in_notebook, listed

if TYPE_CHECKING:
    from es_simhash.groups.of_index.result import Group, Grouped
    from es_simhash.groups.pairs.result import Counts, Duplicates

_CLOSED = "The result is closed, so its groups are no longer at hand."


def duplicates_html(duplicates: Duplicates) -> str:
    """Return the markup of the first groups of a deduplication."""
    rows = () if duplicates.is_closed else _ids(duplicates)
    return _html(duplicates.counts, ["group", "documents", "canonical", "duplicates"], rows, duplicates.is_closed)


def _ids(duplicates: Duplicates) -> Iterator[list[str]]:
    stand = duplicates.is_canonical
    for number, positions in enumerate(islice(duplicates.groups, MOST_ROWS)):
        canonical, others = (
            duplicates.ids_of([position for position in positions if stand[position] == stands])
            for stands in (True, False)
        )
        yield [str(number), f"{len(positions):,}", listed(canonical), listed(others)]


def grouped_html(grouped: Grouped) -> str:
    """Return the markup of the largest groups of an index."""
    columns = ["group", "documents", "lowest similarity", "canonical", "duplicates"]
    rows = () if grouped.is_closed else map(_members, grouped)
    return _html(grouped.counts, columns, rows, grouped.is_closed)


def _members(group: Group) -> list[str]:
    lowest = group.diameter.similarity
    shown = "" if lowest is None else with_error(lowest, group.diameter.standard_error, 3)
    canonical, others = (
        [member.id for member in group.members if member.is_canonical == stands] for stands in (True, False)
    )
    return [group.id, f"{len(group.members):,}", shown, listed(canonical), listed(others)]


def _html(counts: Counts, columns: list[str], rows: Iterator[list[str]] | tuple[()], is_closed: bool) -> str:
    parts = (
        counted(counts.documents, "document"),
        counted(counts.groups, "group"),
        counted(counts.duplicates, "duplicate"),
    )
    notes = [_CLOSED] if is_closed else []
    if counts.empty:
        notes.append(f"Without text to compare: {counted(counts.empty, 'document')}.")
    if counts.unscoped:
        notes.append(f"Without a value of the scope: {counted(counts.unscoped, 'document')}.")
    if counts.refused:
        notes.append(f"Similar enough, but with other numbers: {counted(counts.refused, 'pair')}.")
    return in_notebook(", ".join(parts), columns, rows, 0 if is_closed else counts.groups, *notes)
