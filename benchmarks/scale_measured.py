"""Measured numbers that docs/scale.md computes with, read from the tables of the benchmarks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any

from benchmarks.tables import Tables, number, tables_of


@dataclass(frozen=True)
class Cell:
    """The place of a number on the page.

    Without a row, ``column`` is a regular expression that finds it in the note above the table.
    """

    what: str
    section: str
    table: str
    row: str
    column: str

    @property
    def command(self) -> str:
        """The command that measures it."""
        return f"python -m benchmarks {self.section.lower().replace('-', '_')}"

    def read(self, tables: Tables) -> float:
        """Read the number."""
        if (self.section, self.table) not in tables:
            raise LookupError(
                f"The pages of benchmarks have no table {self.table!r} in {self.section!r}. Run {self.command}."
            )
        table = tables[self.section, self.table]
        if not self.row:
            found = re.search(self.column, table.note)
            return _number(found[1] if found else "", self)
        rows = [row for row in table.rows if row[0] == self.row]
        if not rows or self.column not in table.columns:
            raise LookupError(f"The table {self.table!r} has no {self.column!r} of {self.row!r}. Run {self.command}.")
        return _number(rows[0][list(table.columns).index(self.column)], self)


def _number(text: str, cell: Cell) -> float:
    try:
        return number(text)
    except ValueError:
        raise LookupError(f"{cell.what} is {text!r} in the benchmarks, not a number. Run {cell.command}.") from None


def _cell(what: str, section: str, table: str, row: str, column: str) -> Any:
    return field(metadata={"cell": Cell(what, section, table, row, column)})


_LAYOUTS = "Layouts", "Layouts"
_LATENCY = "Finding", "English on Elasticsearch: latency"
_FOUND = "Finding", "English: what is found, and at what price"
_MILLION = "Million", "On Elasticsearch"
_BACKFILL = "Backfill", "Backfills by size, Elasticsearch"
_GROUPING = "Grouping", "Grouping by size"
_TEXTS, _ESTIMATES = "es_simhash, MinHash, texts compared", "es_simhash, MinHash"
_FEW_BITS = "es_simhash, SimHash within 3 bits"
_CANDIDATES, _BYTES = "candidates a query", "bytes a document"


@dataclass(frozen=True)
class Measured:
    """Measured numbers, each with its place on the page."""

    plain_bytes: float = _cell("bytes of a document without our fields", *_LAYOUTS, "", r"takes ([\d,]+) bytes")
    default_bytes: float = _cell("bytes of the default fields", *_LAYOUTS, "default: text", _BYTES)
    key_bytes: float = _cell("bytes of the keys in the index", *_LAYOUTS, "default: text", "of these, keys")
    layout_documents: float = _cell("documents of these indices", *_LAYOUTS, "", r"^([\d,]+) documents")
    layout_candidates: float = _cell("candidates there, itself among them", *_LAYOUTS, "default: text", _CANDIDATES)
    found_documents: float = _cell("documents of the index that is searched", *_LATENCY, "", r"^([\d,]+) documents")
    find_texts_ms: float = _cell("find by MinHash, texts compared, ms", *_LATENCY, _TEXTS, "find p50, ms")
    find_estimates_ms: float = _cell("find by MinHash, estimates, ms", *_LATENCY, _ESTIMATES, "find p50, ms")
    find_few_bits_ms: float = _cell("find by SimHash within 3 bits, ms", *_LATENCY, _FEW_BITS, "find p50, ms")
    found_candidates: float = _cell("candidates there by MinHash, two of them right", *_FOUND, _TEXTS, _CANDIDATES)
    found_few_bits: float = _cell("… by SimHash within 3 bits", *_FOUND, _FEW_BITS, _CANDIDATES)
    minhash_ms: float = _cell("the bare request by MinHash among a million, ms", *_MILLION, "minhash", "p50, ms")
    term_ms: float = _cell("a term query among a million, ms", *_MILLION, "term", "p50, ms")
    backfill_rate: float = _cell("documents a second of a backfill", *_BACKFILL, "1,000,000", "documents a second")
    group_reading: float = _cell("seconds of reading a million for groups", *_GROUPING, "1,000,000", "reading, s")
    group_rest: float = _cell("seconds of all else", *_GROUPING, "1,000,000", "all else, s")

    @classmethod
    def read(cls, page: str) -> Measured:
        """Read the numbers from the pages of benchmarks."""
        tables = tables_of(page)
        return cls(**{name: cell.read(tables) for name, cell in cells().items()})


def cells() -> dict[str, Cell]:
    """Return the place of each number."""
    return {each.name: each.metadata["cell"] for each in fields(Measured)}
