"""Clicks on the charts, in Chromium: what they filter by selects on real servers the documents that were counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from es_simhash.cli.reports.dashboards import FUNCTIONS, UI
from es_simhash.index import Index
from tests.support.browser import Browser, started
from tests.support.charts import charts
from tests.support.grouped_index import MAPPINGS, Grouped, copy_fields, documents, group, subject_of
from tests.support.whole_indices import ENGINES, FIELDS, engine_of_kind, new_names
from tools.dashboard_pictures import completed

Json = dict[str, Any]

WIDTH = 900
# Only the functions of one UI are there, and they write down how they were called. As both UIs do, it draws on a canvas
# and interprets expressions.
PAGE = """<!doctype html><meta charset="utf-8"><body style="margin: 0"><div id="chart"></div>
<script type="module">%(bundle)s
window.calls = [];
const functions = Object.fromEntries(
  %(functions)s.map((name) => [name, (...given) => { calls.push([name, ...given]); }]));
const {$schema, ...chart} = %(chart)s;
const options = {mode: "vega", renderer: "canvas", hover: true, ast: true, actions: false};
options.expressionFunctions = functions;
options.tooltip = false;
window.shown = vegaEmbed("#chart", chart, options).then((made) => { window.view = made.view; });
window.texts = (name) =>
  view.scenegraph().root.items[0].items.find((each) => each.name === name).items.map((item) => item.text);
