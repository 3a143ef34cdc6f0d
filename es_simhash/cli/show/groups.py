"""What came of looking for groups, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted

if TYPE_CHECKING:
    from es_simhash.groups.pairs.result import Counts


def summary(counts: Counts) -> str:
    """How many documents there are, in how many groups, and of how many pairs these come."""
    found = ", ".join(
        [
            counted(counts.documents, "document"),
            counted(counts.groups, "group"),
            counted(counts.duplicates, "duplicate"),
        ]
    )
    return f"{found} ({counted(counts.identical, 'pair')} of equal texts, {counts.near:,} of similar ones)."
