"""Matches as a notebook shows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted, with_error
from es_simhash._core.notebook import MOST_ROWS, in_notebook

if TYPE_CHECKING:
    from es_simhash.scheme.rerank import Match, Matches


def matches_html(matches: Matches) -> str:
    """Return the markup of the nearest matches."""
    heading = f"{counted(len(matches), 'near-duplicate')} among {counted(matches.candidates, 'candidate')}"
    shown = cells_of(matches[:MOST_ROWS])
    rows = zip(*shown.values(), strict=True)
    return in_notebook(heading, list(shown), rows, len(matches), *_notes(matches))


def cells_of(matches: Sequence[Match]) -> dict[str, list[str]]:
    """Return the columns of a table of matches, each with its name."""
    cells = {name: [write(match) for match in matches] for name, write in _COLUMNS.items()}
    return {name: values for name, values in cells.items() if any(values)}


def _similarity(match: Match) -> str:
    if match.containment is not None:
        return f"{match.containment:.3f} contained"
    return "" if match.similarity is None else with_error(match.similarity, match.standard_error, 3)


def _source(match: Match) -> str:
    """Write the parts of a document that were asked for; a single text without its name."""
    match list((match.source or {}).values()):
        case [str(text)]:
            return text
        case _:
            return "" if match.source is None else json.dumps(match.source, ensure_ascii=False)


# Columns in which no match has anything are left out.
_COLUMNS: dict[str, Callable[[Match], str]] = {
    "index": lambda match: match.index,
    "id": lambda match: match.id,
    "similarity": _similarity,
    "bits": lambda match: "" if match.distance is None else str(match.distance),
    "text": lambda match: "equal" if match.same_text else "",
    "source": _source,
}


def _notes(matches: Matches) -> Iterator[str]:
    if not matches.complete:
        yield "There may be more: not all candidates were compared."
    if matches.status == "empty":
        yield "The text is empty, so it has none."
    if matches.missing:
        yield f"The document has no value of the scope in: {', '.join(matches.missing)}."
    if matches.foreign:
        yield f"Not compared, with a fingerprint of another scheme: {counted(matches.foreign, 'candidate')}."
