"""The pictures of docs/benchmarks.md: they are drawn from its tables, and nothing on them is cut off or far away."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks import plots
from benchmarks.log_plot import Axis, Curve, Level, LogPlot
from benchmarks.svg import THEMES
from benchmarks.tables import Table, tables_of
from tests import ROOT
from tests.support.documentation import BENCHMARKS, with_another_backfill

DOCS = ROOT / "docs"
SVG = "{http://www.w3.org/2000/svg}"


def growing(label: str, *rows: tuple[str, str]) -> list[list[str]]:
    return [[label, *row] for row in rows]


TEXTS = Table(
    "Texts",
    ["", "documents", "find p50, ms"],
    rows=[*growing("ours", ("10,000", "2.50"), ("100,000", "4.00")), *growing("theirs", ("10,000", "3"))],
)


def words_of(picture: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]


# ---- the page


def test_the_pictures_of_the_page_are_those_of_its_tables() -> None:
    made = plots.files(BENCHMARKS)
    stale = [name for name, text in made.items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run: python -m benchmarks pictures"
    lying = {f"pictures/{path.name}" for path in (DOCS / "pictures").glob("benchmarks-*.svg")}
    assert lying == set(made) - {"benchmarks.md"}


def test_another_number_in_a_table_is_another_picture() -> None:
    was, now = plots.files(BENCHMARKS), plots.files(with_another_backfill())
    assert {name for name in was if was[name] != now[name]} == {
        "benchmarks.md",
        *(f"pictures/benchmarks-backfill-{theme}.svg" for theme in THEMES),
    }


def test_a_picture_stands_below_its_table_once_and_goes_with_it() -> None:
    page = f"# Page\n\n## Growth\n\nWords.\n\n{TEXTS.markdown()}\n### Other\n\n| a |\n| --- |\n| 1 |\n"
    shown = plots.files(page)["benchmarks.md"]
    assert shown.index("| theirs |") < shown.index("<picture>") < shown.index("### Other")
    assert shown.count("<picture>") == 1
    assert plots.files(shown)["benchmarks.md"] == shown
    assert tables_of(shown) == tables_of(page)
    assert plots.illustrated(shown, []) == page


def test_pictures_that_are_not_drawn_from_tables_stay() -> None:
    page = '## Growth\n\n<picture>\n<source srcset="other.svg">\n<img src="other.svg">\n</picture>\n'
    assert plots.illustrated(page, []) == page


# ---- what is drawn


def test_a_curve_has_the_points_of_its_rows_and_each_of_them_is_marked() -> None:
    (picture,) = plots.pictures({("Growth", "Texts"): TEXTS})
    ours, theirs = picture.drawn.curves
    assert (ours.label, ours.line, ours.discs) == ("ours", [(1e4, 2.5), (1e5, 4)], ours.line)
    assert (theirs.label, theirs.line) == ("theirs", [(1e4, 3)])


def test_columns_are_curves_where_rows_have_no_names() -> None:
    table = Table("Grouping by size", ["documents", "reading, s", "all else, s"])
    table.add("1,000", "2", "1")
    (picture,) = plots.pictures({("Grouping", table.title): table})
    assert [curve.label for curve in picture.drawn.curves] == ["reading, s", "all else, s"]


# ---- drawing


@pytest.mark.parametrize(
    ("values", "ends"),
    [([3, 40], (1, 100)), ([10, 100], (10, 100)), ([0.02, 0.05], (0.01, 0.1)), ([100], (100, 1000))],
)
def test_an_axis_goes_from_a_power_of_ten_to_another(values: list[float], ends: tuple[float, float]) -> None:
    axis = Axis.around("", values)
    assert axis.ends == pytest.approx(ends)
    assert all(0 <= axis.share(value) <= 1 for value in values)


def test_ticks_are_finer_where_powers_of_ten_are_few() -> None:
    assert [words for _, words in Axis("", (0.1, 10)).ticks()] == ["0.1", "0.2", "0.5", "1", "2", "5", "10"]
    assert [words for _, words in Axis("", (1, 1_000)).ticks()] == ["1", "10", "100", "1,000"]


@pytest.mark.parametrize("theme", THEMES)
def test_points_lie_where_their_numbers_are(theme: str) -> None:
    axes = Axis("documents", (1, 100)), Axis("ms", (1, 100))
    curve = Curve("a way", [(1, 1), (100, 100)], discs=[(1, 1), (10, 10), (100, 100)])
    picture = ElementTree.fromstring(LogPlot("Title", *axes, [curve], Level(10, "ten")).svg(theme))
    low, middle, high = [
        (float(each.get("cx", "")), float(each.get("cy", ""))) for each in picture.iter(f"{SVG}circle")
    ]
    assert middle == pytest.approx(((low[0] + high[0]) / 2, (low[1] + high[1]) / 2))
    level = next(each for each in picture.iter(f"{SVG}line") if each.get("stroke-dasharray"))
    assert level.get("y1") == level.get("y2") == f"{middle[1]:.1f}"


def test_labels_lie_apart_and_within_the_picture() -> None:
    axes = Axis("documents", (1, 100)), Axis("ms", (1, 100))
    labels = ["a way", "a way that has a very long name, as min_hash filters do"]
    picture = ElementTree.fromstring(
        LogPlot("", *axes, [Curve(each, [(1, 1), (100, 50)]) for each in labels]).svg("light")
    )
    first, second = (each for each in picture.iter(f"{SVG}text") if each.text in labels)
    assert float(second.get("y", "")) - float(first.get("y", "")) >= 13
    assert float(second.get("x", "")) + 6.5 * len(labels[1]) <= float(picture.get("width", ""))


def test_more_curves_than_hues_are_refused() -> None:
    axes = Axis("documents", (1, 100)), Axis("ms", (1, 100))
    with pytest.raises(ValueError, match="zip"):
        LogPlot("", *axes, [Curve(str(each), [(1, 1)]) for each in range(6)]).svg("light")
