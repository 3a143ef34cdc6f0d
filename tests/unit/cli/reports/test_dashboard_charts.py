"""The charts are drawn by Vega from any answer, with the right numbers, and are readable in the dark."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.cli.reports.dashboards import Copied, Subject, panels
from tests.support.charts import charts, marks, seen, svg
from tests.support.contrast import contrast
from tools.dashboard_pictures import THEMES

SUBJECT = Subject(
    *("articles", "dedup", "published", "site", ("title", "body")), copied=Copied("site", "site"), has_lag=True
)
CHARTS = charts(SUBJECT)

EMPTY: dict[str, Any] = {
    "hits": {"hits": []},
    "aggregations": {
        "all": {"doc_count": 0, "values": {"buckets": []}},
        "duplicates": {
            "doc_count": 0,
            "times": {"buckets": []},
            "bins": {"buckets": []},
            "own": {"buckets": []},
            "groups": {"buckets": [], "sum_other_doc_count": 0, "doc_count_error_upper_bound": 0},
            "number": {"value": 0},
        },
    },
}


def groups(*copies: int, others: int = 0, error: int = 0, more: int = 0) -> dict[str, Any]:
    """Groups with these numbers of duplicates, and others that were not counted one by one."""
    buckets = [{"key": f"{number}", "doc_count": count} for number, count in enumerate(copies)]
    found = {"buckets": buckets, "sum_other_doc_count": others, "doc_count_error_upper_bound": error}
    return {"doc_count": sum(copies) + others, "groups": found, "number": {"value": len(copies) + more}}


def answered(**aggregations: Any) -> dict[str, Any]:
    found = {name: {**EMPTY["aggregations"][name], **each} for name, each in aggregations.items()}
    return {**EMPTY, "aggregations": {**EMPTY["aggregations"], **found}}


@pytest.mark.parametrize("part", sorted(CHARTS.keys() - {"totals"}))
def test_a_chart_without_anything_to_draw_says_what_to_do_and_shows_no_axes(part: str) -> None:
    made = svg(CHARTS[part], EMPTY)
    assert seen(made) == [
        "No groups in this time range.",
        "Choose a longer one, or drop filters.",
        "To find groups, run: es-simhash group articles --write",
    ]
    assert [each for each in re.findall("<line[^>]*>", made) if 'stroke-opacity="0"' not in each] == []
    assert "No groups" not in svg(CHARTS[part], ANSWER)


def test_what_an_empty_chart_says_can_be_pasted_into_a_shell() -> None:
    made = svg(charts(Subject("articles-*", "titles"))["sizes"], EMPTY)
    assert "No groups here." in seen(made)
    assert "To find groups, run: es-simhash group 'articles-*' --prefix titles --write" in map(unescape, seen(made))


@pytest.mark.parametrize("part", ["sizes", "similarity", "distance", "lag"])
def test_the_number_above_the_highest_column_is_in_the_picture(part: str) -> None:
    answer = answered(duplicates={**groups(*[1] * 40, 5), "bins": {"buckets": [{"key": "0.9", "doc_count": 40}]}})
    chart = CHARTS[part]
    for height in (90, 300, 800):
        [made] = re.findall(
            r'"middle" transform="translate\([\d.]+,([\d.-]+)\)"[^>]*>40<', svg(chart, answer, height=height)
        )
        assert float(made) >= 12


@pytest.mark.parametrize("width", [300, 600, 1200])
def test_the_number_after_the_longest_bar_is_in_the_picture(width: int) -> None:
    values = [{"key": "a", "doc_count": 12_345, "duplicates": {"doc_count": 12_345}}]
    made = svg(CHARTS["by-field"], answered(all={"values": {"buckets": values}}), width=width)
    [(right, said)] = re.findall(r'translate\(([\d.]+),[\d.]+\)"[^>]*>(100%[^<]+)<', made)
    [left] = re.findall(r'<g fill="none" stroke-miterlimit="10" transform="translate\(([\d.]+),', made)
    assert float(left) + float(right) + 5.5 * len(said) < width


def test_numbers_are_shown_as_people_write_them_and_as_about_right_where_they_are() -> None:
    made = svg(CHARTS["totals"], answered(all={"doc_count": 12_345}, duplicates=groups(1_470, *[1] * 999)))
    assert {"12,345", "1,000", "2,469", "20.0%"} <= set(seen(made))
    answer = answered(all={"doc_count": 100_000}, duplicates=groups(3, 2, others=40_000, more=19_998))
    assert {"100,000", "≈ 20,000"} <= set(seen(svg(CHARTS["totals"], answer)))
    bars = [bar("a", 12, title=["A"]), bar("b", 9, error=1, title=["B"])]
    assert {"13", "≈ 10"} <= set(seen(svg(CHARTS["largest"], answered(duplicates={"groups": {"buckets": bars}}))))


def columns(duplicates: dict[str, Any]) -> dict[str, str]:
    """The columns of the chart of sizes, from left to right."""
    made = svg(CHARTS["sizes"], answered(duplicates=duplicates))
    found = {each["documents in a group"]: each["groups"] for each in marks(made)}
    order = [each for each in seen(made) if each in found]
    return {key: found[key] for key in order}


def test_groups_are_counted_by_ranges_of_their_documents() -> None:
    copies = [12_000, 1_000, 999, 100, 99, 50, 49, 20, 19, 10, 9, 5, 4, 4, 3, 2, 1, 1, 1]
    expected = {"2": 3, "3": 1, "4": 1, "5": 2, "6–10": 2, "11–20": 2, "21–50": 2, "51–100": 2}
    last = {"101–1,000": 2, "over 1,000": 2}
    assert columns(groups(*copies)) == {key: str(count) for key, count in (expected | last).items()}


def test_empty_ranges_are_left_out_at_the_ends_only() -> None:
    assert columns(groups(7, 7, 3, 1)) == {"2": "1", "3": "0", "4": "1", "5": "0", "6–10": "2"}


def test_groups_that_are_not_counted_one_by_one_are_in_the_column_of_the_smallest() -> None:
    assert columns(groups(30, 7, 3, 2, others=900, more=400)) == {
        **{"2–3": "401", "4": "1", "5": "0", "6–10": "1", "11–20": "0", "21–50": "1"}
    }
    made = svg(CHARTS["sizes"], answered(duplicates=groups(30, 7, 3, 2, others=900, more=400)))
    assert "≈ 401" in seen(made)


def test_counts_that_may_be_too_low_are_said_to_be_about_right() -> None:
    made = svg(CHARTS["sizes"], answered(duplicates=groups(4, 4, others=8, more=8, error=2)))
    assert "≈ 2" not in seen(made)
    assert "≈ 10" in seen(made)
    made = svg(CHARTS["sizes"], answered(duplicates=groups(9, 4, others=8, more=8, error=2)))
    assert "≈ 1" in seen(made)


def bar(key: str, count: int, *, error: int = 0, **fields: list[str]) -> dict[str, Any]:
    """One of the largest groups."""
    hit = {"hits": {"hits": [{"_id": "1", **({"fields": fields} if fields else {})}]}}
    return {"key": key, "doc_count": count, "doc_count_error_upper_bound": error, "hit": hit}


def test_groups_with_the_same_title_are_two_bars() -> None:
    bars = [bar(name, 1234, title=["The\n same"]) for name in ("a", "b")]
    made = svg(CHARTS["largest"], answered(duplicates={"groups": {"buckets": bars}}))
    assert made.count(">1,235<") == 2
    assert made.count("The same") >= 2


def test_a_group_without_a_title_is_called_by_its_name() -> None:
    answer = answered(duplicates={"groups": {"buckets": [bar("WNpn0h1mfTaT", 3)]}})
    assert "WNpn0h1mfTaT" in svg(CHARTS["largest"], answer)
    assert "WNpn0h1mfTaT" in svg(charts(Subject("articles"))["largest"], answer)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_period_is_as_wide_as_it_is_long(count: int) -> None:
    week = 7 * 86_400_000
    times = [{"key": number * week, "key_as_string": f"week {number}", "doc_count": 5} for number in range(count)]
    made = svg(CHARTS["over-time"], answered(duplicates={"times": {"buckets": times}}))
    assert made.count("from: week") == count
    assert "NaN" not in "".join(seen(made))


def test_a_value_that_is_not_text_is_shown_as_the_engine_writes_it() -> None:
    values = [
        {"key": 1, "key_as_string": "true", "doc_count": 10, "duplicates": {"doc_count": 5}},
        {"key": 7, "doc_count": 1000, "duplicates": {"doc_count": 1}},
    ]
    made = svg(CHARTS["by-field"], answered(all={"values": {"buckets": values}}))
    for text in (">true<", ">7<", "50%  of 10", "0%  of 1,000"):
        assert text in made.replace("\xa0", " ")


def test_shares_are_drawn_from_nothing_to_all_even_if_there_is_none() -> None:
    values = [{"key": "a", "doc_count": 10, "duplicates": {"doc_count": 0}}]
    made = seen(svg(CHARTS["by-field"], answered(all={"values": {"buckets": values}})))
    assert [each for each in made if each.endswith("%")] == ["0%", "25%", "50%", "75%", "100%"]


def test_the_greatest_share_comes_first() -> None:
    values = [
        {"key": name, "doc_count": documents, "duplicates": {"doc_count": copies}}
        for name, documents, copies in [("much", 1000, 100), ("half", 10, 5), ("none", 7, 0)]
    ]
    shown = seen(svg(CHARTS["by-field"], answered(all={"values": {"buckets": values}})))
    assert [each for each in shown if each in ("much", "half", "none")] == ["half", "much", "none"]


def test_duplicates_are_counted_by_their_value_and_that_of_the_canonical_document() -> None:
    own = [
        {
            "key": "x",
            "doc_count": 9,
            "canonical": {"buckets": [{"key": "a", "doc_count": 5}, {"key": "b", "doc_count": 4}]},
        },
        {"key": "y", "doc_count": 3, "canonical": {"buckets": [{"key": "b", "doc_count": 3}]}},
    ]
    made = svg(CHARTS["copied"], answered(duplicates={"own": {"buckets": own}}))
    assert [tuple(each.values()) for each in marks(made)] == [("x", "a", "5"), ("x", "b", "4"), ("y", "b", "3")]
    assert [each for each in seen(made) if each in "ab"] == ["b", "a"]
    assert "site of the canonical document, 10 at most" in seen(made)


DECISIONS = charts(Subject("articles", "titles", decided=("articles",)))["decisions"]


def decided(**said: dict[str, int]) -> list[str]:
    """The texts of the panel of decisions, by what people have decided how often."""
    buckets = [
        {
            "key": verdict,
            "doc_count": sum(by.values()),
            "who": {"buckets": [{"key": who, "doc_count": count} for who, count in by.items()]},
        }
        for verdict, by in said.items()
    ]
    return seen(svg(DECISIONS, {"aggregations": {"verdicts": {"buckets": buckets}}}))


def test_decisions_are_counted_by_what_they_are_and_who_made_them() -> None:
    shown = decided(different={"Mia": 1200, "Ben": 3}, alone={"without a name": 7})
    assert {"same: 0", "different: 1,203", "canonical: 0", "alone: 7"} <= set(shown)
    assert [each for each in shown if each in ("Mia", "Ben", "without a name")] == ["Mia", "without a name", "Ben"]
    assert {"1,200", "3", "7"} <= set(shown)
    people = [f"person {number}" for number in range(7)]
    shown = decided(same={who: 9 - place for place, who in enumerate(people)})
    assert [each for each in shown if each in people] == people[:5]
    assert "same: 42" in shown


def test_a_panel_of_decisions_says_if_none_holds() -> None:
    assert decided() == ["No decision holds.", "To decide, run: es-simhash show articles --prefix titles"]


@pytest.mark.parametrize("count", [1, 2, 5, 10])
def test_the_name_of_each_canonical_value_begins_above_its_bars(count: int) -> None:
    """So that those of the last one are not cut off."""
    cells = [{"key": f"site-{number}.example", "doc_count": 5} for number in range(count)]
    own = [{"key": "x", "doc_count": 9, "canonical": {"buckets": cells}}]
    made = svg(CHARTS["copied"], answered(duplicates={"own": {"buckets": own}}))
    names = re.findall(r'transform="translate\(([\d.]+),[\d.-]+\) rotate\(-20', made)
    bars = re.findall(r'aria-roledescription="bar" d="M([\d.]+),', made)
    assert len(names) == count
    assert [abs(float(name) - float(bar)) < 1 for name, bar in zip(names, bars, strict=True)] == [True] * count


def test_no_more_than_ten_values_of_canonical_documents_are_shown() -> None:
    own = [
        {
            "key": f"{row}",
            "doc_count": 99,
            "canonical": {"buckets": [{"key": f"c{row}{n}", "doc_count": 9 - n} for n in range(9)]},
        }
        for row in range(5)
    ]
    made = svg(CHARTS["copied"], answered(duplicates={"own": {"buckets": own}}))
    assert len({each["of the canonical document"] for each in marks(made)}) == 10
    assert {each["duplicates"] for each in marks(made)} == {"9", "8"}


ANSWER = answered(
    all={
        "doc_count": 12,
        "values": {"buckets": [{"key": "a", "doc_count": 10, "duplicates": {"doc_count": 5}}]},
    },
    duplicates={
        "doc_count": 3,
        "times": {"buckets": [{"key": 0, "key_as_string": "1970", "doc_count": 3}]},
        "bins": {"buckets": [{"key": "0.9", "doc_count": 3}]},
        "own": {"buckets": [{"key": "x", "doc_count": 3, "canonical": {"buckets": [{"key": "a", "doc_count": 3}]}}]},
        "groups": {
            "buckets": [bar("g", 3, title=["A title"])],
            "sum_other_doc_count": 0,
            "doc_count_error_upper_bound": 0,
        },
    },
)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("part", CHARTS)
def test_texts_and_bars_have_the_contrast_that_wcag_asks_for(part: str, theme: str) -> None:
    """4.5 : 1 for texts (1.4.3), 3 : 1 for graphics (1.4.11); lines of axes carry no meaning."""
    made, ground = svg(CHARTS[part], ANSWER, theme), THEMES[theme]["panel"]
    texts = re.findall('<text[^>]*fill="([^"]*)"[^>]*>[^<]', made)
    bars = re.findall('aria-roledescription="bar"[^>]*fill="([^"]*)"', made)
    assert texts
    assert bars or part == "totals"
    assert [each for each in texts if contrast(each, ground) < 4.5] == []
    assert [each for each in bars if each != "transparent" and contrast(each, ground) < 3] == []


def test_no_panel_says_which_document_is_a_copy() -> None:
    """Only dates show that, and the canonical document may be any of a group."""
    shown = panels(SUBJECT)
    said = [each for panel in shown for each in (panel.title, *panel.parameters.get("markdown", []))]
    said += [each for chart in CHARTS.values() for each in seen(svg(chart, ANSWER))]
    assert "Duplicates by site and by site of the canonical document" in said
    assert [each for each in said if re.search("original|cop(y|ie)", each, re.IGNORECASE)] == []


def test_totals_are_plain_numbers_without_a_change() -> None:
    """Over all times there is nothing to compare with: the first half of an archive is nearly empty."""
    assert seen(svg(CHARTS["totals"], ANSWER)) == [
        *("12", "1", "3", "25.0%"),
        *("documents", "groups", "duplicates", "of all are duplicates"),
    ]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(lambda name: name != "if"))
def test_any_name_of_a_field_makes_expressions_that_vega_reads(name: str) -> None:
    """Names with quotes, backslashes or line separators end no text of an expression.

    Vega itself takes the text "if" in brackets for the name of a signal.
    """
    subject = Subject("articles", by_field=name, text_fields=(name,), copied=Copied(name, name))
    # What draws pictures here takes no control characters in texts, as those of titles.
    for part in ("by-field", "largest", *(["copied"] if name.isprintable() else [])):
        assert 'aria-roledescription="bar"' in svg(charts(subject)[part], ANSWER)
