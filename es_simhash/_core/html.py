"""HTML from values: escaped elements, and tables.

Text becomes markup only through `element`, which escapes it; markup has the type `Html`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

# Characters that HTML cannot hold, even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_VOID = ("br", "hr", "meta")


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
