"""Numbers rounded to significant digits, with units, and wrapped paragraphs."""

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


def size(value: float) -> str:
    """Format bytes, in powers of 1,000."""
    for unit, power in (("PB", 15), ("TB", 12), ("GB", 9), ("MB", 6), ("kB", 3)):
        if value >= 10**power:
            return f"{rounded(value / 10**power, 3)} {unit}"
    return f"{rounded(value, 3)} B"


def duration(seconds: float) -> str:
    """Format seconds, in a larger unit if they are many."""
    for unit, length in (("days", 172_800.0), ("hours", 7_200.0), ("min", 120.0)):
        if seconds >= length:
            return f"{rounded(seconds / {'days': 86_400, 'hours': 3_600, 'min': 60}[unit])} {unit}"
    return f"{rounded(seconds)} s"


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
