"""The most important ratios, measured again on fewer documents and compared with those of the pages.

``python -m benchmarks check`` takes about ten minutes, prints what it found, and ends with 1 if a ratio is worse than
its tolerance allows. It is for maintainers, on the machine that the pages were measured on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import backfill, bulk, dedup, embedded, finding, fingerprints, million
from benchmarks.tables import Table, Tables, number


@dataclass(frozen=True)
class Watched:
    """Ratios of one section, by regular expressions for the rows and the columns of its tables.

    A ratio that is worse by more than the share ``tolerance`` is a regression.
    """

    section: str
    measure: Callable[[], Iterable[Table]]
    rows: str
    columns: str
    tolerance: float
    is_more_better: bool = False

    def cells(self, table: Table) -> Iterator[tuple[str, str, float]]:
        """Yield the row, the column and the number of each ratio in a table."""
        columns = _labelled(table.columns[1:])
        for name, *cells in table.rows:
            if re.fullmatch(self.rows, name):
                for column, cell in zip(columns, cells, strict=True):
                    if cell and re.fullmatch(self.columns, column):
                        yield name, column, number(cell)

    def is_worse(self, was: float, now: float) -> bool:
        """Return whether a ratio has become worse than the tolerance allows."""
        return now < was * (1 - self.tolerance) if self.is_more_better else now > was * (1 + self.tolerance)


def _labelled(columns: Sequence[str]) -> list[str]:
    """Give all columns of tables side by side the label that only the first of each has."""
    label, labelled = "", []
    for column in columns:
        own, mark, _ = column.partition(": ")
        label = own if mark else label
        labelled.append(f"{label}: {column}" if label and not mark else column)
    return labelled


def _fingerprints() -> list[Table]:
    return fingerprints.run(20_000, 8_000)


WATCHED = (
    Watched("Fingerprints", _fingerprints, ".*, compiled", ".*× the best peer", 0.2, True),
    Watched("Dedup", dedup.briefly, "es_simhash, chars, compiled", "× rensa.*", 0.2),
    Watched("Embedded", lambda: embedded.run(0.3), "(?!tantivy).*", "× tantivy", 0.15, True),
    Watched("Million", lambda: million.in_process(0.2), "minhash|simhash", "× term", 0.3),
    Watched("Finding", finding.briefly, "es_simhash.*", "(of 50 )?× more_like_this", 0.15),
    Watched("Bulk", lambda: bulk.run(0.3), ".*: with fingerprints", ".*× plain", 0.1, True),
    Watched("Backfill", backfill.briefly, "backfill.*", "(wall|server CPU) × constant values", 0.2),
)


def compared(watched: Iterable[Watched], pages: Tables) -> Iterator[tuple[Table, int]]:
    """Measure section by section; yield a table of the ratios of each, and how many of them are worse."""
    for each in watched:
        table, worse = Table(f"{each.section}: within {each.tolerance:.0%}", ["", "on the page", "now", ""]), 0
        for fresh in each.measure():
            was = _by_place(each, pages.get((each.section, fresh.title)))
            for row, column, now in each.cells(fresh):
                before = was.get((row, column))
                is_worse = before is not None and each.is_worse(before, now)
                worse += is_worse
                verdict = "worse" if is_worse else "" if before is not None else "publish the section first"
                shown = "" if before is None else f"{before:.2f}"
                table.add(f"{fresh.title}: {row}: {column}", shown, f"{now:.2f}", verdict)
        yield table, worse


def _by_place(watched: Watched, table: Table | None) -> Mapping[tuple[str, str], float]:
    return {} if table is None else {(row, column): ratio for row, column, ratio in watched.cells(table)}
