"""An agent's filter is made of literal queries, or refused by name; it is copied, and never passed through."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import InputError

pytest.importorskip("mcp")

from es_simhash.integrations.mcp import filters
from es_simhash.integrations.mcp.filters import literal
from tests.support.fuzzing import check_message, damaged, json_values, nested
from tests.support.queries import reaching, wrapped

REACHING = reaching("salaries")
LITERAL: dict[str, Any] = {
    "term": {"term": {"lang": {"value": "en"}}},
    "terms": {"terms": {"lang": ["en", 7, 0.5, True, ""]}},
    "range": {"range": {"at": {"gte": "now-7d/d", "lt": 5, "format": "strict_date", "time_zone": "+01:00"}}},
    "exists": {"exists": {"field": "meta.tenant"}},
    "prefix": {"prefix": {"lang": {"value": "e"}}},
    "match": {"match": {"body": {"query": "a b", "operator": "and", "minimum_should_match": "75%"}}},
    "ids": {"ids": {"values": ["1", "é"]}},
    "bool": {
        "bool": {
            "must": [{"term": {"a": {"value": 1}}}],
            "filter": [{"exists": {"field": "a"}}],
            "should": [{"ids": {"values": ["1"]}}, {"prefix": {"a": {"value": ""}}}],
            "must_not": [],
            "minimum_should_match": 1,
        }
    },
}


@pytest.mark.parametrize("name", LITERAL)
def test_literal_queries_are_copied(name: str) -> None:
    given_filter = copy.deepcopy(LITERAL[name])
    assert literal(given_filter) == LITERAL[name]
    deepest = wrapped(given_filter, filters.MOST_DEPTH - (2 if name == "bool" else 1))
    assert literal(deepest) is not None
    assert given_filter == LITERAL[name]


def test_short_forms_are_written_out() -> None:
    assert literal(None) is None
    assert literal({"term": {"a": 1}}) == {"term": {"a": {"value": 1}}}
    assert literal({"prefix": {"a": "b"}}) == {"prefix": {"a": {"value": "b"}}}
    assert literal({"match": {"a": "b"}}) == {"match": {"a": {"query": "b"}}}
    assert literal({"ids": {"values": 7}}) == {"ids": {"values": ["7"]}}
    assert literal({"bool": {"must": {"term": {"a": 1}}}}) == {"bool": {"must": [{"term": {"a": {"value": 1}}}]}}


@pytest.mark.parametrize("depth", [0, 1, 3, filters.MOST_DEPTH - 1, 40])
@pytest.mark.parametrize("name", REACHING)
def test_what_reaches_further_is_refused_at_any_depth(name: str, depth: int) -> None:
    with pytest.raises(InputError) as refused:
        literal(wrapped(REACHING[name], depth))
    check_message(refused.value)


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        ({"more_like_this": {}}, "cannot have the query 'more_like_this'. Use only: term, terms, range, exist"),
        (
            {"terms": {"a": {"index": "b", "id": "1", "path": "c"}}},
            "values from other documents or indices are",
        ),
        (
            {"match": {"a": {"query": "b", "fuzziness": 2}}},
            "'match' on 'a' cannot have 'fuzziness' here. Use only: ",
        ),
        ({"match": {"a": {}}}, "'match' on 'a' lacks 'query'"),
        ({"match": {"a": {"query": "b", "operator": "xor"}}}, "either 'and' or 'or'"),
        ({"match": {"a": {"query": "b", "minimum_should_match": "2<75%"}}}, "is a number, or a share such as '75%'"),
        ({"match": {"a": {"query": "b", "minimum_should_match": 10**5000}}}, "is a number, or a share"),
        ({"term": {"a": {"b": "c"}}}, "'term' on 'a' cannot have 'b'"),
        ({"term": {"a": {"value": {"b": "c"}}}}, "not an object with 'b'"),
        ({"term": {"a": None}}, "not null"),
        ({"term": {"a": float("nan")}}, "not another number"),
        ({"term": {"a": 2**64}}, "numbers of up to 64 bits"),
        ({"term": {"a": "\ud800"}}, "lone surrogate"),
        ({"term": {"\ud800": "a"}}, "lone surrogate"),
        ({"term": {"": "a"}}, "needs the name of a field"),
        ({"term": ["a"]}, "an object with one field, not a list"),
        ({"prefix": {"a": 7}}, "takes a text"),
        ({"range": {"a": {"gte": 1, "format": 7}}}, "format of the query 'range' is a text"),
        ({"range": {"a": 7}}, "'range' on 'a' is an object with gt, gte, lt, lte"),
        ({"exists": {"field": ["a"]}}, "which is a text"),
        ([{"term": {"a": 1}}], "The filter is an object with one kind of query, not a list"),
        ({"term": {"a": "x" * 1001}}, "has 1,001 characters. Give at most 1,000"),
        ({"term": {"a" * 513: "x"}}, "has 513 characters. Give at most 512"),
        ({"terms": {"a": list(range(1001))}}, "more than 1,000 values"),
        ({"terms": {"a": ["é" * 1000] * 100}}, "more than 65,536 bytes"),
        ({"bool": {"must": [{"exists": {"field": "a"}}] * 100}}, "more than 100 queries"),
        (nested(200, "bool"), "The query"),
    ],
)
def test_a_refusal_names_what_is_wrong_and_what_is_possible(filter: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        literal(filter)
    assert message in str(refused.value)
    check_message(refused.value)


def test_a_filter_that_is_nested_a_thousand_times_is_refused() -> None:
    with pytest.raises(InputError, match="more than 8 in one another"):
        literal(wrapped({"term": {"a": 1}}, 3000))


KEYS = ["term", "terms", "bool", "must", "filter", "index", "id", "path", "query", "script", "value", "match", "like"]
_STRAY = json_values(KEYS, ["salaries"])


@given(_STRAY | st.sampled_from(list(LITERAL.values())).flatmap(lambda valid: damaged(valid, _STRAY)))
def test_any_filter_is_literal_or_refused(filter: Any) -> None:
    try:
        found = literal(filter)
    except InputError as error:
        check_message(error)
        return
    if found is not None:
        # The result is literal itself, and all its queries are known.
        assert literal(found) == found
        check_literal(found)


def check_literal(query: Any) -> None:
    [(kind, body)] = query.items()
    assert kind in LITERAL
    if kind == "bool":
        for name, clauses in body.items():
            if name != "minimum_should_match":
                for each in clauses:
                    check_literal(each)
    elif kind in ("exists", "ids"):
        assert body.keys() <= {"field", "values"}
    else:
        [(_, options)] = body.items()
        values = options if kind == "terms" else options.values()
        assert all(isinstance(value, str | int | float) for value in values)
