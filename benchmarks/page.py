"""Pages in Markdown: a heading, then titled sections that are replaced one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from benchmarks.tables import Table

# By sections and titles.
Tables: TypeAlias = Mapping[tuple[str, str], Table]


def replace_section(page: str, heading: str, titles: Sequence[str], title: str, section: str) -> str:
    """Put ``section`` under ``title``; keep the sections in ``titles``, in their order."""
    _, *rest = re.split(r"^## (.+)\n", page, flags=re.MULTILINE) if page else [""]
    sections = {**dict(zip(rest[::2], rest[1::2], strict=True)), title: section}
    parts = [f"## {each}\n\n{sections[each].strip()}\n" for each in titles if each in sections]
    return "\n".join([heading, *parts])


def tables_of(page: str) -> dict[tuple[str, str], Table]:
    """Read the tables of a page, by their sections and titles."""
    found = {}
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        name, _, text = section.partition("\n")
        for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
            table = _table(part)
            found[name, table.title] = table
    return found


def _table(text: str) -> Table:
    title, _, rest = text.partition("\n")
    note, bar, below = rest.partition("|")
    lines = (bar + below).partition("\n\n")[0].splitlines()
    columns, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return Table(title, columns, note.strip(), rows)
