"""Tables of numbers, which every benchmark yields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


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
        lines.append(_line(["---", *("---:" for _ in self.columns[1:])]))
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


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
