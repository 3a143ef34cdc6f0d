"""The page of benchmarks in Markdown: a heading, then sections by their titles, each replaced on its own."""

from __future__ import annotations

import re
from collections.abc import Sequence


def replace_section(page: str, heading: str, titles: Sequence[str], title: str, section: str) -> str:
    """The page with ``section`` under ``title``, its sections in the order of ``titles``; others there are dropped."""
    _, *rest = re.split(r"^## (.+)\n", page, flags=re.MULTILINE) if page else [""]
    sections = {**dict(zip(rest[::2], rest[1::2], strict=True)), title: section}
    parts = [f"## {each}\n\n{sections[each].strip()}\n" for each in titles if each in sections]
    return "\n".join([heading, *parts])
