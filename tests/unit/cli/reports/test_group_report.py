from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.cli.reports.group_report import GroupReport, SharedKey
from es_simhash.groups.groups import Member
from es_simhash.scheme.query import Criteria
from tests.support.reports import SCHEME, group, group_of, member, pairs, report

TEXT = "A storm hit the coast last night. Trains stood still."


def test_the_largest_groups_are_shown_and_the_most_doubtful_of_the_others() -> None:
    large = [group_of(str(number), 300 - number) for number in range(100)]
    small = [
        group(f"small {number}", member("a"), member("b", 0.65 + number / 1000))
        for number in (*range(150, 300), *range(150))
    ]
    made = report([*large, *small], criteria=Criteria(None, 0.6))
    found = [each.shown.id for each in made.largest]
    assert found == [*(str(number) for number in range(100)), *(f"small {number}" for number in range(100))]
    assert [len(each.shown.members) for each in made.largest] == [5] * 20 + [2] * 180


def shown(made: GroupReport) -> list[str]:
    """The members of the largest group that are shown."""
    return [each.id for each in made.largest[0].shown.members]


def test_the_members_least_like_the_canonical_one_are_shown() -> None:
    members = [member("kept")] + [member(f"{i}", 0.6 + 0.01 * i, 9) for i in range(30)] + [member("far", 0.6, 20)]
    made = report([group("a", *members)])
    assert set(shown(made)) == {"kept", "far", "0", "1", "2"}
    assert (made.largest[0].size, made.largest[0].canonicals) == (32, 1)
    assert [each.id for each in made.largest[0].named] == [str(number) for number in range(3, 30)]


def test_in_a_chain_the_duplicates_are_shown_with_the_documents_that_stand_for_them() -> None:
    members = [
        *(member("a", canonical="a"), member("a copy", 0.9, canonical="a"), member("b", canonical="b")),
        *(member(f"b copy {i}", 0.6 + 0.1 * i, canonical="b") for i in range(3)),
        *(member("c", canonical="c"), member("c copy", 0.99, canonical="c")),
    ]
    made = report([group("chain", *members)])
    assert shown(made) == ["a", "a copy", "b", "b copy 0", "b copy 1", "b copy 2"]
    assert (made.largest[0].size, made.largest[0].canonicals) == (8, 3)


def test_without_similarities_the_distances_decide_who_is_least_like_it() -> None:
    members = [member(str(distance), None, distance) for distance in (0, 3, 1, 2, 4, 6, 5)]
    assert set(shown(report([group("a", *members)]))) == {"0", "6", "5", "4", "3"}
    members = [member(str(number), None, None) for number in range(3)]
    assert shown(report([group("a", *members)])) == ["0", "1", "2"]


@pytest.mark.parametrize("body", [{"a": 1}, "\ud800"])
def test_a_document_whose_text_cannot_be_read_is_like_one_that_is_not_there(body: Any) -> None:
    assert report([group("a")], look=lambda members: [{"body": body} for _ in members]).texts == {}


def test_without_fields_a_text_is_all_strings_of_a_document_but_its_id() -> None:
    documents: list[Json | None] = [{"id": "7", "title": "One", "n": 3, "body": "two"}, {"id": "8", "title": "One"}]
    found = report([group("a", member("7"), member("8"))], look=lambda _: documents, fields=[])
    assert list(found.texts.values()) == ["One\ntwo", "One"]


def test_documents_are_asked_for_once_and_each_only_once() -> None:
    asked: list[list[str]] = []

    def look(members: Sequence[Member]) -> list[Json | None]:
        asked.append([each.id for each in members])
        return [{"body": TEXT} for _ in members]

    key = SharedKey("band 7", 9000, member("a-0"))
    found = report([group_of("a", 3), group_of("b", 2)], keys=[key], look=look)
    assert asked == [["a-0", "a-1", "a-2", "b-0", "b-1"]]
    assert (list(found.shared_keys), found.texts["articles", "a-0"]) == ([key], TEXT)


def test_nothing_is_asked_for_if_there_is_nothing_to_show() -> None:
    def look(members: Sequence[Member]) -> list[Json | None]:
        raise AssertionError(members)

    found = report([], look=look)
    assert (found.charts, found.largest) == ((), ())


def test_members_with_one_id_in_several_indices_are_distinct() -> None:
    documents = {"x": {"body": "the one"}, "y": {"body": "the other"}}
    of_both = [group("a", member("1", index="x"), member("1", index="y"))]
    found = report(of_both, look=lambda members: [documents[each.index or ""] for each in members])
    assert found.texts == {("x", "1"): "the one", ("y", "1"): "the other"}


def test_charts_are_of_what_is_known() -> None:
    found = report(
        [group_of("a", 2), group_of("b", 7)],
        found=[pairs([0.7, 1.0], [3, 0]), pairs([0.9], [2], [True])],
        dates=["2024-01-01", None],
    )
    titles = ["Groups by size", "Similarity of pairs", "Distance of pairs", "Duplicates over time"]
    assert {chart.title: sum(bar.count for bar in chart.bars) for chart in found.charts} == dict(
        zip(titles, (2, 2, 3, 1), strict=True)
    )
    alone = report([group("a", member("1", None, 0), member("2", None, 3))], criteria=Criteria.of(SCHEME, "simhash"))
    assert [chart.title for chart in alone.charts] == ["Groups by size"]
