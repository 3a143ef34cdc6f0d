"""Numbers rounded to significant digits, and wrapped paragraphs."""

from __future__ import annotations

import re
from math import floor, log10
from textwrap import fill

_WIDTH = 120


def rounded(value: float, digits: int = 2) -> str:
    """Round to ``digits`` significant digits."""
    value = float(f"{value:.{digits}g}")
    places = digits - 1 - floor(log10(abs(value))) if value else 0
    return f"{value:,.{max(places, 0)}f}"


def prose(text: str) -> str:
    """Wrap paragraphs and lists of Markdown; leave HTML alone."""
    blocks = (re.split(r"\n(?=- )", block) for block in text.strip().split("\n\n"))
    return "\n\n".join("\n".join(map(_filled, block)) for block in blocks) + "\n"


def _filled(paragraph: str) -> str:
    if paragraph.startswith("<"):
        return paragraph
    indent = "  " if paragraph.startswith("- ") else ""
    text = " ".join(paragraph.split())
    return fill(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
