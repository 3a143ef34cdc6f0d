"""What every page is made of: elements that escape what they hold, the style sheet, and the frame around it all.

Text becomes markup only through `element`, which escapes it; what is markup already has the type `Html`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TypeAlias

# What HTML cannot hold, even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_VOID = ("br", "hr", "meta")


class Html(str):
    """Markup that is safe to show as it is."""

    __slots__ = ()


Content: TypeAlias = "str | Html | Iterable[str | Html]"


def escape(text: str) -> Html:
    """Text as markup that shows it; what no page can hold is shown as U+FFFD."""
    return Html(html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)))


def element(name: str, /, *content: Content, **attributes: str | bool | None) -> Html:
    """An element with its content, escaped unless it is markup, and attributes: ``class_`` is ``class``.

    An attribute that is True has no value, one that is None or False is left out.
    """
    start = f"<{name}{''.join(_attributes(attributes))}>"
    return Html(start if name in _VOID else f"{start}{''.join(map(_markup, content))}</{name}>")


def section(title: str, *content: Content) -> Html:
    """A part of a page under a heading."""
    return element("section", element("h2", title), *content)


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Html]]) -> Html:
    """A table whose first column names its rows; where it is wider than the page, it is scrolled by itself."""
    head = element("tr", [element("th", column, scope="col") for column in columns])
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in cells])
        for first, *cells in rows
    ]
    made = element("table", element("thead", head), element("tbody", body))
    return element("div", made, class_="scrolled", tabindex="0", role="region", aria_label="table")


def page(title: str, *sections: Html, style: str = "") -> str:
    """A whole page; ``style`` holds rules of its own, after those that all pages share.

    It forbids the browser to load or run anything, so nothing in a text can do harm, be it forgotten to be escaped.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        Html(f"<style>{shared_style()}{style}</style>"),
    ]
    body = element("body", element("main", sections))
    return f"<!doctype html>\n{element('html', element('head', head), body, lang='en')}\n"


@cache
def shared_style() -> str:
    """The rules that all pages share: colours as variables, light and dark, and what a phone needs."""
    return style_of("page")


def style_of(name: str) -> str:
    """The style sheet of that name beside this module."""
    return files(__package__).joinpath(f"{name}.css").read_text(encoding="utf-8")


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
