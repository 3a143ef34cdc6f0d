"""What a command has learnt of how rare features are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.live.learning import Learnt
    from es_simhash.scheme.verdict.learnt import LearntRarity


def learnt_as_json(learnt: Learnt) -> dict[str, Any] | None:
    """Return when and from how many documents something was learnt, as JSON; None if nothing was."""
    if learnt is None or isinstance(learnt, Exception):
        return None
    return {"when": learnt.when, "sample": learnt.rarity.documents, "documents": learnt.among}


def sample(learnt: LearntRarity) -> str:
    """Return from how many documents it was learnt, in words."""
    whole = "" if learnt.among is None else f" of {learnt.among:,}"
    return f"{learnt.rarity.documents:,}{whole} documents"


def show_learnt(output: Output, learnt: Learnt) -> None:
    """Say what was learnt, or why it could not be."""
    if isinstance(learnt, Exception):
        output.note(f"How rare features are could not be kept, so each program learns it anew: {learnt}")
    elif learnt is not None:
        output.note(f"Learnt from {sample(learnt)} how rare features are; similarities go by it from now on.")
