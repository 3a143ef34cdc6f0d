from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.groups.collector import Collector, Omitted, SharedKey, ShownKey
from es_simhash.groups.groups import Counts
from es_simhash.plans.explain.excerpts import Piece
from es_simhash.scheme.query import Criteria
from tests.support.reports import SCHEME, group, group_of, member, pairs, report, setup

TEXT = "A storm hit the coast last night. Trains stood still."
NONE = Counts(0, 0, 0, 0, 0, 0, 0, 0, 0)


def ids(collector: Collector) -> list[str]:
    return [each.id for each in collector.report(NONE, lambda keys: [None] * len(keys)).largest]


def test_the_largest_groups_are_kept_and_of_equal_ones_those_that_came_first() -> None:
    sizes = [random.Random(1).randint(2, 9) for _ in range(300)]
    collector = Collector(setup(), most_groups=12)
    for number, size in enumerate(sizes):
        collector.add(group_of(str(number), size))
    expected = sorted(range(300), key=lambda number: -sizes[number])[:12]
    assert ids(collector) == [str(number) for number in expected]


def test_the_order_in_which_groups_come_matters_only_among_equal_ones() -> None:
    collectors = [Collector(setup(), most_groups=3) for _ in range(2)]
    for size in range(2, 9):
        collectors[0].add(group_of(str(size), size))
        collectors[1].add(group_of(str(10 - size), 10 - size))
    assert ids(collectors[0]) == ids(collectors[1]) == ["8", "7", "6"]


def test_no_groups_at_all_may_be_shown() -> None:
    collector = Collector(setup(), most_groups=0)
    collector.add(group_of("a", 2))
    assert ids(collector) == []


def test_the_members_least_like_the_canonical_one_are_shown_and_the_others_counted() -> None:
    members = [member("kept")] + [member(f"{i}", 0.6 + 0.01 * i, 9) for i in range(30)] + [member("far", 0.6, 20)]
    [shown] = report([group("a", *members)]).largest
    [kept] = shown.shown
    assert (kept.member.id, shown.canonicals) == ("kept", 1)
    assert [each.member.id for each in kept.duplicates] == ["far", "0", "1", "2"]
    assert (shown.size, shown.unshown) == (32, 27)


def test_in_a_chain_the_duplicates_are_shown_with_the_documents_that_stand_for_them() -> None:
    members = [
        *(member("a", canonical="a"), member("a copy", 0.9, canonical="a"), member("b", canonical="b")),
        *(member(f"b copy {i}", 0.6 + 0.1 * i, canonical="b") for i in range(3)),
        *(member("c", canonical="c"), member("c copy", 0.99, canonical="c")),
    ]
    texts = {each.id: f"{TEXT} {each.canonical}" for each in members}
    [found] = report([group("chain", *members)], texts).largest
    assert [(each.member.id, [one.member.id for one in each.duplicates]) for each in found.shown] == [
        ("a", ["a copy"]),
        ("b", ["b copy 0", "b copy 1", "b copy 2"]),
    ]
    assert all(one.is_same for each in found.shown for one in each.duplicates)
    assert (found.size, found.canonicals, found.unshown) == (8, 3, 2)


def test_without_similarities_the_distances_decide_who_is_least_like_it() -> None:
    members = [member(str(distance), None, distance) for distance in (0, 3, 1, 2, 3, 0, 5)]
    [shown] = report([group("a", *members)]).largest[0].shown
    assert [each.member.distance for each in shown.duplicates] == [5, 3, 3, 2]
    members = [member(str(number), None, None) for number in range(3)]
    [shown] = report([group("a", *members)]).largest[0].shown
    assert [each.member.id for each in shown.duplicates] == ["1", "2"]


def test_differences_from_the_canonical_text_are_shown() -> None:
    members = [member("0"), member("1", 0.9), member("2", 0.95), member("3", 0.97), member("4")]
    texts = {"0": TEXT, "1": TEXT.replace("Trains", "Buses"), "2": TEXT.upper(), "4": TEXT}
    [shown] = report([group("a", *members)], texts).largest[0].shown
    assert shown.excerpt == (Piece("both", TEXT),)
    differences = {each.member.id: (each.is_same, each.changes) for each in shown.duplicates}
    assert differences["1"][1]
    assert [piece.text for piece in differences["1"][1] if piece.kind != "both"] == ["Trains", "Buses"]
    assert differences["2"] == (False, ()), "another text, but not for the scheme"
    assert differences["3"] == (False, None), "no such document"
    assert differences["4"] == (True, ())


