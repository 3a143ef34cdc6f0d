"""An agent's filter is made of literal queries, or refused by name; it is copied, and never passed through.

The server refuses what is too much before it reaches an index, and what the index refuses in its words.

All that the tools do, they do with the one index that the server was started for.

What an agent is shown of documents and their differences has a limit.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult

from es_simhash import Index, Policy, Scheme, Scope
from es_simhash.engines.connect import connect
from es_simhash.errors import InputError
from es_simhash.integrations import mcp
from es_simhash.integrations.mcp import MOST_CHARACTERS, MOST_DOCUMENTS, differences, literal, server_of, shortened
from tests.support.fuzzing import check_message, damaged, json_values, nested
from tests.support.queries import reaching, wrapped

pytest.importorskip("mcp")

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
    deepest = wrapped(given_filter, mcp.MOST_DEPTH - (2 if name == "bool" else 1))
    assert literal(deepest) is not None
    assert given_filter == LITERAL[name]


def test_short_forms_are_written_out() -> None:
    assert literal(None) is None
    assert literal({"term": {"a": 1}}) == {"term": {"a": {"value": 1}}}
    assert literal({"prefix": {"a": "b"}}) == {"prefix": {"a": {"value": "b"}}}
    assert literal({"match": {"a": "b"}}) == {"match": {"a": {"query": "b"}}}
    assert literal({"ids": {"values": 7}}) == {"ids": {"values": ["7"]}}
    assert literal({"bool": {"must": {"term": {"a": 1}}}}) == {"bool": {"must": [{"term": {"a": {"value": 1}}}]}}


@pytest.mark.parametrize("depth", [0, 1, 3, mcp.MOST_DEPTH - 1, 40])
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


pytest.importorskip("mcp")

BODY = {"body": "The storm has left many houses along the coast without power since Monday night."}


@pytest.fixture
def index(tmp_path: Path) -> Any:
    with Index("news", tmp_path / "db", fields=["body"]) as index:
        index.init()
        yield index


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("find", {}, "A search was given 0 subjects. Give one of a text, an id, a document."),
        ("find", {"text": "x", "id": "1"}, "A search was given 2 subjects"),
        ("find", {"id": "1"}, "The index 'news' has no document '1'. Check the id."),
        ("find", {"text": "x" * (MOST_CHARACTERS + 1)}, "at most 1000000 characters"),
        ("find", {"text": "x", "size": 1000}, "less than or equal to 100"),
        ("find", {"text": "x", "similarity": 2}, "similarity"),
        ("find", {"text": "x", "similarity": "nearly"}, "similarity"),
        ("find", {"text": BODY["body"], "filter": {"no-such-query": {}}}, "no-such-query"),
        ("check", {"documents": []}, "at least 1 item"),
        ("check", {"documents": [BODY] * (MOST_DOCUMENTS + 1)}, "at most 100 items"),
        ("check", {"documents": [{"body": "x" * MOST_CHARACTERS}]}, "have 1,000,014 characters. Give at most"),
        ("explain", {"a": "1", "b": "2"}, "has no document"),
        ("groups", {"size": 0}, "greater than or equal to 1"),
        ("sample", {"pairs": 1000}, "less than or equal to 50"),
        ("add", {"documents": [{"body": "x" * MOST_CHARACTERS}]}, "have 1,000,014 characters. Give at most"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_reason(
    index: Index, tool: str, arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ToolError, match=problem.replace(".", r"\.")):
        asyncio.run(server_of(index, True).call_tool(tool, arguments))


def test_without_permission_there_is_not_a_tool_that_writes(index: Index) -> None:
    tools = {tool.name: tool.annotations for tool in asyncio.run(server_of(index, False).list_tools())}
    assert list(tools) == ["find", "check", "explain", "groups", "sample"]
    assert all(each and each.read_only_hint for each in tools.values())
    with pytest.raises(ToolError, match="Unknown tool: add"):
        asyncio.run(server_of(index, False).call_tool("add", {"documents": [BODY]}))
    [*_, add] = asyncio.run(server_of(index, True).list_tools())
    assert add.annotations
    assert (add.name, add.annotations.read_only_hint, add.annotations.destructive_hint) == ("add", False, False)


def answered(index: Index, tool: str, **arguments: Any) -> dict[str, Any]:
    reply = asyncio.run(server_of(index, True).call_tool(tool, arguments))
    assert isinstance(reply, CallToolResult)
    return reply.structured_content or {}


def test_a_field_of_a_document_is_not_taken_for_metadata(index: Index) -> None:
    """An agent cannot write elsewhere, or replace anything."""
    documents = [{"_id": "1", **BODY, "routing": "x", "version": 3}, {"_id": "1", "body": "another text of some words"}]
    added = answered(index, "add", documents=documents)
    assert added["written"] == 1
    assert [each["position"] for each in added["rejected"]] == [1]
    found = answered(index, "find", text=BODY["body"], fields=["version"])
    assert [match["document"] for match in found["matches"]] == [{**BODY, "version": 3}]


pytest.importorskip("mcp")

BODY_OF_INDEX = "The storm has left many houses along the coast without power since Monday night."
# Names that mean other indices where an index is named: patterns, lists, date math, other clusters.
NAMES = [
    "_all",
    "*",
    "salaries",
    "news,salaries",
    "<salaries-{now/d}>",
    "remote:salaries",
    "-news",
    "../salaries/_doc/1",
]


class Recording:
    """An engine that remembers what it was asked."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.asked: list[Any] = []

    def perform(self, operation: Any) -> Any:
        self.asked.append(operation)
        return self.engine.perform(operation)

    def close(self) -> None:
        self.engine.close()


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[tuple[Index, Recording]]:
    recording = Recording(connect(str(tmp_path / "db")))
    index = Index("news", recording, fields=["body"])
    index.init(policy=Policy(Scope(("tenant",))))
    index.add([{"_id": id_, "body": BODY_OF_INDEX, "tenant": "a"} for id_ in ("1", "2")], refresh=True)
    recording.asked.clear()
    yield index, recording
    recording.close()


