"""What docs/pipeline.md has people type and send works as it stands there, on real servers."""

from __future__ import annotations

import json
import re
import shlex
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.nodes import Node
from tests.test_cli_commands import run
from tests.whole_indices import ENGINES

PAGE = (Path(__file__).parents[1] / "docs" / "pipeline.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(console|http)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(params=ENGINES[1:])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node


@pytest.fixture
def name(node: Node) -> Iterator[str]:
    """What stands for the index of the page."""
    name = f"page-{uuid.uuid4().hex[:10]}"
    yield name
    for path in (name, f"_ingest/pipeline/es-simhash-{name}", "_ingest/pipeline/ours-at-the-end"):
        assert node.request("DELETE", f"/{path}").status == 200


def test_the_page(tmp_path: Path, node: Node, name: str) -> None:
    replies: list[Any] = []
    for kind, block in BLOCKS:
        text = block.replace("articles", name)
        if kind == "console":
            commands = [line.removeprefix("$ es-simhash ") for line in text.splitlines() if "es-simhash" in line]
            for command in commands:
                run(*shlex.split(command), cwd=tmp_path, ES_SIMHASH_URL=node.url)
        else:
            for request in re.findall(r"^([A-Z]+) (\S+)\n((?:[^A-Z\n].*\n)*)", text, re.MULTILINE):
                method, path, body = request
                reply = node.request(method, path, json.loads(body) if body else None)
                assert reply.status < 300, reply
                replies.append(reply.body)
    _, found, _ = replies
    assert found["_source"]["dedup"]["status"] == "ok"
    assert re.fullmatch("[0-9a-f]{16}", found["_source"]["dedup"]["simhash"])
