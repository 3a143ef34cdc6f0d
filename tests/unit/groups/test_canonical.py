"""Which document of a group stands for it, and what groups are called."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.dates import timestamp
from es_simhash._core.json_codec import Json
from es_simhash.errors import InputError
from es_simhash.groups.canonical import Canonical, canonical_named
from es_simhash.groups.of_index.stored_fingerprints import names

DAY = 86_400.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1970-01-02", DAY),
        ("1970-01-02T00:00:00Z", DAY),
        ("1970-01-02T02:00:00+02:00", DAY),
        ("1970", 0.0),
        ("1970-02", 31 * DAY),
        (86_400_000, DAY),
        ("864000000000", 10_000 * DAY),
        (-1000, -1.0),
        (True, None),
        (float("nan"), None),
        ("", None),
        ("soon", None),
        ("²" * 9, None),
        ("9" * 400, None),
        (None, None),
        (["1970"], None),
    ],
)
def test_a_date_is_a_moment_whatever_its_form(value: Any, expected: float | None) -> None:
    assert timestamp(value) == expected


def ordered(keep: Canonical, documents: list[Json]) -> list[int]:
    return sorted(range(len(documents)), key=lambda i: (keep.rank(documents[i]), i))


def test_documents_without_a_date_come_last_either_way() -> None:
    documents: list[Json] = [{"at": "x"}, {"at": "2026-01-02"}, {}, {"at": ["2025-01-01", "2027-01-01"]}]
    assert ordered(Canonical.oldest("at"), documents) == [3, 1, 0, 2]
    assert ordered(Canonical.newest("at"), documents) == [1, 3, 0, 2]


def test_an_order_of_values_puts_others_last() -> None:
    documents: list[Json] = [{"a": {"b": "z"}}, {"a": {"b": "y"}}, {}, {"a.b": ["q", "x"]}]
    assert ordered(canonical_named("order:a.b=x,y", ["body"]), documents) == [3, 1, 0, 2]


def test_the_longest_counts_all_text_fields() -> None:
    documents: list[Json] = [{"title": "abc"}, {"title": "a", "body": ["bc", "de"]}, {"other": "x" * 99}]
    assert ordered(canonical_named("longest", ["title", "body"]), documents) == [1, 0, 2]


@pytest.mark.parametrize("text", ["", "last", "oldest", "oldest:", "order:a", "order:=x", "order:a=", "first:x"])
def test_what_names_no_order_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="Choose from: first, longest"):
        canonical_named(text, ["body"])


def named(groups: dict[str, str]) -> list[str]:
    """Names of groups given by their first document, and a letter for each name that a member has."""
    return names([(("index", first), Counter(stored)) for first, stored in groups.items()])


def test_a_new_group_is_called_by_its_first_document() -> None:
    first, second = named({"a": "", "b": ""})
    assert first != second
    assert named({"b": "", "a": ""}) == [second, first]
    assert len(first) == 12


def test_a_group_keeps_the_name_of_most_of_its_members() -> None:
    assert named({"a": "XXY"}) == ["X"]
    assert named({"a": "XXYYY", "b": "ZZ"}) == ["Y", "Z"]
    # Two that were one: the larger part keeps the name.
    larger, smaller = named({"b": "XXX", "a": "XX"})
    assert (larger, smaller == "X") == ("X", False)
    assert smaller == named({"a": ""})[0]


def test_a_name_that_is_taken_is_given_to_no_other() -> None:
    [usual] = named({"a": ""})
    taken, new = names([(("index", "b"), Counter({usual: 2})), (("index", "a"), Counter())])
    assert taken == usual
    assert new != usual
    assert names([(("index", "a"), Counter())], [usual]) == [new]


@given(st.lists(st.text("PQRS", max_size=5), max_size=8))
def test_names_are_unlike_each_other_and_once_given_they_stay(stored: list[str]) -> None:
    groups = {str(i): each for i, each in enumerate(stored)}
    given = named(groups)
    assert len(set(given)) == len(given)
    again = names([(("index", first), Counter({name: 2})) for first, name in zip(groups, given, strict=True)])
    assert again == given


@given(st.lists(st.text("PQR", min_size=1, max_size=4), min_size=1, max_size=6), st.data())
def test_a_run_that_was_stopped_half_way_comes_to_the_same_names(stored: list[str], data: st.DataObject) -> None:
    groups = {str(i): each for i, each in enumerate(stored)}
    given = named(groups)
    half = []
    for (first, letters), name in zip(groups.items(), given, strict=True):
        written = data.draw(st.integers(0, len(letters)))
        half.append((("index", first), Counter([name] * written + list(letters[written:]))))
    assert names(half) == given
