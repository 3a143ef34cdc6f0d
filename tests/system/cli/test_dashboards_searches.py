"""The requests behind the charts count on real servers what the groups come to, and draw it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from es_simhash.cli.reports.dashboards import Subject, inspect_index
from es_simhash.documents.decisions import Decision
from es_simhash.engines.base import Engine, run
from es_simhash.index import Index
from es_simhash.plans.decided import forget
from es_simhash.plans.operations import CreateIndex, Search
from es_simhash.scheme.mapping import PROPERTIES
from es_simhash.scheme.scope import Policy
from tests.support.charts import charts, marks, seen, svg
from tests.support.charts import request as asked
from tests.support.corpus import corpus
from tests.support.grouped_index import MAPPINGS, Grouped, copy_fields, documents, group, subject_of
from tests.support.whole_indices import ENGINES, FIELDS, engine_of_kind, fill, new_names
from tools.dashboard_pictures import dashboard_picture


@pytest.fixture(scope="module", params=ENGINES[1:])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with engine_of_kind(request.param, request) as engine:
        yield engine


@pytest.fixture(scope="module", params=["in one run", "as they came", "in one run, but for those that came since"])
def grouped(engine: Engine, request: pytest.FixtureRequest) -> Iterator[Grouped]:
    came, here = [], list(documents())
    if request.param != "in one run":
        came, here = here, []
    if "since" in request.param:
        came, here = came[1::2], came[::2]
    with new_names(engine) as name:
        index = Index(name(), engine, fields=FIELDS)
        settings = {"mappings": MAPPINGS, "settings": {"number_of_shards": 2, "number_of_replicas": 0}}
        index.init(create=settings, policy=Policy(groups="online" if came else "batch"))
        index.add(here, refresh=True)
        if here:
            group(index)
        index.add(came, refresh=True)
        copy_fields(Grouped(engine, subject_of(index.name)))
        yield Grouped(engine, subject_of(index.name))


def counts(answer: Any, *path: str) -> dict[str, int]:
    buckets = answer["aggregations"]
    for step in path:
        buckets = buckets[step]
    return {each["key"]: each["doc_count"] for each in buckets["buckets"] if each["doc_count"]}


def counted(answer: Any) -> Counter[str]:
    """How many duplicates each group has, by a server."""
    found = answer["aggregations"]["duplicates"]
    assert found["groups"]["sum_other_doc_count"] == 0
    assert found["number"]["value"] == len(found["groups"]["buckets"])
    return Counter({each["key"]: each["doc_count"] for each in found["groups"]["buckets"]})


def test_the_groups_are_worth_a_chart(grouped: Grouped, request: pytest.FixtureRequest) -> None:
    assert max(grouped.groups.values()) == 9
    assert len(grouped.groups) > 15
    sizes = [each["dedup"].get("group_size", 0) for each in grouped.documents.values()]
    assert (any(sizes), all(sizes)) != (True, True) or "one run" in request.node.name


def test_totals(grouped: Grouped) -> None:
    answer = grouped.ask(asked(grouped.subject, "totals"))
    assert answer["aggregations"]["all"]["doc_count"] == len(list(documents()))
    assert answer["aggregations"]["duplicates"]["doc_count"] == len(grouped.duplicates)
    assert counted(answer) == grouped.groups


def test_duplicates_are_counted_by_their_site_and_that_of_their_canonical_document(grouped: Grouped) -> None:
    answer = grouped.ask(asked(grouped.subject, "copied"))
    expected = Counter(
        (each["site"], grouped.documents[each["dedup"]["canonical"]]["site"])
        for each in (grouped.documents[id_] for id_ in grouped.duplicates)
    )
    made = svg(charts(grouped.subject)["copied"], answer)
    found = {(each["site"], each["of the canonical document"]): int(each["duplicates"]) for each in marks(made)}
    assert found == expected
    assert len(expected) > 5


def test_duplicates_are_counted_by_the_time_after_their_canonical_documents(grouped: Grouped) -> None:
    found = counts(grouped.ask(asked(grouped.subject, "lag")), "duplicates", "bins")
    names = ("earlier", "< 1 hour", "< 6 hours", "< 1 day", "< 2 days", "< 7 days", "< 30 days", "< 365 days", "later")
    edges = (0, 1 / 24, 0.25, 1, 2, 7, 30, 365)
    expected = Counter(names[bisect_right(edges, each["lag_days"])] for each in grouped.duplicates.values())
    assert found == expected
    assert expected.keys() == set(names)


def test_similarities_fall_into_the_range_that_is_named(grouped: Grouped) -> None:
    found = counts(grouped.ask(asked(grouped.subject, "similarity")), "duplicates", "bins")
    stored = [each["similarity"] for each in grouped.duplicates.values()]
    expected = Counter("1" if each == 1 else "< 0.4" if each < 0.4 else f"{int(each * 20) / 20:g}" for each in stored)
    assert found == expected


def test_an_edge_belongs_to_the_range_above_it(engine: Engine) -> None:
    near = {1.0: "1", 0.9999: "0.95", 0.95: "0.95", 0.9499: "0.9", 0.7: "0.7", 0.4: "0.4", 0.3999: "< 0.4"}
    with new_names(engine) as name:
        index = name()
        engine.perform(CreateIndex(index, {"mappings": {"properties": {"dedup": {"properties": PROPERTIES}}}}))
        own = [{"similarity": similarity, "is_canonical": False} for similarity in near]
        fill(engine, index, {str(number): {"dedup": each} for number, each in enumerate(own)})
        answer = engine.perform(Search(index, asked(Subject(index), "similarity")))
    assert counts(answer, "duplicates", "bins") == Counter(near.values())


def test_distances(grouped: Grouped) -> None:
    found = counts(grouped.ask(asked(grouped.subject, "distance")), "duplicates", "bins")
    assert found == Counter(each["distance"] for each in grouped.duplicates.values())


def test_all_duplicates_have_their_time(grouped: Grouped) -> None:
    answer = grouped.ask(asked(grouped.subject, "over-time"))
    times = answer["aggregations"]["duplicates"]["times"]["buckets"]
    assert sum(each["doc_count"] for each in times) == len(grouped.duplicates)
    assert [each["key"] for each in times] == sorted({each["key"] for each in times})
    assert len(times) <= 60
    earliest = min(grouped.documents[id_]["published"] for id_ in grouped.duplicates)
    assert times[0]["key_as_string"][:7] == earliest[:7]


def test_the_largest_groups_come_first_with_the_title_of_the_duplicate_that_is_nearest(grouped: Grouped) -> None:
    found = grouped.ask(asked(grouped.subject, "largest"))["aggregations"]["duplicates"]["groups"]["buckets"]
    assert [each["doc_count"] for each in found] == sorted(grouped.groups.values(), reverse=True)[:12]
    for each in found:
        assert (each["doc_count"], each["doc_count_error_upper_bound"]) == (grouped.groups[each["key"]], 0)
        [hit] = each["hit"]["hits"]["hits"]
        others = [own["similarity"] for own in grouped.duplicates.values() if own["group"] == each["key"]]
        assert grouped.duplicates[hit["_id"]]["similarity"] == max(others)
        assert hit["fields"] == {"title": [grouped.documents[hit["_id"]]["title"]]}


def test_values_of_the_other_field_are_counted_with_their_duplicates(grouped: Grouped) -> None:
    answer = grouped.ask(asked(grouped.subject, "by-field"))["aggregations"]["all"]["values"]["buckets"]
    copies = Counter(grouped.documents[id_]["site"] for id_ in grouped.duplicates)
    assert {each["key"]: each["doc_count"] for each in answer} == Counter(
        each["site"] for each in grouped.documents.values()
    )
    assert {each["key"]: each["duplicates"]["doc_count"] for each in answer} == copies
    shown = [each["duplicates"]["doc_count"] for each in answer]
    assert shown == sorted(shown, reverse=True)


def test_decisions_that_hold_are_counted_by_who_made_them(engine: Engine) -> None:
    with new_names(engine) as name:
        index = Index(name(), engine, fields=FIELDS)
        index.init()
        index.decide(
            [
                Decision.between("1", "2", same=False, who="Mia"),
                Decision.between("1", "3", same=False, who="Ben"),
                Decision.about("2", "alone"),
                Decision.about("3", "canonical", "Mia"),
            ]
        )
        index.decide([Decision.about("3", "canonical", "Mia").withdrawn()])
        chart = charts(run(inspect_index(Subject(index.name)), engine).subject)["decisions"]
        url = chart["data"][0]["url"]
        shown = seen(svg(chart, engine.perform(Search(url["index"], url["body"]))))
        assert {"same: 0", "different: 2", "canonical: 0", "alone: 1", "Mia", "Ben", "without a name"} <= set(shown)
        run(forget(index.name, "dedup", [(index.name, id_) for id_ in "123"]), engine)
        assert "No decision holds." in seen(svg(chart, engine.perform(Search(url["index"], url["body"]))))


def test_groups_of_one_document_are_not_groups(engine: Engine) -> None:
    with new_names(engine) as name:
        index = Index(name(), engine, fields=FIELDS)
        index.init()
        index.add(({"_id": str(number), **each} for number, each in enumerate(corpus(3))), refresh=True)
        with index.group() as found:
            index.write_groups(found, singles=True)
        index.refresh()
        alone = Grouped(engine, Subject(index.name))
        answer = alone.ask(asked(alone.subject, "totals"))
        assert {name: each["doc_count"] for name, each in answer["aggregations"].items()} == {"all": 3, "duplicates": 0}
        assert counted(answer) == Counter()
        assert counts(alone.ask(asked(alone.subject, "largest")), "duplicates", "groups") == {}


def test_the_rest_of_very_many_groups_is_in_the_column_of_the_smallest(engine: Engine) -> None:
    """Each other column is exact, and all together are the number of groups."""
    copies = [*[40] * 3, *[3] * 9_990, *[2] * 300, *[1] * 200]
    groups = [f"{number:05}" for number, count in enumerate(copies) for _ in range(count)]
    with new_names(engine) as name:
        subject, own = Subject(name()), {"properties": {"dedup": {"properties": PROPERTIES}}}
        engine.perform(CreateIndex(subject.index, {"mappings": own, "settings": {"number_of_shards": 2}}))
        rows = ({"dedup": {"group": group, "is_canonical": False}} for group in groups)
        fill(engine, subject.index, {str(number): row for number, row in enumerate(rows)})
        answer = engine.perform(Search(subject.index, asked(subject, "sizes")))
    number = answer["aggregations"]["duplicates"]["number"]["value"]
    assert abs(number - len(copies)) < 0.005 * len(copies)
    made = svg(charts(subject)["sizes"], answer)
    found = {each["documents in a group"]: int(each["groups"].replace(",", "")) for each in marks(made)}
    others = number - 9_993
    assert Counter(found) == Counter({"2–3": others, "4": 9_990, "21–50": 3})
    assert {f"≈ {others}", "9,990", "3"} <= set(seen(made))


def test_a_pattern_may_have_indices_that_know_nothing_of_groups(grouped: Grouped) -> None:
    with new_names(grouped.engine) as name:
        strange = name()
        fill(grouped.engine, strange, {"1": {"title": "of another index"}})
        subject = Subject(f"{grouped.subject.index},{strange}", by_field="_index")
        for part in charts(subject):
            answer = grouped.engine.perform(Search(subject.index, asked(subject, part)))
            assert answer["_shards"]["failed"] == 0
        answer = grouped.engine.perform(Search(subject.index, asked(subject, "by-field")))
        values = answer["aggregations"]["all"]["values"]["buckets"]
        assert [each["key"] for each in values] == [grouped.subject.index]


def test_every_chart_is_drawn_from_what_a_server_answers(grouped: Grouped) -> None:
    drawn = dashboard_picture(grouped.subject, grouped.ask)
    for text in (
        "of the canonical document",
        "In numbers",
        "Duplicates over time",
        "Groups by size",
        "a.example",
        ">10<",
    ):
        assert text in drawn
