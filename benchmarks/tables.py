"""What a benchmark yields: tables of numbers with a few words on how they were got."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Table:
    """A titled table; ``rows`` hold what is shown, as text."""

    title: str
    columns: Sequence[str]
    note: str = ""
    rows: list[list[str]] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        """Add a row."""
        self.rows.append([str(cell) for cell in cells])

    def markdown(self) -> str:
        """The table in Markdown, its numbers on the right."""
        lines = [f"### {self.title}", ""]
        if self.note:
            lines += [self.note, ""]
        lines.append(_line(self.columns))
        lines.append(_line(["---", *("---:" for _ in self.columns[1:])]))
        return "\n".join([*lines, *map(_line, self.rows), ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
