"""The frame of a page: the style sheet, sections, and the rules for what a browser may load.

The elements in it are those of `es_simhash._core.html`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from es_simhash._core.html import Content, Html, element


def section(title: str, *content: Content) -> Html:
    """Make a section with a heading."""
    return element("section", element("h2", title), *content)


def page(title: str, *sections: Html, style: str = "") -> str:
    """Make a whole page; ``style`` has its own rules, after those that all pages share.

    The page forbids the browser to load or run anything, so even unescaped text could do no harm.
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
    """Return the rules that all pages share: colours as variables, light and dark, and the layout on phones."""
    return style_of("page")


def style_of(name: str) -> str:
    """Read the style sheet of that name beside this module."""
    return files(__package__).joinpath(f"{name}.css").read_text(encoding="utf-8")
