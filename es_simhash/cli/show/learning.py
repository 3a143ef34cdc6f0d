"""What a command has learnt of how rare features are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.live.learning import Learnt


def documents_learnt_from(learnt: Learnt) -> int | None:
    """Return the size of the sample; None if nothing was learnt."""
    return None if learnt is None or isinstance(learnt, Exception) else learnt.rarity.documents


def show_learnt(output: Output, learnt: Learnt) -> None:
    """Say what was learnt, or why it could not be."""
    if isinstance(learnt, Exception):
        output.note(f"How rare features are could not be kept, so each program learns it anew: {learnt}")
    elif learnt is not None:
        output.note(
            f"Learnt from {learnt.rarity.documents:,} of {learnt.among or 0:,} documents how rare features are; "
            "similarities go by it from now on."
        )
