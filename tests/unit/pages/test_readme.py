"""The README, a tutorial and the page about pipelines quote the numbers of the benchmark pages."""

from __future__ import annotations

import re

from benchmarks.tables import number, tables_of
from tests import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = " ".join(README.split())
PAGES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("benchmarks.md", "quality.md")]
FIND, DEFAULT = "Find, .*", "find, second default"
TABLES = {title: table for page in PAGES for (_, title), table in tables_of(page).items()}


def numbers(title: str, row: str, column: str) -> list[float]:
    """Return all numbers in tables, rows and columns with such names."""
    tables = [table for name, table in TABLES.items() if re.fullmatch(title, name)]
    found = [
        number(cell)
        for table in tables
        for cells in table.rows
        if re.fullmatch(row, cells[0])
        # The first of the columns with one name.
        for name, cell in dict(reversed([*zip(table.columns, cells, strict=True)])).items()
        if cell and re.fullmatch(column, name)
    ]
    assert found, (title, row, column)
    return found


def line(beginning: str) -> str:
    """Return the only line of the README with this beginning."""
    [found] = [each for each in README.splitlines() if each.startswith(beginning)]
    return found


def default_bytes() -> list[float]:
    """Return the bytes of the default's fields in a document, on each server."""
    return numbers(FIND, DEFAULT, "bytes")


def test_the_five_numbers_are_those_of_the_benchmarks() -> None:
    unseen = [cells[0] for cells in TABLES["The sets, and the default on them"].rows if "never" in cells]
    for row, beginning in (("es_simhash, near", "F1 of"), ("MinHash at 0.8, character 5-grams", "set it:")):
        *some, last = (f"{numbers('F1 of pairs', row, name)[0]:.2f}" for name in unseen)
        assert f"{beginning} {', '.join(some)} and {last}" in line("| quality")
    least = numbers("Layouts", r"strict \(SimHash alone\)", "bytes a document")
    assert f"| {min(default_bytes()):.0f} bytes per document by default, {min(least):.0f} with" in line("| size")
    [rate] = numbers("Backfills by size, .*", "1,000,000", "documents a second")
    assert f"| {rate // 100 * 100:,.0f} documents of 1.3 kB per second" in line("| `backfill`")
    latencies = numbers(FIND, DEFAULT, "p50")
    assert f"| {max(latencies):.1f} ms among 100,000 film reviews" in line("| `find`")
    grouping = [
        numbers("Grouping by size", "1,000,000", column)[0] for column in ("reading, s", "all else, s", "peak, MB")
    ]
    assert f"in {sum(grouping[:2]):.0f} seconds, with {grouping[2]:.0f} MB" in line("| `group`")


def test_the_min_hash_filter_takes_the_measured_bytes() -> None:
    tokens = numbers("(English|Chinese): what is found, and at what price", "min_hash.*", "bytes a document")
    assert f"{min(tokens) // 100 * 100:,.0f} to {max(tokens) // 100 * 100:,.0f} bytes" in line("| `min_hash`")


def test_find_takes_the_measured_multiple_of_more_like_this() -> None:
    ours, theirs = numbers(FIND, DEFAULT, "p50"), numbers(FIND, "more_like_this, 25 .*", "p50")
    ratios = [own / other for own, other in zip(ours, theirs, strict=True)]
    assert f"takes {min(ratios):.1f} to {max(ratios):.1f} times as long as `more_like_this` of 25 terms" in PROSE


def test_few_rewordings_are_found() -> None:
    [recall] = numbers("The sets, and the default on them", "bible_chapters", "recall")
    assert f"{recall:.0%} of Bible chapters match" in PROSE
