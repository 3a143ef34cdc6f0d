"""What the summaries of ``dedup`` and ``group``, and their report, say of groups that look like forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from es_simhash.scheme.query import Criteria

_EXAMPLES = 3


def forms_sentences(forms: Sequence[str], criteria: Criteria) -> str:
    """Return what to say of groups that look like forms, by the ids of their first documents; empty if there are none.

    ``--numbers`` is named unless it is on.
    """
    if not forms:
        return ""
    named = ", ".join(map(repr, forms[:_EXAMPLES]))
    if len(forms) == 1:
        look, check = f"The group of document {named} looks like a form: its", "Check it"
    else:
        such = "those" if len(forms) <= _EXAMPLES else "such as those"
        look, check = f"{len(forms):,} groups look like forms, {such} of documents {named}: their", "Check one"
    said = f"{look} documents differ in the same places. {check} before you delete duplicates."
    if criteria.verification and criteria.verification.numbers:
        return said
    return f"{said} With --numbers 0.5, documents with different numbers are not duplicates."
