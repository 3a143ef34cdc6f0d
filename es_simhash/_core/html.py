"""HTML from values: escaped elements, tables, and what a notebook shows of a result.

Text becomes markup only through `element`, which escapes it; markup has the type `Html`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeAlias

from es_simhash._core.humanize import shortened
from es_simhash._core.rows import Shown, cell

# Characters that HTML cannot hold, even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_VOID = ("br", "hr", "input", "link", "meta")


class Html(str):
    """Markup that is safe to show unescaped."""

    __slots__ = ()


Content: TypeAlias = "str | Html | Iterable[str | Html]"


def escape(text: str) -> Html:
    """Escape text; characters that HTML cannot hold become U+FFFD."""
    return Html(html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)))


def element(name: str, /, *content: Content, **attributes: str | bool | None) -> Html:
    """Make an element with its content, escaped unless it is markup, and attributes: ``class_`` is ``class``.

    An attribute that is True has no value; None and False leave it out.
    """
    start = f"<{name}{''.join(_attributes(attributes))}>"
    return Html(start if name in _VOID else f"{start}{''.join(map(_markup, content))}</{name}>")


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Html]]) -> Html:
    """Make a table whose first column names its rows; it scrolls if it is wider than the page."""
    head = element("tr", [element("th", column, scope="col") for column in columns])
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in cells])
        for first, *cells in rows
    ]
    made = element("table", element("thead", head), element("tbody", body))
    return element("div", made, class_="scrolled", tabindex="0", role="region", aria_label="table")


def _markup(content: Content) -> str:
    if isinstance(content, Html):
        return content
    return escape(content) if isinstance(content, str) else "".join(map(_markup, content))


def _attributes(attributes: dict[str, str | bool | None]) -> Iterable[str]:
    for name, value in attributes.items():
        written = name.rstrip("_").replace("_", "-")
        if value is True:
            yield f" {written}"
        elif isinstance(value, str):
            yield f' {written}="{escape(value)}"'


# ---- notebooks: a heading and a short table, in the notebook's own colours, light or dark

MOST_ROWS = 10
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


def _row(kind: str, values: Iterable[str]) -> Html:
    # Notebooks align cells to the right. An element of its own keeps marks of writing direction in its cell.
    cells = (element(kind, element("bdi", shortened(value)), style=_CELL) for value in values)
    return element("tr", cells)


def _note(text: str) -> Html:
    return element("p", element("small", text), style="opacity: 0.7")
