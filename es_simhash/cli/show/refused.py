"""What commands say about the numbers that texts must share, and the pairs that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted

if TYPE_CHECKING:
    from es_simhash.cli.show.output import Output
    from es_simhash.scheme.verdict.verification import Verification


def note_refused(output: Output, pairs: int) -> None:
    """Print how many pairs were refused for their numbers, if any."""
    if pairs:
        output.note(refused_sentence(pairs))


def refused_sentence(pairs: int) -> str:
    """Return a sentence with the number of pairs that were refused."""
    return f"Similar enough, but with other numbers: {counted(pairs, 'pair')}."


def numbers_phrase(verification: Verification | None) -> str:
    """Return which share of numbers texts must have in common, to end a phrase; empty if it is none."""
    least = verification.numbers if verification else 0
    return f", numbers alike by at least {least:g}" if least else ""
