"""What a command has learnt of how rare features are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.live.learning import Learnt
    from es_simhash.scheme.verdict.learnt import LearntRarity


def sample(learnt: LearntRarity) -> str:
    """Return from how many documents it was learnt, in words."""
    whole = "" if learnt.among is None else f" of {learnt.among:,}"
    return f"{learnt.sample:,}{whole} documents"


def show_learnt(output: Output, learnt: Learnt, path: str | None = None) -> None:
    """Say what was learnt, or why it could not be; a file at the ``path`` keeps it, or else the index."""
    if isinstance(learnt, Exception):
        output.note(f"The common phrases of these texts could not be stored, so built-in ones are used: {learnt}")
    elif learnt is not None:
        output.note(f"Learnt from {sample(learnt)} which phrases are common: they count less in comparisons.")
        output.detail(f"The rarity table {learnt.table} is in {path or 'the mapping'}.")