window.places = (name) => {
  const box = view.container().querySelector("canvas").getBoundingClientRect();
  const [left, top] = [box.x + view.origin()[0], box.y + view.origin()[1]];
  const mark = view.scenegraph().root.items[0].items.find((each) => each.name === name);
  return mark.items.map((item) => ({
    x: left + (item.bounds.x1 + item.bounds.x2) / 2,
    y: top + (item.bounds.y1 + item.bounds.y2) / 2,
    datum: item.datum,
  }));
};
</script>"""


@dataclass(frozen=True)
class Page:
    """A chart in the browser."""

    browser: Browser

    def places(self, mark: str = "bars") -> list[Json]:
        found: list[Json] = self.browser.value(f"places('{mark}')")
        return found

    def texts(self, mark: str) -> list[str]:
        """What the texts of a mark say."""
        found: list[str] = self.browser.value(f"texts('{mark}')")
        return found

    def mouse(self, kind: str, x: float, y: float, button: str = "left") -> None:
        held = {"button": button, "buttons": int(button == "left"), "clickCount": 1}
        self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **held)

    def click(self, place: Json) -> list[Any]:
        """Click somewhere; return the name of the only function that was called, and its arguments."""
        self.mouse("mouseMoved", place["x"], place["y"])
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, place["x"], place["y"])
        [call] = self.calls()
        return call

    def calls(self) -> list[list[Any]]:
        found: list[list[Any]] = self.browser.value("calls.splice(0)")
        return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from started(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module", params=ENGINES[1:])
def grouped(request: pytest.FixtureRequest) -> Iterator[Grouped]:
    with engine_of_kind(request.param, request) as engine, new_names(engine) as name:
        index = Index(name(), engine, fields=FIELDS)
        index.init(create={"mappings": MAPPINGS, "settings": {"number_of_shards": 2, "number_of_replicas": 0}})
        index.add(documents(), refresh=True)
        group(index)
        ui: UI = "opensearch" if request.param == "opensearch" else "kibana"
        copy_fields(Grouped(engine, subject_of(index.name)))
        yield Grouped(engine, subject_of(index.name, ui))


def shown(browser: Browser, tmp_path: Path, grouped: Grouped, part: str, ui: UI | None = None) -> Page:
    """Show a chart of what the server answers, with nothing but the functions of its UI, or of another."""
    subject = grouped.subject
    chart, prefix = charts(subject)[part], FUNCTIONS[ui or subject.ui]
    parts = {
        "bundle": vl_convert.javascript_bundle(None),  # type: ignore[arg-type]
        "functions": json.dumps([f"{prefix}AddFilter", f"{prefix}SetTimeFilter"]),
        "chart": json.dumps(completed(chart, grouped.ask, "light", WIDTH, 400)),
    }
    path = tmp_path / "chart.html"
    path.write_text(PAGE % parts, encoding="utf-8")
    browser.show(path, width=WIDTH + 100, colours="light")
    browser.call("Runtime.evaluate", expression="shown", awaitPromise=True)
    return Page(browser)


def selected(grouped: Grouped, query: Json) -> set[str]:
    """The documents that a filter leaves."""
    return {hit["_id"] for hit in grouped.ask({"size": 1000, "query": query})["hits"]["hits"]}


def of_a_size(own: Json, datum: Json) -> bool:
    return bool(datum["least"] <= own.get("group_size", 0) <= (datum["most"] or 10**9))


def of_a_similarity(own: Json, datum: Json) -> bool:
    return own.get("is_canonical") is False and bool(datum.get("from", 0) <= own["similarity"] < datum.get("to", 2))


COUNTED: dict[str, Callable[[Json, Json], bool]] = {
    "largest": lambda document, datum: document["dedup"].get("group") == datum["key"],
    "sizes": lambda document, datum: of_a_size(document["dedup"], datum),
    "similarity": lambda document, datum: of_a_similarity(document["dedup"], datum),
    "distance": lambda document, datum: (
        document["dedup"].get("is_canonical") is False and document["dedup"]["distance"] == datum["key"]
    ),
    "copied": lambda document, datum: (
        (document["site"], document["dedup"].get("of", {}).get("site")) == (datum["own"], datum["of"])
    ),
    "lag": lambda document, datum: (
        datum.get("from", -(10**9)) <= document["dedup"].get("lag_days", 10**10) < datum.get("to", 10**9)
    ),
    "by-field": lambda document, datum: document["site"] == datum["key"],
    "totals": lambda document, datum: {
        "documents": True,
        "groups": "group" in document["dedup"],
    }.get(datum["name"], document["dedup"].get("is_canonical") is False),
}


@pytest.mark.parametrize("part", COUNTED)
def test_a_click_filters_by_what_was_counted(browser: Browser, tmp_path: Path, grouped: Grouped, part: str) -> None:
    page = shown(browser, tmp_path, grouped, part)
    places = [each for each in page.places() if each["datum"].get("doc_count", 1)]
    assert len(places) > 1
    for place in places:
        name, query, index, label = page.click(place)
        assert name == f"{FUNCTIONS[grouped.subject.ui]}AddFilter"
        assert index is None
        assert isinstance(label, str)
        expected = {id_ for id_, each in grouped.documents.items() if COUNTED[part](each, place["datum"])}
        assert selected(grouped, query) == expected
        assert expected


@pytest.mark.parametrize("part", ["largest", "sizes"])
def test_numbers_next_to_small_bars_can_be_clicked_too(
    browser: Browser, tmp_path: Path, grouped: Grouped, part: str
) -> None:
    page = shown(browser, tmp_path, grouped, part)
    for bar, number in zip(page.places(), page.places("numbers"), strict=True):
        if bar["datum"]["doc_count"]:
            assert page.click(number) == page.click(bar)


def published(grouped: Grouped, call: list[Any]) -> int:
    """How many duplicates the time range of a call has."""
    name, start, end = call
    assert name == f"{FUNCTIONS[grouped.subject.ui]}SetTimeFilter"
    time = {"range": {"published": {"gte": int(start), "lte": int(end), "format": "epoch_millis"}}}
    return len(selected(grouped, {"bool": {"filter": [{"term": {"dedup.is_canonical": False}}, time]}}))


def test_a_click_on_a_period_makes_it_the_time_range(browser: Browser, tmp_path: Path, grouped: Grouped) -> None:
    page = shown(browser, tmp_path, grouped, "over-time")
    places = [each for each in page.places() if each["datum"]["doc_count"]]
    assert len(places) > 5
    for place in places:
        assert published(grouped, page.click(place)) == place["datum"]["doc_count"]
    assert sum(each["datum"]["doc_count"] for each in places) == len(grouped.duplicates)


@pytest.mark.parametrize("is_backwards", [False, True])
def test_a_stretch_drawn_with_the_mouse_becomes_the_time_range_once(
    browser: Browser, tmp_path: Path, grouped: Grouped, is_backwards: bool
) -> None:
    page = shown(browser, tmp_path, grouped, "over-time")
    places = page.places()
    first, last = (places[number] for number in (1, -3))
    ends = [last, first] if is_backwards else [first, last]
    page.mouse("mouseMoved", ends[0]["x"], 50)
    page.mouse("mousePressed", ends[0]["x"], 50)
    for x in (400, ends[1]["x"]):
        page.mouse("mouseMoved", x, 60)
    assert page.calls() == []
    page.mouse("mouseReleased", ends[1]["x"], 60)
    [[name, start, end]] = page.calls()
    assert start < end
    assert (start, end) == (first["datum"]["key"], last["datum"]["end"] - 1)
    whole = sum(each["datum"]["doc_count"] for each in places[1:-2])
    assert published(grouped, [name, start, end]) == whole > 0
    page.mouse("mouseReleased", 5, 5)
    assert page.calls() == []


def test_while_a_stretch_is_drawn_it_says_what_it_is_rounded_to(
    browser: Browser, tmp_path: Path, grouped: Grouped
) -> None:
    page = shown(browser, tmp_path, grouped, "over-time")
    first, last = page.places()[2], page.places()[5]
    page.mouse("mouseMoved", first["x"], 50)
    page.mouse("mousePressed", first["x"], 50)
    page.mouse("mouseMoved", last["x"], 60)
    [said] = page.texts("stretch_said")
    start, end = (
        f"{datetime.fromtimestamp(each / 1000, timezone.utc):%Y-%m-%d %H:%M}"
        for each in (first["datum"]["key"], last["datum"]["end"])
    )
    assert said == f"whole columns: {start} to {end} UTC"
    page.mouse("mouseReleased", last["x"], 60)
    assert page.texts("stretch_said") == [""]


@pytest.mark.parametrize("x", [-500, 5000])
def test_a_stretch_that_ends_outside_of_the_chart_ends_with_its_first_or_last_column(
    browser: Browser, tmp_path: Path, grouped: Grouped, x: int
) -> None:
    page = shown(browser, tmp_path, grouped, "over-time")
    places = page.places()
    middle = places[len(places) // 2]
    page.mouse("mouseMoved", middle["x"], 50)
    page.mouse("mousePressed", middle["x"], 50)
    page.mouse("mouseMoved", x, -900)
    page.mouse("mouseReleased", x, -900)
    [[_, start, end]] = page.calls()
    first, last = (places[0], middle) if x < 0 else (middle, places[-1])
    assert (start, end) == (first["datum"]["key"], last["datum"]["end"] - 1)


def test_a_button_released_where_the_page_does_not_hear_of_it_ends_the_stretch(
    browser: Browser, tmp_path: Path, grouped: Grouped
) -> None:
    page = shown(browser, tmp_path, grouped, "over-time")
    first, last = page.places()[2], page.places()[5]
    page.mouse("mouseMoved", first["x"], 50)
    page.mouse("mousePressed", first["x"], 50)
    page.mouse("mouseMoved", last["x"], 60)
    page.mouse("mouseMoved", last["x"], 61, button="none")
    [[_, start, end]] = page.calls()
    assert (start, end) == (first["datum"]["key"], last["datum"]["end"] - 1)
    page.mouse("mouseMoved", first["x"], 61, button="none")
    assert page.calls() == []


@pytest.mark.parametrize("part", ["totals", "over-time", "largest"])
def test_a_chart_for_one_ui_is_refused_by_the_other(
    browser: Browser, tmp_path: Path, grouped: Grouped, part: str
) -> None:
    other: UI = "kibana" if grouped.subject.ui == "opensearch" else "opensearch"
    shown(browser, tmp_path, grouped, part, other)
    assert f"Unrecognized function: {FUNCTIONS[grouped.subject.ui]}" in json.dumps(browser.complaints)
    shown(browser, tmp_path, grouped, part)
    assert browser.complaints == []
