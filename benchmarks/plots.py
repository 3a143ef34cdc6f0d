"""The pictures of docs/benchmarks.md, drawn from the numbers in its tables, so that each number stands in one place.

``python -m benchmarks pictures`` draws them anew; so does every run that changes the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bars import Bars
from benchmarks.log_plot import Axis, Curve, LogPlot
from benchmarks.page import Tables, tables_of
from benchmarks.svg import THEMES, path, shown
from benchmarks.tables import Table

_PREFIX = "benchmarks-"
_SHOWN = re.compile(rf"\n<picture>\n.*{_PREFIX}.*\n.*\n</picture>\n")
_RATE, _PEER = "documents a second", "× the best peer"


@dataclass(frozen=True)
class Growth:
    """What grows with the number of documents: columns of the tables of a section whose titles match."""

    name: str
    section: str
    tables: str
    title: str
    unit: str
    columns: Sequence[str]

    def points(self, tables: Sequence[Table]) -> dict[str, list[tuple[float, float]]]:
        """The points of each curve, which is that of a way or else of a column.

        A row tells of how many documents it is, or else the title of its table does.
        """
        found: dict[str, list[tuple[float, float]]] = {}
        for table in tables:
            for row in table.rows:
                cells = dict(zip(table.columns, row, strict=True))
                documents = number(cells.get("documents", table.title.split()[0]))
                for column in self.columns:
                    found.setdefault(cells.get("", column), []).append((documents, number(cells[column])))
        return found

    def plot(self, tables: Sequence[Table]) -> LogPlot:
        """The curves of these tables."""
        points = self.points(tables)
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
        "Growth",
        "Texts",
        "Time of a search by the number of documents",
        "find p50, ms",
        ["find p50, ms"],
    ),
    Growth(
        "growth-fingerprints",
        "Growth",
        "[0-9,]+ fingerprints",
        "Time of a search by the number of fingerprints",
        "p50, ms",
        ["p50, ms"],
    ),
    Growth(
        "backfill",
        "Backfill",
        "Backfills of more and more documents, Elasticsearch",
        "Speed of a backfill by the number of documents",
        _RATE,
        [_RATE],
    ),
    Growth(
        "grouping",
        "Grouping",
        "Grouping more and more documents",
        "Time of grouping by the number of documents",
        "seconds",
        ["reading, s", "all else, s"],
    ),
)


@dataclass(frozen=True)
class Picture:
    """A picture, and the section and the table that it stands below."""

    name: str
    below: tuple[str, str]
    drawn: LogPlot | Bars

    @property
    def markdown(self) -> str:
        """How the page shows it."""
        scales = ", both on logarithmic scales" if isinstance(self.drawn, LogPlot) else ""
        return shown(_PREFIX + self.name, self.drawn.title + scales)

    def files(self) -> dict[str, str]:
        """Its files by their paths below the page."""
        return {path(_PREFIX + self.name, theme): self.drawn.svg(theme) for theme in THEMES}


def number(cell: str) -> float:
    """The number in a cell."""
    return float(cell.replace(",", ""))


def pictures(tables: Tables) -> list[Picture]:
    """What can be drawn of these tables: curves of those measured at several sizes, bars of those with peers."""
    return [*_curves(tables), *_bars(tables)]


def _curves(tables: Tables) -> Iterator[Picture]:
    for growth in GROWTHS:
        own = [each for each in tables if each[0] == growth.section and re.fullmatch(growth.tables, each[1])]
        if own:
            yield Picture(growth.name, own[-1], growth.plot([tables[each] for each in own]))


def _bars(tables: Tables) -> Iterator[Picture]:
    for (section, title), table in tables.items():
        if section == "Fingerprints" and _PEER in table.columns:
            rate = list(table.columns).index(_RATE)
            numbers = {row[0]: number(row[rate]) for row in table.rows}
            name = re.sub(r"\W+", "-", title).lower()
            yield Picture(name, (section, title), Bars(f"{title}: {_RATE}", _RATE, numbers))


def illustrated(page: str, drawn: Sequence[Picture]) -> str:
    """The page with each picture below its table, and without those that it had."""
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
    """The page with its pictures, and these, by their paths."""
    drawn = pictures(tables_of(page))
    found = {"benchmarks.md": illustrated(page, drawn)}
    for picture in drawn:
        found |= picture.files()
    return found


def write(docs: Path) -> None:
    """Draw the pictures, and show them on the page."""
    for old in (docs / "pictures").glob(f"{_PREFIX}*.svg"):
        old.unlink()
    for name, text in files((docs / "benchmarks.md").read_text(encoding="utf-8")).items():
        (docs / name).write_text(text, encoding="utf-8")
