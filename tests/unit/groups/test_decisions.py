"""Grouping obeys what people have decided, by laws that hold of random texts and decisions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from es_simhash import dedup
from es_simhash.documents.decisions import Decided, Decision
from es_simhash.documents.files.decision_file import DecisionFile
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_texts import TextCorpus
from tests.support.random_corpus import corpus

Row = dict[str, str]

TEXT = "The ferry to the island leaves at noon, weather permitting, and returns before the lights are lit. "


def rows_of(texts: Sequence[str]) -> list[Row]:
    return [{"id": str(place), "text": text} for place, text in enumerate(texts)]


def grouped(rows: Sequence[Row], decisions: Sequence[Decision], similarity: float = 0.5) -> set[frozenset[str]]:
    with dedup(rows, decisions=decisions, similarity=similarity) as found:
        return {frozenset(ids) for ids in found.ids()}


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Row], list[Decision]]:
    texts = corpus(draw(st.integers(0, 10_000)))
    # Copies are what makes it hard.
    texts += draw(st.lists(st.sampled_from(texts), max_size=4)) if texts else []
    ids = st.integers(0, max(1, len(texts) - 1)).map(str)
    pairs = st.tuples(ids, ids, st.booleans()).filter(lambda pair: pair[0] != pair[1])
    decisions = [Decision.between(a, b, same=same) for a, b, same in draw(st.lists(pairs, max_size=6))]
    decisions += [Decision((("", id_),), "alone") for id_ in draw(st.lists(ids, max_size=2))]
    return rows_of(texts), decisions


def with_text(rows: Sequence[Row]) -> set[str]:
    """The ids of the documents that have something to compare; the others are in no group."""
    return {row["id"] for row in rows if row["text"].strip()}


def linked_components(rows: Sequence[Row], decided: Decided) -> list[set[str]]:
    """What the texts and the decisions on the same documents connect, without what is alone."""
    stay = [row for row in rows if ("", row["id"]) not in decided.alone]
    here = with_text(stay)
    links: list[set[str]] = [{a, b} for (_, a), (_, b) in decided.same if {a, b} <= here]
    components: list[set[str]] = []
    for linked in [*map(set, grouped(stay, ())), *links]:
        touched = [each for each in components if each & linked]
        components = [each for each in components if not each & linked] + [linked.union(*touched)]
    return components


@given(cases())
def test_groups_are_what_links_connect_parted_only_between_different_documents(
    case: tuple[list[Row], list[Decision]],
) -> None:
    rows, decisions = case
    decided, found = Decided(decisions), grouped(rows, decisions)
    here = with_text(rows)
    different = [{a, b} for (_, a), (_, b) in decided.different if {a, b} <= here]
    assert not any(pair <= group for pair in different for group in found)
    assert not any(("", id_) in decided.alone for group in found for id_ in group)
    for component in linked_components(rows, decided):
        parts = [group for group in found if group & component]
        assert all(group <= component for group in parts)
        if not any(pair <= component for pair in different):
            assert parts == [component]
    if not decided.conflicts:
        for (_, a), (_, b) in decided.same:
            assert not {a, b} <= here or any({a, b} <= group for group in found)


@given(cases(), st.randoms(use_true_random=False))
def test_groups_do_not_depend_on_the_order_of_documents(
    case: tuple[list[Row], list[Decision]], chosen: random.Random
) -> None:
    rows, decisions = case
    shuffled = chosen.sample(rows, len(rows))
    assert grouped(shuffled, decisions) == grouped(rows, decisions)


@given(cases())
def test_of_documents_decided_to_be_the_same_one_at_most_is_kept(case: tuple[list[Row], list[Decision]]) -> None:
    rows, decisions = case
    decided = Decided(decisions)
    here = with_text(rows)
    with dedup(rows, decisions=decisions) as found:
        kept = {row["id"] for row in found.kept}
    if not decided.different and not decided.alone:
        for (_, a), (_, b) in decided.same:
            assert not {a, b} <= here or not {a, b} <= kept


@given(cases())
def test_decisions_hold_at_a_higher_similarity(case: tuple[list[Row], list[Decision]]) -> None:
    rows, decisions = case
    with dedup(rows, decisions=decisions, similarity=0.5) as found:
        assert members_of(found.at(0.5)) == members_of(found)
        higher = [set(ids) for ids in found.at(0.7).ids()]
    decided = Decided(decisions)
    assert not any({a, b} <= group for (_, a), (_, b) in decided.different for group in higher)
    assert not any(("", id_) in decided.alone for group in higher for id_ in group)


@given(cases(), st.data())
def test_groups_without_a_document_are_those_of_the_others(
    case: tuple[list[Row], list[Decision]], data: st.DataObject
) -> None:
    rows, decisions = case
    gone = data.draw(st.sets(st.sampled_from(range(len(rows))), max_size=3)) if rows else set()
    with dedup(rows, decisions=decisions) as found:
        found.leave_out(gone)
        left = members_of(found)
    with dedup([row for place, row in enumerate(rows) if place not in gone], decisions=decisions) as others:
        assert left == members_of(others)


def members_of(groups: Groups[TextCorpus]) -> set[frozenset[tuple[str, str]]]:
    return {frozenset((each.id, each.canonical) for each in group.members) for group in groups}


def test_copies_of_one_text_that_are_different_are_parted() -> None:
    rows = rows_of([TEXT * 3] * 5)
    found = grouped(rows, [Decision.between("0", "1", same=False)])
    assert len(found) == 1
    assert next(iter(found)) in ({"0", "2", "3", "4"}, {"1", "2", "3", "4"})


def test_the_copies_of_a_document_that_is_alone_stay_together() -> None:
    assert grouped(rows_of([TEXT * 3] * 5), [Decision((("", "0"),), "alone")]) == {frozenset("1234")}


def test_a_link_by_people_makes_a_duplicate_of_an_unlike_text() -> None:
    rows = rows_of([TEXT * 3, TEXT * 3, "Trains stood still for hours, since snow had covered the tracks."])
    with dedup(rows, decisions=[Decision.between("2", "1", same=True)]) as found:
        assert [(each.id, each.canonical) for each in found.groups[0].members] == [("0", "0"), ("1", "0"), ("2", "0")]
        assert sum(map(len, found.pairs())) == found.counts.near + found.counts.identical == 2


def test_a_duplicate_of_a_document_stays_one_when_that_is_decided_to_be_the_same_as_another() -> None:
    rows = rows_of(["Trains stood still for hours, since snow had covered the tracks.", TEXT * 3, TEXT * 3 + "Soon."])
    with dedup(rows, decisions=[Decision.between("0", "1", same=True)]) as found:
        assert [row["id"] for row in found.kept] == ["0"]


def test_the_document_that_was_chosen_stands_for_its_group() -> None:
    rows = rows_of([TEXT * 3] * 3)
    with dedup(rows, decisions=[Decision((("", "2"),), "canonical")]) as found:
        assert found.groups[0].canonical.id == "2"


def test_contradictions_are_named_and_documents_stay_apart() -> None:
    rows = rows_of([TEXT * 3] * 3)
    chosen = [Decision((("", id_),), "canonical") for id_ in "01"]
    with dedup(rows, decisions=chosen) as found:
        assert "'0', '1' are to stand for one group." in str(found.counts.notes)
    both = [Decision.between("0", "1", same=False, who="Mia"), Decision.between("0", "1", same=True, who="Ben")]
    with dedup(rows, decisions=both) as found:
        assert not any({"0", "1"} <= set(ids) for ids in found.ids())
        assert "'0' and '1' are the same (Ben), and different (Mia)." in str(found.counts.notes)


def test_a_later_decision_of_the_same_person_replaces_the_earlier() -> None:
    rows = rows_of([TEXT * 3] * 2)
    decisions = [Decision.between("0", "1", same=False)]
    assert not grouped(rows, decisions)
    assert grouped(rows, [*decisions, decisions[0].withdrawn()]) == {frozenset("01")}
    assert grouped(rows, [*decisions, Decision.between("1", "0", same=True)]) == {frozenset("01")}


def test_decisions_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    DecisionFile(path).add([Decision.between("0", "1", same=False)])
    with dedup(rows_of([TEXT * 3] * 2), decisions=path) as found:
        assert not len(found)


def test_decisions_on_documents_that_are_not_here_change_nothing() -> None:
    rows = rows_of([TEXT * 3] * 2)
    with dedup(rows, decisions=[Decision.between("0", "9", same=False)]) as found:
        assert len(found) == 1
        assert found.counts.notes == [
            "1 decision is about documents that are not here or have nothing to compare, and left out."
        ]


def test_a_document_without_text_stays_in_no_group_whatever_was_decided() -> None:
    rows = [*rows_of([TEXT * 3] * 2), {"id": "2", "text": " "}]
    with dedup(rows, decisions=[Decision.between("0", "2", same=True), Decision.about("2", "canonical")]) as found:
        assert list(found.ids()) == [["0", "1"]]
        assert found.counts.decisions_elsewhere == 2


def test_decisions_that_a_conflict_overrules_make_no_duplicates() -> None:
    other, short = "Trains stood still for hours, since snow had covered the tracks.", TEXT * 3 + "Soon."
    rows = rows_of([other, TEXT * 3, short])
    same = [Decision.between("0", "1", same=True), Decision.between("1", "2", same=True)]
    with dedup(rows, decisions=[*same, Decision.between("0", "1", same=False, who="Mia")]) as found:
        assert list(found.ids()) == [["1", "2"]]
