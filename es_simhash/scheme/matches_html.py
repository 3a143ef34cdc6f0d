"""Matches as a notebook shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted, with_error
from es_simhash._core.json_paths import Json
from es_simhash._core.notebook import in_notebook

if TYPE_CHECKING:
    from es_simhash.scheme.rerank import Match, Matches


def matches_html(matches: Matches) -> str:
    """Return the markup of the nearest matches."""
    heading = f"{counted(len(matches), 'near-duplicate')} among {counted(matches.candidates, 'candidate')}"
    columns = ["index", "id", "similarity", "bits", "text"]
    if has_source := any(match.source is not None for match in matches):
        columns.append("source")
    rows = (_row(match, has_source) for match in matches)
    return in_notebook(heading, columns, rows, len(matches), *_notes(matches))


def _row(match: Match, has_source: bool) -> list[str]:
    similarity = "" if match.similarity is None else with_error(match.similarity, match.standard_error, 3)
    if match.containment is not None:
        similarity = f"{match.containment:.3f} contained"
    distance = "" if match.distance is None else str(match.distance)
    row = [match.index, match.id, similarity, distance, "equal" if match.same_text else ""]
    return [*row, _shown(match.source or {})] if has_source else row


def _shown(source: Json) -> str:
    """Write the parts of a document that were asked for; a single text without its name."""
    match list(source.values()):
        case [str(text)]:
            return text
        case _:
            return json.dumps(source, ensure_ascii=False)


def _notes(matches: Matches) -> Iterator[str]:
    if not matches.complete:
        yield "There may be more: not all candidates were compared."
    if matches.status == "empty":
        yield "The text is empty, so it has none."
    if matches.missing:
        yield f"The document has no value of the scope in: {', '.join(matches.missing)}."
    if matches.foreign:
        yield f"Not compared, with a fingerprint of another scheme: {counted(matches.foreign, 'candidate')}."
