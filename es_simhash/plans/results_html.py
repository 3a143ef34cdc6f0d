"""Distinct hits, checked documents and explanations as a notebook shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted
from es_simhash._core.notebook import MOST_ROWS, in_notebook, listed
from es_simhash.scheme.matches_html import cells_of

if TYPE_CHECKING:
    from es_simhash.plans.check import Checked
    from es_simhash.plans.distinct.pages import DistinctHit, DistinctPage
    from es_simhash.plans.explain.explanation import Explanation


def page_html(page: DistinctPage) -> str:
    """Return the markup of the first hits of a page, and of how many others each stands for."""
    heading = f"{counted(len(page), 'distinct hit')} of {page.read:,} read"
    columns = ["index", "id", "score", "similar", "source"]
    return in_notebook(heading, columns, map(_hit, page[:MOST_ROWS]), len(page), *_notes_of_page(page))


def _hit(shown: DistinctHit) -> list[str]:
    hit, score = shown.hit, shown.hit.get("_score")
    source = json.dumps(hit["_source"], ensure_ascii=False) if "_source" in hit else ""
    similar = f"+{len(shown.similar)}: {listed([match.id for match in shown.similar])}" if shown.similar else ""
    return [hit["_index"], hit["_id"], "" if score is None else f"{score:.3f}", similar, source]


def _notes_of_page(page: DistinctPage) -> Iterator[str]:
    if page.limit is not None:
        yield f"No more can be read: {page.limit}."
    elif not page.at_end:
        yield "There are more hits, and a hit may stand for more documents."
    if page.apart:
        yield f"Not compared: {', '.join(f'{count:,} ({reason})' for reason, count in page.apart.items())}."


def checked_html(checked: Checked) -> str:
    """Return the markup of a document's near-duplicates: those in the index, and those before it in the list."""
    name = f"Document {checked.position:,}" if checked.id is None else f"Document {checked.position:,} ({checked.id})"
    groups = {"index": checked.in_index[:MOST_ROWS], "list": checked.earlier[:MOST_ROWS]}
    matches = [match for some in groups.values() for match in some]
    places = [place for place, some in groups.items() for _ in some]
    cells = {"in the": places, **cells_of(matches)}
    count = len(checked.in_index) + len(checked.earlier)
    verdict = f"has {counted(count, 'near-duplicate')}" if count else checked.status.replace("new", "is new")
    verdict = verdict.replace("no text", "has no text to compare")
    missing = checked.missing
    notes = [f"It has no value of the scope in: {', '.join(missing)}."] if missing else []
    return in_notebook(f"{name} {verdict}", list(cells), zip(*cells.values(), strict=True), count, *notes)


def explanation_html(explanation: Explanation) -> str:
    """Return the markup of a verdict: how near the two documents are, and what differs in their texts."""
    first, second = explanation.pair
    rows = [[f"scope: {each.field}", ", ".join(each.a), ", ".join(each.b)] for each in explanation.scope]
    rows += [["text", part.a, part.b] for part in explanation.parts if part.kind != "equal"]
    verdict, measures = explanation.verdict, ", ".join(_measures_of(explanation))
    return in_notebook(verdict.sentence, ["", first.name, second.name], rows, len(rows), measures, *verdict.notes)


def _measures_of(explanation: Explanation) -> Iterator[str]:
    similarity, bits = explanation.evidence.similarity, explanation.evidence.bits
    yield f"Similarity of the features of the scheme {similarity.exact:.3f}"
    if similarity.verified is not None:
        yield f"as the scheme compares texts {similarity.verified:.3f}"
    if bits is not None:
        yield f"distance {bits.distance} of {bits.size} bits"
