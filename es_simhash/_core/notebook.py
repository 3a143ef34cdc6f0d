"""What a notebook shows of a result: a heading and a short table, in the notebook's own colours, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from es_simhash._core.html import Html, element
from es_simhash._core.humanize import counted

MOST_ROWS = 10
_MOST_CHARACTERS = 200
_CELL = "text-align: start; vertical-align: top"
# Notebooks set what is between dollars as formulas, but not in elements of these classes.
_PLAIN = "tex2jax_ignore mathjax_ignore"


def in_notebook(heading: str, columns: Sequence[str], rows: Iterable[Sequence[str]], count: int, *notes: str) -> str:
    """Return the markup of the first rows of ``count``, with a heading and notes; texts may hold anything."""
    content = [element("p", element("b", heading))]
    if shown := [_row("td", row) for row in islice(rows, MOST_ROWS)]:
        head = [element("thead", _row("th", columns))] if any(columns) else []
        content.append(element("table", head, element("tbody", shown)))
    if count > len(shown):
        content.append(_note(f"… and {count - len(shown):,} more"))
    return element("div", content, [_note(note) for note in notes], class_=_PLAIN)


def listed(items: Sequence[str], most: int = 5) -> str:
    """Write the first items of a list, and how many more there are."""
    more = len(items) - most
    return ", ".join(map(shortened, items[:most])) + (f" and {counted(more, 'other')}" if more > 0 else "")


def shortened(text: str) -> str:
    """Cut a long text, and name its length."""
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS]}… ({len(text):,} characters)"


def _row(kind: str, values: Iterable[str]) -> Html:
    # Notebooks align cells to the right. An element of its own keeps marks of writing direction in its cell.
    cells = (element(kind, element("bdi", shortened(value)), style=_CELL) for value in values)
    return element("tr", cells)


def _note(text: str) -> Html:
    return element("p", element("small", text), style="opacity: 0.7")