def test_without_the_canonical_text_there_is_nothing_to_compare_with() -> None:
    [shown] = report([group("a", member("0"), member("1"))], {"1": TEXT}).largest[0].shown
    assert shown.excerpt is None
    assert shown.duplicates[0].changes is None


@pytest.mark.parametrize("body", [{"a": 1}, "\ud800"])
def test_a_document_whose_text_cannot_be_read_is_like_one_that_is_not_there(body: Any) -> None:
    collector = Collector(setup())
    collector.add(group("a"))
    [shown] = collector.report(NONE, lambda keys: [{"body": body} for _ in keys]).largest[0].shown
    assert shown.excerpt is None


def test_without_fields_a_text_is_all_strings_of_a_document_but_its_id() -> None:
    collector = Collector(setup(fields=[]))
    collector.add(group("a", member("7"), member("8")))
    documents: list[Json | None] = [{"id": "7", "title": "One", "n": 3, "body": "two"}, {"id": "8", "title": "One"}]
    [shown] = collector.report(NONE, lambda _: documents).largest[0].shown
    assert shown.excerpt == (Piece("both", "One\ntwo"),)


def test_documents_are_asked_for_once_and_each_only_once() -> None:
    asked: list[Sequence[tuple[str, str]]] = []

    def look(keys: Sequence[tuple[str, str]]) -> list[Json | None]:
        asked.append(keys)
        return [{"body": TEXT} for _ in keys]

    collector = Collector(setup(), most_groups=2, most_members=1)
    collector.add(group_of("a", 5))
    collector.add(group_of("b", 4))
    collector.add(group_of("c", 3))
    key = SharedKey("band 7", 9000, ("articles", "a-0"))
    [shown] = collector.report(NONE, look, [key]).shared_keys
    assert asked == [[("articles", "a-0"), ("articles", "a-4"), ("articles", "b-0"), ("articles", "b-3")]]
    assert shown == ShownKey(key, (Piece("both", TEXT),))


def test_nothing_is_asked_for_if_there_is_nothing_to_show() -> None:
    def look(keys: Sequence[tuple[str, str]]) -> list[Json | None]:
        raise AssertionError(keys)

    found = Collector(setup()).report(NONE, look)
    assert (found.sizes, found.similarities, found.distances, found.timeline, found.largest) == ((), None, (), None, ())


def test_members_with_one_id_in_several_indices_are_distinct() -> None:
    collector = Collector(setup())
    collector.add(group("a", member("1", index="x"), member("1", index="y")))
    documents = {"x": {"body": "the one"}, "y": {"body": "the other"}}
    [shown] = collector.report(NONE, lambda keys: [documents[index] for index, _ in keys]).largest[0].shown
    assert shown.excerpt == (Piece("both", "the one"),)
    assert not shown.duplicates[0].is_same


def test_everything_that_came_is_counted() -> None:
    found = report(
        [group_of("a", 2), group_of("b", 7)],
        found=[pairs([0.7, 1.0], [3, 0]), pairs([0.9], [2], [True])],
        dates=["2024-01-01", None],
        omitted=Omitted(unfingerprinted=3),
        others=11,
    )
    assert {each.least: (each.groups, each.duplicates) for each in found.sizes} == {
        2: (1, 1),
        3: (0, 0),
        4: (0, 0),
        5: (1, 6),
    }
    assert found.similarities
    assert (found.similarities.pairs, found.similarities.exact) == (3, 1)
    assert sum(each.pairs for each in found.distances) == 3
    assert found.timeline
    assert (found.timeline.periods[0].duplicates, found.timeline.undated) == (1, 1)
    assert (found.counts.documents, found.counts.duplicates) == (20, 7)
    assert found.omitted.unfingerprinted == 3


def test_a_scheme_without_minhash_has_no_similarities() -> None:
    criteria = Criteria.of(SCHEME, "simhash")
    found = report([group("a", member("1", None, 0), member("2", None, 3))], criteria=criteria)
    assert found.similarities is None


def test_a_report_is_a_value() -> None:
    found = report([group_of("a", 3)])
    assert found == report([group_of("a", 3)])
    with pytest.raises(FrozenInstanceError):
        found.counts = NONE  # type: ignore[misc]


def test_many_groups_take_no_more_memory_than_those_that_are_shown() -> None:
    collector = Collector(setup(), most_groups=5)
    for number in range(3000):
        collector.add(group_of(str(number), 2 + number % 50))
    kept = [ranked.group for ranked in collector._largest]
    assert len(kept) == 5
    assert all(len(each.members) == 5 for each in kept)
