"""All that the tools do, they do with the one index that the server was started for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Index, Policy, Scope
from es_simhash.engines.connect import connect

pytest.importorskip("mcp")

from mcp.server.mcpserver.exceptions import ToolError

from es_simhash.integrations.mcp.server import server_of

BODY = "The storm has left many houses along the coast without power since Monday night."
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
    index.add([{"_id": id_, "body": BODY, "tenant": "a"} for id_ in ("1", "2")], refresh=True)
    recording.asked.clear()
    yield index, recording
    recording.close()


@pytest.mark.parametrize("name", NAMES)
def test_no_argument_is_taken_for_the_name_of_an_index(recorded: tuple[Index, Recording], name: str) -> None:
    index, recording = recorded
    server = server_of(index, True)
    literal = {"bool": {"filter": [{"term": {"_index": name}}, {"exists": {"field": name}}]}}
    document = {"_id": name, "_index": name, "index": name, "_source": {"body": BODY}, "body": BODY, "tenant": name}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("find", {"id": name}),
        ("find", {"text": BODY, "scope_values": {"tenant": name}, "fields": [name]}),
        ("find", {"id": "1", "filter": literal}),
        ("check", {"documents": [document]}),
        ("explain", {"a": name, "b": "1"}),
        ("groups", {"filter": literal, "fields": [name]}),
        ("sample", {"filter": literal}),
        ("add", {"documents": [document]}),
        ("find", {"text": BODY, "similarity": 0.5, "index": name, "sort": name, "source": name}),
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
