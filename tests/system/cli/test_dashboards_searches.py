"""The requests behind the charts count on real servers what the groups come to, and draw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest

from es_simhash.cli.reports.dashboards import searches
from es_simhash.cli.reports.dashboards.saved_objects import panels
from es_simhash.cli.reports.dashboards.subject import Subject
from es_simhash.engines.base import Engine
from es_simhash.groups.of_index.options import GroupOptions
from es_simhash.groups.of_index.result import Group
from es_simhash.groups.of_index.writing import WriteOptions
from es_simhash.index import Index
from es_simhash.plans.operations import CreateIndex, Search
from es_simhash.scheme.group_fields import PROPERTIES
from es_simhash.testing.corpus import corpus, edited
from tests.support.whole_indices import ENGINES, FIELDS, engine_of_kind, fill, new_names
from tools.dashboard_pictures import dashboard_picture

SITES = ("a.example", "b.example", "c.example")
MAPPINGS = {
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text"},
        "site": {"type": "keyword"},
        "published": {"type": "date"},
    }
}


def documents() -> Iterator[dict[str, Any]]:
    """Thirty stories, the first with nine copies, others with one or two or none, on three sites over two years."""
    for number, story in enumerate(corpus(30)):
        copies = 9 if number == 0 else number % 3
        for copy in range(1 + copies):
            text = edited(story, copy) if copy else story
            own = {"site": SITES[(number + copy) % 3], "published": f"{2025 + number % 2}-{1 + copy:02}-15"}
            yield {"_id": f"{number}-{copy}", **text, **own}


@dataclass(frozen=True)
class Grouped:
    """An index with groups, and the groups that are in it."""

    engine: Engine
    subject: Subject
    groups: list[Group]

    def ask(self, body: dict[str, Any]) -> Any:
        return self.engine.perform(Search(self.subject.index, body))

    @property
    def duplicates(self) -> list[str]:
        return [member.id for group in self.groups for member in group.members[1:]]


@pytest.fixture(scope="module", params=ENGINES[1:])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with engine_of_kind(request.param, request) as engine:
        yield engine


@pytest.fixture(scope="module")
def grouped(engine: Engine) -> Iterator[Grouped]:
    with new_names(engine) as name:
        index = Index(name(), engine, fields=FIELDS)
        index.init(create={"mappings": MAPPINGS, "settings": {"number_of_shards": 2, "number_of_replicas": 0}})
        index.add(documents(), refresh=True)
        with index.group(GroupOptions(similarity=0.5)) as found:
            index.write_groups(found)
            groups = list(found)
        index.refresh()
        subject = Subject(index.name, date_field="published", by_field="site", text_fields=FIELDS)
        yield Grouped(engine, subject, groups)


def counts(answer: Any, *path: str) -> dict[str, int]:
    buckets = answer["aggregations"]
    for step in path:
        buckets = buckets[step]
    return {each["key"]: each["doc_count"] for each in buckets["buckets"] if each["doc_count"]}


def test_the_groups_are_worth_a_chart(grouped: Grouped) -> None:
    assert max(len(group.members) for group in grouped.groups) == 10
    assert len(grouped.groups) > 15


def test_totals(grouped: Grouped) -> None:
    found = grouped.ask(searches.totals(grouped.subject))["aggregations"]
    numbers = {name: each["doc_count"] for name, each in found.items()}
    expected = {"all": len(list(documents())), "kept": len(grouped.groups), "copies": len(grouped.duplicates)}
    assert numbers == expected


def test_each_group_counts_once_by_its_size(grouped: Grouped) -> None:
    found = counts(grouped.ask(searches.sizes(grouped.subject)), "groups", "sizes")
    sizes = Counter(len(group.members) for group in grouped.groups)
    assert found == {"2": sizes[2], "3": sizes[3], "6–10": sizes[10]}


def test_similarities_fall_into_the_range_that_is_named(grouped: Grouped) -> None:
    found = counts(grouped.ask(searches.similarities(grouped.subject)), "duplicates", "bins")
    members = chain.from_iterable(group.members[1:] for group in grouped.groups)
    stored = [round(member.similarity or 0, 4) for member in members]
    expected = Counter("1" if each == 1 else "< 0.4" if each < 0.4 else f"{int(each * 20) / 20:g}" for each in stored)
    assert found == expected


def test_an_edge_belongs_to_the_range_above_it(engine: Engine) -> None:
    near = {1.0: "1", 0.9999: "0.95", 0.95: "0.95", 0.9499: "0.9", 0.7: "0.7", 0.4: "0.4", 0.3999: "< 0.4"}
    with new_names(engine) as name:
        index = name()
        engine.perform(CreateIndex(index, {"mappings": {"properties": {"dedup": {"properties": PROPERTIES}}}}))
        own = [{"similarity": similarity, "is_canonical": False} for similarity in near]
        fill(engine, index, {str(number): {"dedup": each} for number, each in enumerate(own)})
        answer = engine.perform(Search(index, searches.similarities(Subject(index))))
    assert counts(answer, "duplicates", "bins") == Counter(near.values())


def test_distances(grouped: Grouped) -> None:
    found = counts(grouped.ask(searches.distances(grouped.subject)), "duplicates", "bins")
    members = chain.from_iterable(group.members[1:] for group in grouped.groups)
    assert found == Counter(member.distance for member in members)


def test_all_duplicates_have_their_time(grouped: Grouped) -> None:
    answer = grouped.ask(searches.over_time(grouped.subject))
    times = answer["aggregations"]["duplicates"]["times"]["buckets"]
    published = {each["_id"]: each["published"] for each in documents()}
    assert sum(each["doc_count"] for each in times) == len(grouped.duplicates)
    assert [each["key"] for each in times] == sorted({each["key"] for each in times})
    assert len(times) <= 60
    earliest = min(published[id_] for id_ in grouped.duplicates)
    assert times[0]["key_as_string"][:7] == earliest[:7]


def test_the_largest_groups_come_first_with_the_title_of_the_document_kept(grouped: Grouped) -> None:
    hits = grouped.ask(searches.largest(grouped.subject))["hits"]["hits"]
    first = max(grouped.groups, key=lambda group: len(group.members))
    titles = {each["_id"]: each["title"] for each in documents()}
    expected = {"dedup.group": [first.id], "dedup.group_size": [10], "title": [titles[first.canonical.id]]}
    assert (hits[0]["_id"], hits[0]["fields"]) == (first.canonical.id, expected)
    sizes = [hit["fields"]["dedup.group_size"][0] for hit in hits]
    assert sizes == sorted((len(group.members) for group in grouped.groups), reverse=True)[:12]


def test_values_of_the_other_field_are_counted_with_their_duplicates(grouped: Grouped) -> None:
    sites = {each["_id"]: each["site"] for each in documents()}
    answer = grouped.ask(searches.by_field(grouped.subject))["aggregations"]["values"]["buckets"]
    copies = Counter(sites[id_] for id_ in grouped.duplicates)
    assert {each["key"]: each["doc_count"] for each in answer} == Counter(sites.values())
    assert {each["key"]: each["duplicates"]["doc_count"] for each in answer} == copies
    shown = [each["duplicates"]["doc_count"] for each in answer]
    assert shown == sorted(shown, reverse=True)


def test_groups_of_one_document_are_no_groups(grouped: Grouped) -> None:
    with new_names(grouped.engine) as name:
        index = Index(name(), grouped.engine, fields=FIELDS)
        index.init()
        index.add(({"_id": str(number), **each} for number, each in enumerate(corpus(3))), refresh=True)
        with index.group() as found:
            index.write_groups(found, WriteOptions(singles=True))
        index.refresh()
        subject = Subject(index.name)
        ask = Grouped(grouped.engine, subject, []).ask
        totals = ask(searches.totals(subject))["aggregations"]
        assert {name: each["doc_count"] for name, each in totals.items()} == {"all": 3, "kept": 0, "copies": 0}
        assert counts(ask(searches.sizes(subject)), "groups", "sizes") == {}
        assert ask(searches.largest(subject))["hits"]["hits"] == []


def test_a_pattern_may_have_indices_that_know_nothing_of_groups(grouped: Grouped) -> None:
    with new_names(grouped.engine) as name:
        strange = name()
        fill(grouped.engine, strange, {"1": {"title": "of another index"}})
        subject = Subject(f"{grouped.subject.index},{strange}", by_field="_index")
        for panel in panels(subject):
            if panel.chart:
                answer = grouped.engine.perform(Search(subject.index, panel.chart["data"]["url"]["body"]))
                assert answer["_shards"]["failed"] == 0
        answer = grouped.engine.perform(Search(subject.index, searches.by_field(subject)))
        values = answer["aggregations"]["values"]["buckets"]
        assert [each["key"] for each in values] == [grouped.subject.index, strange]


def test_every_chart_is_drawn_from_what_a_server_answers(grouped: Grouped) -> None:
    drawn = dashboard_picture(grouped.subject, grouped.ask)
    for text in ("In numbers", "Duplicates over time", "Groups by size", "a.example", ">10<"):
        assert text in drawn
