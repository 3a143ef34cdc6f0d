"""The saved objects are what both UIs take, and the same for the same index.

Addresses of pages lead where they say, in both UIs.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.urls import credentials
from es_simhash.cli.reports.dashboards import Copied, Kibana, Measure, Subject, ndjson, panels, rison, saved_objects
from es_simhash.errors import InputError
from tests.support.saved_objects import problems
from tools import mapping_files

NAMES = st.text(min_size=1, max_size=30)
SUBJECTS = st.builds(
    Subject,
    index=NAMES,
    prefix=st.sampled_from(["dedup", "titles", "a-b_C1"]),
    date_field=st.none() | NAMES,
    by_field=st.none() | NAMES,
    text_fields=st.lists(NAMES, max_size=3).map(tuple),
    measure=st.sampled_from(["similarity", "distance"]),
    copied=st.none() | st.builds(Copied, NAMES, NAMES),
    has_lag=st.booleans(),
    decided=st.lists(NAMES, max_size=2).map(tuple),
    space=st.none() | st.sampled_from(["team", "x"]),
)
EVERYTHING = Subject("articles", date_field="published", by_field="site", text_fields=("title", "body"))


def attributes(objects: list[dict[str, Any]], type_: str) -> list[dict[str, Any]]:
    return [each["attributes"] for each in objects if each["type"] == type_]


@given(SUBJECTS)
def test_any_index_gives_objects_that_both_import(subject: Subject) -> None:
    objects = [json.loads(line) for line in ndjson(saved_objects(subject)).split("\n")[:-1]]
    assert problems(objects) == []


def test_ids_are_those_of_earlier_versions_so_an_import_replaces_their_objects() -> None:
    assert Subject("articles").data_view_id == "163a4741-4ed8-5ac9-9613-4f6dd9d715f6"
    assert Subject("articles", "titles", space="team").id_of("dashboard") == "322391aa-4ee8-5c79-944d-61b6b7746781"
    assert [each["id"] for each in saved_objects(EVERYTHING)] == [
        EVERYTHING.id_of(part)
        for part in ("data-view", "documents", *(panel.part for panel in panels(EVERYTHING) if panel.kind), "dashboard")
    ]


def test_all_panels_stand_there_if_there_are_fields_for_them() -> None:
    objects = saved_objects(EVERYTHING)
    shown = "totals controls terms over-time sizes similarity largest by-field documents"
    assert [panel.part for panel in panels(EVERYTHING)] == shown.split()
    assert [each["type"] for each in objects] == ["index-pattern", "search", *["visualization"] * 8, "dashboard"]
    [view] = attributes(objects, "index-pattern")
    assert (view["title"], view["timeFieldName"]) == ("articles", "published")
    [dashboard] = attributes(objects, "dashboard")
    assert (dashboard["title"], dashboard["timeRestore"]) == ("Near-duplicates in articles", True)
    assert (dashboard["timeFrom"], dashboard["timeTo"]) == ("1900-01-01T00:00:00.000Z", "now+1d")


def test_without_dates_nothing_is_about_time() -> None:
    objects = saved_objects(Subject("articles", measure="distance"))
    assert attributes(objects, "index-pattern")[0].keys() == {"title", "fieldFormatMap"}
    assert attributes(objects, "dashboard")[0]["timeRestore"] is False
    assert "%timefield%" not in ndjson(objects)
    shown = "totals controls terms sizes distance largest documents"
    assert [panel.part for panel in panels(Subject("articles", measure="distance"))] == shown.split()


def test_the_search_shows_each_canonical_document_before_its_duplicates() -> None:
    [search] = attributes(saved_objects(EVERYTHING), "search")
    source = json.loads(search["kibanaSavedObjectMeta"]["searchSourceJSON"])
    assert source["query"] == {"language": "kuery", "query": "dedup.group: *"}
    near = ["dedup.group", "dedup.group_size", "dedup.is_canonical", "dedup.similarity"]
    assert search["columns"] == ["_id", "title", *near, "site", "body"]
    assert search["sort"] == [
        ["dedup.group_size", "desc"],
        *(["dedup.group", "asc"], ["dedup.canonical", "asc"]),
        ["dedup.is_canonical", "desc"],
    ]


def test_rows_of_the_table_are_as_high_as_their_texts() -> None:
    [dashboard] = attributes(saved_objects(EVERYTHING), "dashboard")
    shown = {each["panelIndex"]: each["embeddableConfig"] for each in json.loads(dashboard["panelsJSON"])}
    assert shown["documents"]["rowHeight"] == -1


def formats(subject: Subject) -> dict[str, Any]:
    [view] = attributes(saved_objects(subject), "index-pattern")
    found = json.loads(view["fieldFormatMap"])
    assert found.keys() == {subject.field("group"), subject.field("similarity")}
    return dict(found)


@pytest.mark.parametrize("subject", [EVERYTHING, Subject("a", "titles", text_fields=("it's",), space="team")])
def test_the_name_of_a_group_is_a_link_to_its_documents_in_any_ui_and_space(subject: Subject) -> None:
    """The UI puts the group into the template, and the address of its apps before it."""
    made = formats(subject)[subject.field("group")]
    assert (made["id"], made["params"]["labelTemplate"]) == ("url", "{{value}}")
    path = made["params"]["urlTemplate"].replace("{{value}}", "aB-_9")
    whole = Kibana.at("http://h/base/s/team").group(subject, "aB-_9")
    assert path.startswith("../app/discover#/?")
    assert whole == f"http://h/base/s/team{path.removeprefix('..')}"


@pytest.mark.parametrize(
    ("similarity", "background"),
    [(0.31, "#f6d8cf"), (0.6999, "#f6d8cf"), (0.7, "#fbecc4"), (0.9, "#cfe9e1"), (1, "#cfe9e1")],
)
def test_similarities_are_coloured_by_ranges(similarity: float, background: str) -> None:
    """Both UIs take the last range that has a number, with its ends."""
    made = formats(EVERYTHING)["dedup.similarity"]
    ranges = [(*map(float, each["range"].split(":")), each) for each in made["params"]["colors"]]
    found = [each for least, most, each in ranges if least <= similarity <= most][-1]
    assert found["background"] == background
    assert (made["id"], made["params"]["fieldType"]) == ("color", "number")


def test_charts_of_copied_fields_are_there_if_duplicates_have_them() -> None:
    def shown(**own: Any) -> list[tuple[str, int]]:
        return [(each.part, each.width) for each in panels(Subject("a", **own)) if each.part in ("copied", "lag")]

    site = Copied("site", "site.keyword")
    assert shown() == []
    assert shown(copied=site) == [("copied", 48)]
    assert shown(has_lag=True) == [("lag", 48)]
    assert shown(copied=site, has_lag=True) == [("copied", 30), ("lag", 18)]


def test_all_decisions_are_counted_whatever_the_page_shows_if_people_have_decided() -> None:
    own = replace(EVERYTHING, prefix="Titles", decided=("articles-1", "articles-2"))
    assert "decisions" not in [panel.part for panel in panels(EVERYTHING)]
    [panel] = [each for each in panels(own) if each.part == "decisions"]
    assert panel.chart
    [url] = [each["url"] for each in panel.chart["data"] if "url" in each]
    assert url.keys() == {"index", "body"}
    assert url["index"] == "titles-decisions"
    assert url["body"]["query"]["bool"]["filter"] == [
        {"terms": {"of": ["articles-1", "articles-2"]}},
        {"term": {"holds": True}},
    ]


def parameters(subject: Subject, kind: str) -> dict[str, Any]:
    states = [json.loads(each["visState"]) for each in attributes(saved_objects(subject), "visualization")]
    [found] = [state["params"] for state in states if state["type"] == kind]
    return dict(found)


@pytest.mark.parametrize(
    ("by_field", "fields"),
    [
        ("site.keyword", ["_index", "site.keyword", "dedup.group_size", "dedup.similarity"]),
        ("_index", ["_index", "dedup.group_size", "dedup.similarity"]),
        (None, ["_index", "dedup.group_size", "dedup.similarity"]),
    ],
)
def test_index_source_size_and_similarity_can_be_chosen(by_field: str | None, fields: list[str]) -> None:
    subject = Subject("articles", by_field=by_field)
    controls = parameters(subject, "input_control_vis")["controls"]
    assert [each["fieldName"] for each in controls] == fields
    by_distance = parameters(Subject("articles", measure="distance"), "input_control_vis")["controls"][-1]
    assert (by_distance["fieldName"], by_distance["options"]["step"]) == ("dedup.distance", 1)
    assert controls[-1]["options"] == {"decimalPlaces": 2, "step": 0.01}
    [made] = [each for each in saved_objects(subject) if each["id"] == subject.id_of("controls")]
    assert {each["id"] for each in made["references"]} == {subject.data_view_id}


@pytest.mark.parametrize("measure", ["similarity", "distance"])
def test_the_words_are_explained_that_the_panels_use(measure: Measure) -> None:
    said = parameters(Subject("articles", measure=measure), "markdown")["markdown"]
    for word in ("Group", "Canonical document", "Duplicates", measure.capitalize()):
        assert f"**{word}**" in said
    assert "drag over whole columns" not in said
    assert "drag over whole columns" in parameters(EVERYTHING, "markdown")["markdown"]


def test_another_prefix_is_shown_and_used_throughout() -> None:
    text = ndjson(saved_objects(Subject("articles", "titles", "published", "site")))
    assert "Near-duplicates in articles (titles)" in text
    assert "dedup." not in text


def test_a_group_s_number_of_documents_has_one_name() -> None:
    text = ndjson(saved_objects(EVERYTHING))
    assert "documents in a group" in text
    for other in ("duplicates in a group", "duplicates in the group", "members", "group size", "copies of"):
        assert other not in text


def test_the_files_are_what_the_code_makes() -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in mapping_files.DIRECTORY.glob("dashboards/*.ndjson")}
    assert kept == mapping_files.dashboards()
    for text in kept.values():
        assert problems([json.loads(line) for line in text.splitlines()]) == []


def test_rison_as_the_uis_write_it() -> None:
    state = {"columns": ["_source"], "isDirty": False, "query": {"query": "it's 100%!"}, "from": None, "n": 3}
    assert rison(state) == "(columns:!('_source'),isDirty:!f,query:(query:'it!'s 100%!!'),from:!n,n:3)"


def test_a_link_asks_for_its_group_of_all_times_in_the_data_view_of_the_dashboard() -> None:
    subject = Subject("articles", prefix="own", measure="distance", space="team", text_fields=("title", "正文"))
    address = Kibana.at("http://localhost:5601/s/team").group(subject, 'a "b" \\c')
    assert not set(address) & set(" \"'<>\\^`{|}\n\t")
    page, _, asked = address.partition("#/?")
    assert page == "http://localhost:5601/s/team/app/discover"
    assert unquote(asked) == (
        "_g=(time:(from:'1900-01-01T00:00:00.000Z',to:'now+1d'))"
        f"&_a=(index:'{subject.data_view_id}',query:(language:'kuery',query:'own.group: \"a \\\"b\\\" \\\\c\"'),"
        "columns:!('_id','title','own.is_canonical','own.distance','正文'),"
        "sort:!(!('own.canonical','asc'),!('own.is_canonical','desc')),rowHeight:-1)"
    )


def test_a_link_leads_to_a_page_that_all_versions_have() -> None:
    tenant = Kibana.at("http://h/app/home?security_tenant=a+b#/")
    assert tenant.group(Subject("articles"), "x").startswith("http://h/app/discover?security_tenant=a%20b#/?_g=")


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("http://localhost:5601", "http://localhost:5601/app/discover"),
        ("http://localhost:5601/", "http://localhost:5601/app/discover"),
        ("https://me:secret@h/base/app/home#/x", "https://h/base/app/discover"),
        ("https://h/s/team/app/discover?x=1#/", "https://h/s/team/app/discover"),
        ("https://h/base/s/team", "https://h/base/s/team/app/discover"),
        ("https://h/s/default", "https://h/app/discover"),
        ("http://[::1]:5601/login?next=x", "http://[::1]:5601/app/discover"),
    ],
)
def test_the_address_of_any_page_will_do(url: str, page: str) -> None:
    assert Kibana.at(url).group(Subject("articles"), "x").startswith(f"{page}#/?")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:5601", "cannot be read"),
        ("ftp://secret@h", "cannot be read"),
        ("http://h:port", "cannot be read"),
        ("http://", "cannot be read"),
        ("http://me:sec/ret@h", "cannot be read"),
        ("http://h/s/one?security_tenant=two", "Name one of them"),
    ],
)
def test_an_invalid_address_is_refused_and_not_repeated(url: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        Kibana.at(url)
    assert "sec" not in str(raised.value)


def test_credentials_are_taken_from_the_url() -> None:
    assert credentials("https://me:p%40ss@h") == ("me", "p@ss")
    assert credentials("https://me@h") == ("me", None)
    assert credentials("https://h") is None
