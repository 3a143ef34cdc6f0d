"""Tables of numbers, which every benchmark yields, and the pages in Markdown that contain them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass
class Table:
    """A titled table; ``rows`` hold text."""

    title: str
    columns: Sequence[str]
    note: str = ""
    rows: list[list[str]] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        """Add a row."""
        self.rows.append([str(cell) for cell in cells])

    def markdown(self) -> str:
        """Format the table in Markdown, its numbers aligned on the right."""
        lines = [f"### {self.title}", ""]
        if self.note:
            lines += [self.note, ""]
        lines.append(_line(self.columns))
        lines.append(f"|---|{'---:|' * (len(self.columns) - 1)}")
        return "\n".join([*lines, *map(_line, self.rows), ""])


def side_by_side(title: str, labelled: Iterable[tuple[str, Table]], note: str = "") -> Table:
    """Join tables by their first column; each label precedes the first column of its table."""
    columns, rows = [""], dict[str, list[str]]()
    for label, table in labelled:
        _, first, *others = table.columns
        for name, *cells in table.rows:
            own = rows.setdefault(name, [name])
            own += [""] * (len(columns) - len(own)) + cells
        columns += [f"{label}: {first}" if label else first, *others]
    return Table(title, columns, note, [[*cells, *[""] * (len(columns) - len(cells))] for cells in rows.values()])


def number(cell: str) -> float:
    """Parse the number in a cell, without its interval; ValueError if there is none."""
    return float(cell.partition(" (")[0].replace(",", ""))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


# ---- pages

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
