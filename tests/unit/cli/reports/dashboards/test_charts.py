"""The charts compile under the oldest and newest Vega-Lite at hand, with any answer, and are readable in the dark."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import vl_convert

from es_simhash.cli.reports.dashboards import charts
from es_simhash.cli.reports.dashboards.saved_objects import panels
from es_simhash.cli.reports.dashboards.subject import Subject
from tools.dashboard_pictures import THEMES, drawn

SUBJECT = Subject("articles", date_field="published", by_field="site", text_fields=("title", "body"))
CHARTS = {panel.part: panel.chart for panel in panels(SUBJECT) if panel.chart}
CHARTS["distance"] = charts.distances(SUBJECT)
VERSIONS = ("5.8", "6.4")

EMPTY: dict[str, Any] = {
    "hits": {"hits": []},
    "aggregations": {
        **{name: {"doc_count": 0} for name in ("all", "kept", "copies")},
        "values": {"buckets": []},
        "groups": {"doc_count": 0, "sizes": {"buckets": []}},
        "duplicates": {"doc_count": 0, "times": {"buckets": []}, "bins": {"buckets": []}},
    },
}


def answered(**aggregations: Any) -> dict[str, Any]:
    return {**EMPTY, "aggregations": {**EMPTY["aggregations"], **aggregations}}


def svg(chart: dict[str, Any], answer: dict[str, Any], theme: str = "light", version: str = VERSIONS[0]) -> str:
    made: str = vl_convert.vegalite_to_svg(drawn(chart, lambda _: answer, theme, 600, 300), vl_version=version)
    return made


def seen(made: str) -> list[str]:
    """The texts of a picture."""
    return re.findall("<text[^>]*>([^<]*)<", made)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("part", CHARTS)
def test_an_index_without_groups_gives_charts_without_marks(part: str, version: str) -> None:
    assert "NaN" not in "".join(seen(svg(CHARTS[part], EMPTY, version=version)))


@pytest.mark.parametrize("part", CHARTS)
def test_the_page_decides_what_is_searched(part: str) -> None:
    url = CHARTS[part]["data"]["url"]
    assert url["%context%"] is True
    assert url["%timefield%"] == "published"
    assert url["index"] == "articles"
    assert "query" not in url["body"]


@pytest.mark.parametrize("part", CHARTS)
def test_the_editable_text_is_the_chart(part: str) -> None:
    assert json.loads(charts.text_of(CHARTS[part])) == CHARTS[part]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("version", VERSIONS)
def test_no_text_is_black_on_black(theme: str, version: str) -> None:
    """Vega-Lite makes text black by default."""
    bins = {"bins": {"buckets": [{"key": "0.9", "doc_count": 12}]}}
    made = svg(CHARTS["similarity"], answered(duplicates=bins), theme, version)
    assert ">12<" in made
    assert 'fill="black"' not in made
    assert "#000" not in made


def test_numbers_are_shown_as_people_write_them() -> None:
    counts = {"all": 12_345, "kept": 1_000, "copies": 2_469}
    made = svg(CHARTS["totals"], answered(**{name: {"doc_count": count} for name, count in counts.items()}))
    for text in (">12,345<", ">1,000<", ">2,469<", ">20.0%<"):
        assert text in made


def test_empty_ranges_are_left_out_at_the_ends_only() -> None:
    counts = {"2–2": 0, "3–3": 7, "4–4": 0, "5–5": 9, "6–6": 0}
    buckets = [{"key": key, "doc_count": count} for key, count in counts.items()]
    made = svg(CHARTS["sizes"], answered(groups={"sizes": {"buckets": buckets}}))
    assert [key for key in counts if f">{key}<" in made] == ["3–3", "4–4", "5–5"]


def test_groups_with_the_same_title_are_two_bars() -> None:
    hit = {"dedup.group_size": [1234], "title": ["The\n same"]}
    hits = [{"fields": {**hit, "dedup.group": [name]}} for name in ("a", "b")]
    made = svg(CHARTS["largest"], {**EMPTY, "hits": {"hits": hits}})
    assert made.count(">1,234<") == 2
    assert made.count("The same") >= 2


def test_a_group_without_a_title_is_called_by_its_name() -> None:
    hits = [{"fields": {"dedup.group": ["WNpn0h1mfTaT"], "dedup.group_size": [3]}}]
    answer = {**EMPTY, "hits": {"hits": hits}}
    assert "WNpn0h1mfTaT" in svg(CHARTS["largest"], answer)
    assert "WNpn0h1mfTaT" in svg(charts.largest(Subject("articles")), answer)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_period_is_as_wide_as_it_is_long(count: int) -> None:
    week = 7 * 86_400_000
    times = [{"key": number * week, "key_as_string": f"week {number}", "doc_count": 5} for number in range(count)]
    made = svg(CHARTS["over-time"], answered(duplicates={"times": {"buckets": times}}))
    assert made.count("from: week") == count
    assert "NaN" not in "".join(seen(made))


def test_a_value_that_is_no_text_is_shown_as_the_engine_writes_it() -> None:
    values = [
        {"key": 1, "key_as_string": "true", "doc_count": 10, "duplicates": {"doc_count": 5}},
        {"key": 7, "doc_count": 1000, "duplicates": {"doc_count": 1}},
    ]
    made = svg(CHARTS["by-field"], answered(values={"buckets": values}))
    for text in (">true<", ">7<", "50%  of 10", "0%  of 1,000"):
        assert text in made.replace("\xa0", " ")
