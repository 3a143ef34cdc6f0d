"""What commands say about the conditions that are on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted

if TYPE_CHECKING:
    from es_simhash.cli.show.output import Output
    from es_simhash.scheme.verdict.verification import Verification


def note_refused(output: Output, pairs: int) -> None:
    """Print how many pairs conditions refused, if they did."""
    if pairs:
        output.note(refused_sentence(pairs))


def refused_sentence(pairs: int) -> str:
    """Return a sentence with the number of pairs that conditions refused."""
    return f"Similar enough, but with other numbers, lengths or first lines: {counted(pairs, 'pair')}."


def conditions_phrase(verification: Verification | None) -> str:
    """Return what texts must have in common beside a similarity, to end a phrase; empty if it is nothing."""
    conditions = verification.conditions if verification else {}
    return "".join(f", {name.replace('_', ' ')} alike by at least {least:g}" for name, least in conditions.items())
