"""What a notebook shows of a result: a heading and a short table, in the notebook's own colours, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from es_simhash._core.html import Html, element
from es_simhash._core.humanize import counted
from es_simhash._core.rows import Shown, cell

MOST_ROWS = 10
_MOST_CHARACTERS = 200
_CELL = "text-align: start; vertical-align: top"
# Notebooks set what is between dollars as formulas, but not in elements of these classes.
_PLAIN = "tex2jax_ignore mathjax_ignore"


def in_notebook(shown: Shown) -> str:
    """Return the markup of a heading, the first rows and the notes; texts may hold anything.

    Columns without anything are left out.
    """
    rows = [list(map(cell, row)) for row in islice(shown.rows, MOST_ROWS)]
    columns = [each for each in zip(shown.columns, *rows, strict=True) if any(each[1:])]
    content = [element("p", element("b", shown.heading))]
    if columns:
        names, *cells = zip(*columns, strict=True)
        head = [element("thead", _row("th", names))] if any(names) else []
        content.append(element("table", head, element("tbody", [_row("td", row) for row in cells])))
    if shown.total > len(rows):
        content.append(_note(f"… and {shown.total - len(rows):,} more"))
    return element("div", content, map(_note, shown.notes), class_=_PLAIN)


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
