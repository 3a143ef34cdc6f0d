"""What a scope needs of mappings, and what a server is asked to leave out."""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash import Scope
from es_simhash._core.json_codec import Json
from es_simhash.errors import MappingError
from es_simhash.plans.scope_filters import ScopeFilters, check_scope

WITHIN, ACROSS = Scope(("f",)), Scope((), ("f",))
MOMENT = 1_772_366_400_000  # 2026-03-01T12:00Z
KEYWORD = {"type": "keyword"}


def mapping(field: Json | None, **others: Any) -> Json:
    return {"properties": {"f": field} if field else {}, **others}


def filters(scope: Scope | None, value: Any, *mappings: Json) -> list[Json]:
    assert scope
    values = scope.values_of({"f": value})
    assert values
    return ScopeFilters({str(i): each for i, each in enumerate(mappings)}, scope).of(values)


def excluded(value: Any, *mappings: Json) -> Json:
    """The fields by which documents are left out, with the values."""
    found: Json = {}
    for each in filters(ACROSS, value, *mappings):
        [query] = each["bool"]["must_not"]
        found |= query["terms"]
    return found


@pytest.mark.parametrize(
    ("field", "value", "within", "across"),
    [
        (KEYWORD, "a", ["f"], ["f"]),
        ({"type": "constant_keyword"}, "a", ["f"], ["f"]),
        ({"type": "keyword", "normalizer": "lowercase"}, "A", ["f"], []),
        ({"type": "keyword", "ignore_above": 3}, "abcd", [], []),
        ({"type": "keyword", "ignore_above": 3}, "a\U0001f600", ["f"], ["f"]),
        ({"type": "keyword", "ignore_above": 3}, "ab\U0001f600", [], []),
        (KEYWORD, "a" * 1001, [], []),
        (KEYWORD, "\ud800", [], []),
        ({"type": "keyword", "index": False}, "a", [], []),
        ({"type": "text"}, "a", [], []),
        ({"type": "text", "fields": {"raw": KEYWORD}}, "a", ["f.raw"], ["f.raw"]),
        ({"type": "text", "fields": {"en": {"type": "text"}}}, "a", [], []),
        ({"type": "boolean"}, True, ["f"], ["f"]),
        ({"type": "boolean"}, False, ["f"], []),
        ({"type": "boolean"}, "", [], []),
        ({"type": "long"}, 5, ["f"], []),
        ({"type": "long"}, "05", [], []),
        ({"type": "long"}, 5.5, [], []),
        ({"type": "byte"}, 200, [], []),
        ({"type": "wildcard"}, "a", [], []),
        (None, "a", [], []),
    ],
)
def test_a_server_filters_by_what_it_holds_exactly(
    field: Json | None, value: Any, within: list[str], across: list[str]
) -> None:
    text = {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    assert filters(WITHIN, value, mapping(field)) == [{"term": {name: text}} for name in within]
    assert excluded(value, mapping(field)) == {name: [text] for name in across}


def test_each_value_that_can_be_asked_for_is() -> None:
    field = {"type": "keyword", "ignore_above": 2}
    assert filters(WITHIN, ["b", "abc", "a"], mapping(field)) == [{"term": {"f": "a"}}, {"term": {"f": "b"}}]
    assert excluded(["b", "abc", "a"], mapping(field)) == {"f": ["a", "b"]}


def test_of_many_values_some_are_enough() -> None:
    many = [f"{i:04}" for i in range(2000)]
    assert [each["term"]["f"] for each in filters(WITHIN, many, mapping(KEYWORD))] == many[:50]
    assert excluded(many, mapping(KEYWORD)) == {"f": many}


def test_a_field_with_copies_of_others_finds_more_than_documents_have_there() -> None:
    there = {"properties": {"f": KEYWORD, "g": {"type": "keyword", "copy_to": "f"}}}
    assert filters(WITHIN, "a", there) == [{"term": {"f": "a"}}]
    assert excluded("a", there) == {}


def test_without_a_mapping_nothing_is_asked() -> None:
    assert filters(Scope.of("f", window="1d", date="f"), MOMENT) == []


def test_indices_that_hold_a_field_differently_are_not_filtered() -> None:
    text = {"type": "text", "fields": {"raw": KEYWORD}}
    assert filters(WITHIN, "a", mapping(KEYWORD), mapping(KEYWORD)) == [{"term": {"f": "a"}}]
    assert filters(WITHIN, "a", mapping(KEYWORD), mapping(text)) == []
    assert filters(WITHIN, "a", mapping(KEYWORD), mapping(None)) == []


@pytest.mark.parametrize(
    "other",
    [
        {"properties": {"f": {"type": "nested", "properties": {"g": KEYWORD}}}},
        {"properties": {"f": {"properties": {"g": KEYWORD}}}, "runtime": {"f.g": {"type": "keyword"}}},
        {"properties": {"f": {"properties": {"g": KEYWORD}}}, "derived": {"f.g": {"type": "keyword"}}},
    ],
)
def test_queries_that_look_elsewhere_are_not_made(other: Json) -> None:
    scope = Scope(("f.g",))
    values = scope.values_of({"f": {"g": "a"}})
    assert values
    plain = {"properties": {"f": {"properties": {"g": KEYWORD}}}}
    assert ScopeFilters({"i": plain}, scope).of(values) == [{"term": {"f.g": "a"}}]
    assert ScopeFilters({"i": other}, scope).of(values) == []


@pytest.mark.parametrize(
    ("field", "moment", "is_asked"),
    [
        ({"type": "date"}, MOMENT, True),
        ({"type": "date_nanos"}, MOMENT, True),
        ({"type": "date", "format": "yyyy/MM/dd"}, MOMENT, False),
        ({"type": "date", "index": False}, MOMENT, False),
        ({"type": "date", "ignore_malformed": True}, MOMENT, False),
        ({"type": "date"}, 2026, False),
        ({"type": "date_nanos"}, 10**13, False),
        ({"type": "long"}, MOMENT, False),
        (None, MOMENT, False),
    ],
)
def test_a_window_is_a_range_with_a_margin(field: Json | None, moment: int, is_asked: bool) -> None:
    limits = {"gte": "2026-02-28T11:59:59.999Z", "lte": "2026-03-02T12:00:00.001Z"}
    found = filters(Scope.of(window="1d", date="f"), moment, mapping(field))
    assert found == ([{"range": {"f": limits}}] if is_asked else [])


@pytest.mark.parametrize(
    ("there", "message"),
    [
        (mapping({"type": "alias", "path": "g"}), "an alias of 'g'"),
        (mapping(KEYWORD, _source={"enabled": False}), "leaves it out"),
        (mapping(KEYWORD, _source={"excludes": ["f"]}), "leaves it out"),
        (mapping(KEYWORD, _source={"includes": ["g"]}), "leaves it out"),
    ],
)
def test_a_field_that_documents_do_not_show_is_refused(there: Json, message: str) -> None:
    with pytest.raises(MappingError, match=f"'f' of the scope cannot be read in the index 'news'.*{message}"):
        check_scope({"other": mapping(KEYWORD), "news": there}, WITHIN)
    check_scope({"news": mapping(KEYWORD, _source={"excludes": ["g*"], "includes": ["f*"]})}, WITHIN)


def test_dates_in_seconds_are_refused() -> None:
    scope = Scope.of(window="1d", date="f")
    assert scope
    with pytest.raises(MappingError, match="holds seconds"):
        check_scope({"i": mapping({"type": "date", "format": "epoch_second||iso8601"})}, scope)
    check_scope({"i": mapping({"type": "date", "format": "yyyy/MM/dd"})}, scope)
