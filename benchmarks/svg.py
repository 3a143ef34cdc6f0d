"""Parts of SVG pictures for light and dark pages: lines, text and colours."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

THEMES = {
    "light": {"page": "#ffffff", "text": "#1a1c21", "faint": "#646a77", "line": "#e3e8f2"},
    "dark": {"page": "#141519", "text": "#dfe5ef", "faint": "#98a2b3", "line": "#343741"},
}
# Distinct for colour-blind readers on both backgrounds (Okabe and Ito, "Color universal design", 2008).
HUES = {
    "light": ("#D55E00", "#E69F00", "#CC79A7", "#0072B2", "#009E73"),
    "dark": ("#F08344", "#E69F00", "#DD9ABF", "#56B4E9", "#2FC79C"),
}


def document(title: str, width: int, height: int, parts: Iterable[str], theme: str) -> str:
    """Assemble a picture from its parts."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="13" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="{THEMES[theme]["page"]}"/>',
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def line(start: tuple[float, float], end: tuple[float, float], colour: str, more: str = "") -> str:
    """Draw a straight line."""
    (x1, y1), (x2, y2) = start, end
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{more}/>'


def text(words: str, place: tuple[float, float], colour: str, anchor: str = "start") -> str:
    """Write words that start, end or are centred at a place."""
    x, y = place
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(words)}</text>'


def path(name: str, theme: str) -> str:
    """Return the path of a picture, relative to the pages."""
    return f"pictures/{name}-{theme}.svg"


def shown(name: str, alt: str) -> str:
    """Return the lines that show the picture for the reader's theme."""
    return f"""\
<picture>
<source media="(prefers-color-scheme: dark)" srcset="{path(name, "dark")}">
<img alt="{escape(alt)}" src="{path(name, "light")}">
</picture>"""
