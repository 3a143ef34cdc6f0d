"""Pictures of docs/benchmarks.md, drawn from its tables.

``python -m benchmarks pictures`` draws them; so does every run that changes the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.log_plot import Axis, Curve, LogPlot
from benchmarks.svg import THEMES, path, shown
from benchmarks.tables import Table, Tables, number, tables_of

_PREFIX = "benchmarks-"
_SHOWN = re.compile(rf"\n<picture>\n.*{_PREFIX}.*\n.*\n</picture>\n")
_RATE = "documents a second"


@dataclass(frozen=True)
class Growth:
    """Columns that grow with the number of documents, and the section and the title of their table."""

    name: str
    below: tuple[str, str]
    title: str
    unit: str
    columns: Sequence[str]

    def points(self, table: Table) -> dict[str, list[tuple[float, float]]]:
        """Collect the points of each curve: one per way, or per column if rows have no names."""
        found: dict[str, list[tuple[float, float]]] = {}
        for row in table.rows:
            cells = dict(zip(table.columns, row, strict=True))
            for column in self.columns:
                point = number(cells["documents"]), number(cells[column])
                found.setdefault(cells.get("", column), []).append(point)
        return found

    def plot(self, table: Table) -> LogPlot:
        """Draw the curves of the table."""
        points = self.points(table)
        every = [point for curve in points.values() for point in curve]
        return LogPlot(
            self.title,
            Axis.around("documents", (documents for documents, _ in every)),
            Axis.around(self.unit, (value for _, value in every)),
            [Curve(label, own, discs=own) for label, own in points.items()],
        )


GROWTHS = (
    Growth(
        "growth-texts",
        ("Growth", "Texts"),
        "Time of a search by the number of documents",
        "find p50, ms",
        ["find p50, ms"],
    ),
    Growth(
        "backfill",
        ("Backfill", "Backfills by size, Elasticsearch"),
        "Speed of a backfill by the number of documents",
        _RATE,
        [_RATE],
    ),
    Growth(
        "grouping",
        ("Grouping", "Grouping by size"),
        "Time of grouping by the number of documents",
        "seconds",
        ["reading, s", "all else, s"],
    ),
    Growth(
        "scale-groups",
        ("Grouping at scale", "Grouping of generated fingerprints"),
        "Time of grouping generated fingerprints by their number",
        "seconds",
        ["writing fingerprints, s", "grouping, s"],
    ),
)


@dataclass(frozen=True)
class Picture:
    """A picture, with the section and the title of the table above it."""

    name: str
    below: tuple[str, str]
    drawn: LogPlot

    @property
    def markdown(self) -> str:
        """The lines of Markdown that show it."""
        return shown(_PREFIX + self.name, f"{self.drawn.title}, both on logarithmic scales")

    def files(self) -> dict[str, str]:
        """Draw its files; return them by their paths below the page."""
        return {path(_PREFIX + self.name, theme): self.drawn.svg(theme) for theme in THEMES}


def pictures(tables: Tables) -> list[Picture]:
    """Draw the tables that were measured at several sizes."""
    return [
        Picture(growth.name, growth.below, growth.plot(tables[growth.below]))
        for growth in GROWTHS
        if growth.below in tables
    ]


def illustrated(page: str, drawn: Sequence[Picture]) -> str:
    """Place each picture below its table, and drop the old ones."""
    markdown = {picture.below: picture.markdown for picture in drawn}
    lines = _SHOWN.sub("", page).splitlines()
    made: list[str] = []
    section = title = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        made.append(line)
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("### "):
            title = line.removeprefix("### ")
        elif line.startswith("|") and not following.startswith("|") and (section, title) in markdown:
            made += ["", markdown[section, title]]
    return "\n".join(made) + "\n"


def files(page: str) -> Mapping[str, str]:
    """Draw the pictures; return them and the page, by their paths."""
    drawn = pictures(tables_of(page))
    found = {"benchmarks.md": illustrated(page, drawn)}
    for picture in drawn:
        found |= picture.files()
    return found


def write(docs: Path) -> None:
    """Draw the pictures, and add them to the page."""
    for old in (docs / "pictures").glob(f"{_PREFIX}*.svg"):
        old.unlink()
    for name, text in files((docs / "benchmarks.md").read_text(encoding="utf-8")).items():
        (docs / name).write_text(text, encoding="utf-8")
