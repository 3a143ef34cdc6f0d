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
        output.note(f"How rare features are could not be kept, so the built-in table stays: {learnt}")
    elif learnt is not None:
        table = f"the table {learnt.table}"
        kept = f"{path} keeps {table}" if path else f"similarities go by {table} from now on"
        output.note(f"Learnt from {sample(learnt)} how rare features are; {kept}.")