@pytest.mark.parametrize("name", NAMES)
def test_no_argument_is_taken_for_the_name_of_an_index(recorded: tuple[Index, Recording], name: str) -> None:
    index, recording = recorded
    server = server_of(index, True)
    literal = {"bool": {"filter": [{"term": {"_index": name}}, {"exists": {"field": name}}]}}
    document = {
        "_id": name,
        "_index": name,
        "index": name,
        "_source": {"body": BODY_OF_INDEX},
        "body": BODY_OF_INDEX,
        "tenant": name,
    }
    calls: list[tuple[str, dict[str, Any]]] = [
        ("find", {"id": name}),
        ("find", {"text": BODY_OF_INDEX, "scope_values": {"tenant": name}, "fields": [name]}),
        ("find", {"id": "1", "filter": literal}),
        ("check", {"documents": [document]}),
        ("explain", {"a": name, "b": "1"}),
        ("groups", {"filter": literal, "fields": [name]}),
        ("sample", {"filter": literal}),
        ("add", {"documents": [document]}),
        ("find", {"text": BODY_OF_INDEX, "similarity": 0.5, "index": name, "sort": name, "source": name}),
        ("groups", {"index": name}),
    ]
    for tool, arguments in calls:
        with suppress(ToolError):
            asyncio.run(server.call_tool(tool, arguments))
    assert {type(each).__name__ for each in recording.asked} >= {"Search", "GetDocuments", "Bulk", "Sample", "Count"}
    for operation in recording.asked:
        named = getattr(operation, "index", None)
        assert named in (None, "news") or named == ["news"], operation
    actions = [action for each in recording.asked for action in asdict(each).get("actions", ())]
    assert all(action["index"] in (None, "news") for action in actions)
    assert actions


pytest.importorskip("mcp")

STORM = "The storm has left many houses along the coast without power since Monday night."


def test_long_values_are_cut_and_say_so() -> None:
    short = {"a": "x" * 500, "b": [1, None], "c": {"d": 1.5}}
    assert shortened(short) == short
    assert shortened({"a": ["x" * 1501]}) == {"a": ["x" * 500 + "… (1,001 more characters)"]}
    assert shortened({"a": list(range(30))}) == {"a": list(range(20))}


def test_differences_are_marked_with_some_context() -> None:
    assert differences(Scheme(), STORM, STORM) == ""
    assert differences(Scheme(), STORM, STORM.replace("Monday", "Sunday")).endswith(
        "power since [-Monday-]{+Sunday+} night."
    )
    far = " ".join(f"word{n}" for n in range(200))
    marked = differences(Scheme(), f"{far} Monday", f"{far} Sunday")
    assert " characters … " in marked
    assert marked.endswith("[-Monday-]{+Sunday+}")
    assert len(marked) < 200
    assert len(differences(Scheme(), far, " ".join(f"other{n}" for n in range(9000)))) < 3000
