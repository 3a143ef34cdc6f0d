"""Ratios measured again are compared with those of the same tables, rows and columns of the pages."""

from __future__ import annotations

import re
import sys

import pytest

from benchmarks import __main__ as command
from benchmarks import check
from benchmarks.check import Watched, compared
from benchmarks.machine_load import Watch
from benchmarks.tables import Table, tables_of
from tests.support.documentation import BENCHMARKS, DESIGN

COLUMNS = ["", "p50, ms", "× peer", "of 50 × peer"]


def watched(*rows: list[str], title: str = "Latency", is_more_better: bool = False) -> Watched:
    fresh = Table(title, COLUMNS, rows=[list(row) for row in rows])
    return Watched("Finding", lambda: [fresh], "ours.*", ".*× peer", 0.2, is_more_better)


def page(*rows: list[str]) -> str:
    table = Table("Latency", COLUMNS, "Some documents.", [list(row) for row in rows])
    return f"# Page\n\n## Other\n\n{table.markdown()}\n## Finding\n\nWords.\n\n{table.markdown()}\n"


PAGE = page(["ours, one", "4.00 (3.90–4.10)", "1.00 (0.95–1.05)", "2.00"], ["theirs", "4.00", "1.00", "1.00"])


def test_a_ratio_is_compared_with_that_of_its_row_and_column() -> None:
    [(table, worse)] = compared([watched(["ours, one", "9.00", "1.19 (1.00–9.00)", "2.50"])], tables_of(PAGE))
    assert table.title == "Finding: within 20%"
    assert table.rows == [
        ["Latency: ours, one: × peer", "1.00", "1.19", ""],
        ["Latency: ours, one: of 50 × peer", "2.00", "2.50", "worse"],
    ]
    assert worse == 1


def test_what_is_better_is_not_a_regression() -> None:
    [(table, worse)] = compared([watched(["ours, one", "1.00", "0.10", "0.10"])], tables_of(PAGE))
    assert worse == 0
    assert {row[3] for row in table.rows} == {""}


def test_where_more_is_better_less_is_a_regression() -> None:
    more = watched(["ours, one", "9.00", "0.81", "1.50"], is_more_better=True)
    [(table, worse)] = compared([more], tables_of(PAGE))
    assert [row[3] for row in table.rows] == ["", "worse"]
    assert worse == 1


def test_other_rows_are_not_compared_and_empty_cells_have_no_ratio() -> None:
    [(table, worse)] = compared(
        [watched(["theirs", "9.00", "9.00", "9.00"], ["ours", "1.00", "", ""])], tables_of(PAGE)
    )
    assert (table.rows, worse) == ([], 0)


@pytest.mark.parametrize(("row", "title"), [("ours, two", "Latency"), ("ours, one", "Latency among 10,000")])
def test_a_ratio_that_the_page_lacks_is_shown_and_no_regression(row: str, title: str) -> None:
    [(table, worse)] = compared([watched([row, "9.00", "9.00", ""], title=title)], tables_of(PAGE))
    assert table.rows == [[f"{title}: {row}: × peer", "", "9.00", "publish the section first"]]
    assert worse == 0


def test_a_column_of_tables_side_by_side_is_that_of_its_own_table() -> None:
    columns = ["", "here: p50, ms", "× peer", "there: p50, ms", "× peer"]
    finding = Table("Latency", columns, rows=[["ours", "1.00", "1.00", "9.00", "2.00"]])
    fresh = Table("Latency", columns, rows=[["ours", "1.00", "1.10", "9.00", "2.50"]])
    pages = {("Finding", "Latency"): finding}
    [(table, worse)] = compared([Watched("Finding", lambda: [fresh], "ours", ".*× peer", 0.2)], pages)
    assert [(row[0], row[3]) for row in table.rows] == [
        ("Latency: ours: here: × peer", ""),
        ("Latency: ours: there: × peer", "worse"),
    ]
    assert worse == 1


def test_every_section_that_is_watched_has_ratios_on_the_pages() -> None:
    tables = tables_of(BENCHMARKS + DESIGN)
    lacking = [
        each.section
        for each in check.WATCHED
        if not any(list(each.cells(table)) for (section, _), table in tables.items() if section == each.section)
    ]
    assert not lacking
    assert {each.section for each in check.WATCHED} <= {command._title(name) for name in command.SECTIONS}


@pytest.mark.parametrize(("ratio", "status"), [("1.10", 0), ("1.30", 1)])
def test_a_regression_ends_the_command_with_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ratio: str, status: int
) -> None:
    quiet = Watch(0.0, 0.5)
    monkeypatch.setattr(quiet, "part_ended", lambda: None)
    monkeypatch.setattr(Watch, "begun", lambda: quiet)
    monkeypatch.setattr(check, "WATCHED", [watched(["ours, one", "9.00", ratio, "1.00"])])
    monkeypatch.setattr(command, "tables_of", lambda text: tables_of(PAGE))
    monkeypatch.setattr(sys, "argv", ["benchmarks", "check"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == status
    assert re.search(rf"{status} worse than on the pages; load 0\.5", capsys.readouterr().out)
