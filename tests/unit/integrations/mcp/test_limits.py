"""The server refuses what is too much before it reaches an index, and what the index refuses in its words."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Index

pytest.importorskip("mcp")

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult

from es_simhash.integrations.mcp.server import MOST_CHARACTERS, MOST_DOCUMENTS, server_of

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
