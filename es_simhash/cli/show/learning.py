"""What a command has learnt of how rare features are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.live.learning import Learnt
    from es_simhash.scheme.verdict.learnt import LearntRarity


def learnt_as_json(learnt: Learnt) -> dict[str, Any] | None:
    """Return what was learnt, as JSON; None if nothing was."""
    return None if learnt is None or isinstance(learnt, Exception) else table_json(learnt)


def table_json(learnt: LearntRarity) -> dict[str, Any]:
    """Return which table was learnt, when, and from how many documents, as JSON."""
    previous = learnt.previous.rarity.id if learnt.previous else None
    counts = {"sample": learnt.rarity.documents, "documents": learnt.among}
    return {"table": learnt.rarity.id, "when": learnt.when, **counts, "previous": previous}


def sample(learnt: LearntRarity) -> str:
    """Return from how many documents it was learnt, in words."""
    whole = "" if learnt.among is None else f" of {learnt.among:,}"
    return f"{learnt.rarity.documents:,}{whole} documents"


def show_learnt(output: Output, learnt: Learnt, path: str | None = None) -> None:
    """Say what was learnt, or why it could not be; a file at the ``path`` keeps it, or else the index."""
    if isinstance(learnt, Exception):
        output.note(f"How rare features are could not be kept, so the built-in table stays: {learnt}")
    elif learnt is not None:
        table = f"the table {learnt.rarity.id}"
        kept = f"{path} keeps {table}" if path else f"similarities go by {table} from now on"
        output.note(f"Learnt from {sample(learnt)} how rare features are; {kept}.")
