"""The frame of a page, and what pages have in common: sections, bars, charts, and differences of texts.

A page is one file that loads nothing, and runs nothing but the script that it names by its hash, if any. A bar is an
element with a width, next to its number in a table, so readers of screens, and paper, have the numbers.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files

from es_simhash._core.html import Content, Html, element, table
from es_simhash._core.humanize import counted
from es_simhash.cli.reports.chart_bins import Chart
from es_simhash.plans.text_differences import Piece, marked_changes
from es_simhash.scheme.settings import Settings


def page(title: str, *sections: Html, script: str = "") -> str:
    """Make a whole page.

    The page forbids the browser to load or run anything but the ``script``, so even unescaped text could do no harm.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    if script:
        policy += f"; script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        Html(f"<style>{style()}</style>"),
    ]
    body = element("body", element("main", sections), Html(f"<script>{script}</script>" if script else ""))
    return f"<!doctype html>\n{element('html', element('head', head), body, lang='en')}\n"


@cache
def style() -> str:
    """Return the style sheet: colours as variables, light and dark, and the layout on phones."""
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def header(headline: str, sentences: str, name: str, made_at: datetime | None) -> Html:
    """Make the header of a page about the files or the index of that name."""
    at = f", {made_at:%Y-%m-%d %H:%M %Z}".rstrip() if made_at else ""
    said = element("p", sentences) if sentences else ""
    return element("header", element("h1", headline), said, element("p", element("bdi", name), at, class_="faint"))


def section(title: str, *content: Content) -> Html:
    """Make a section with a heading."""
    return element("section", element("h2", title), *content, id=anchor(title))


def anchor(title: str) -> str:
    """Return the name by which links lead to a section."""
    return title.lower().replace(" ", "-")


def contents(titles: Sequence[str]) -> Html:
    """Make the table of contents of a page."""
    links = [element("li", element("a", title, href=f"#{anchor(title)}")) for title in titles]
    return element("nav", element("ul", links), aria_label="contents", class_="contents")


def chart(drawn: Chart) -> Html:
    """Make a section with a chart: a table with a bar in each row."""
    most = max((bar.count for bar in drawn.bars), default=0) or 1
    name, count, *more = drawn.heads
    rows = [[each.name, f"{each.count:,}", bar(each.count / most), *each.cells] for each in drawn.bars]
    shown = element("div", table([name, count, "", *more], rows), class_="chart") if rows else ""
    return section(drawn.title, element("p", drawn.said), shown)


def bar(end: float, start: float = 0.0, mark: float | None = None) -> Html:
    """Draw a bar, or a range, on a scale from 0 to 1, with a line at the ``mark``."""
    filled = element("b", style=f"left: {100 * start:.1f}%; width: {100 * (end - start):.1f}%") if end > 0 else ""
    line = "" if mark is None else element("i", style=f"left: {100 * mark:.1f}%")
    return element("span", filled, line, class_="bar", aria_hidden="true")


def legend(first: str, second: str) -> Iterator[Html | str]:
    """Yield what the marks of differences mean."""
    yield from (element("del", first), " and ", element("ins", second), ".")


def differences(settings: Settings, first: str, second: str) -> Html:
    """Show how two texts differ."""
    if first == second:
        return element("p", "The same text.", class_="faint")
    if not (shown := marked_changes(settings, first, second)):
        return element("p", "The same text, except for differences that do not count.", class_="faint")
    return pieces(shown)


def pieces(shown: Sequence[Piece] | None) -> Html:
    """Show the pieces of a text; None if it cannot be read."""
    if shown is None:
        return element("p", "Its text is missing or cannot be read.", class_="faint")
    return element("p", [_piece(piece) for piece in shown], class_="text", dir="auto")


def _piece(piece: Piece) -> str | Html:
    if piece.kind in ("removed", "added"):
        return element("del" if piece.kind == "removed" else "ins", piece.text)
    if piece.kind == "both":
        return piece.text
    what = "the same" if piece.kind == "same" else "more"
    return element("small", f" … {counted(piece.left_out, 'character')} {what} … ", class_="faint")
