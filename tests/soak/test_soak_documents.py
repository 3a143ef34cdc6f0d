"""Documents and mappings that are out of the ordinary."""

from __future__ import annotations

import random

import pytest

from tests.nodes import Node
from tests.soak.conftest import Begin, Fill
from tests.soak.live_index import LiveIndex

MEGABYTES = 20


def put(index: LiveIndex, id_: str, source: object) -> None:
    reply = index.node.request("PUT", f"/{index.name}/_doc/{id_}?refresh=true", source)
    assert reply.status == 201, reply


def get(index: LiveIndex, id_: str) -> dict[str, object]:
    source: dict[str, object] = index.node.request("GET", f"/{index.name}/_doc/{id_}").body["_source"]
    return source


@pytest.fixture(scope="module")
def text() -> str:
    """A text of 20 MB."""
    words = ["".join(random.Random(i).choices("abcdefghij", k=8)) for i in range(1_000)]
    return " ".join(random.Random(0).choices(words, k=MEGABYTES * 1_000_000 // 9))


def test_a_document_of_20_mb_and_one_without_the_fields(node: Node, fill: Fill, begin: Begin, text: str) -> None:
    index = fill(node, 300)
    put(index, "300", {"title": "long", "body": text})
    put(index, "301", {"number": 301})
    done = begin(index).ended()
    assert (done["written"], done["rejected"]) == (302, 0)
    long, without = get(index, "300"), get(index, "301")
    assert long["body"] == text
    assert long["dedup"]["status"] == "ok"  # type: ignore[index]
    assert without["dedup"]["status"] == "empty"  # type: ignore[index]
    for id_ in ("300", "301"):
        node.request("DELETE", f"/{index.name}/_doc/{id_}")
    assert index.wrong() == []


def test_a_mapping_in_conflict(node: Node, fill: Fill, begin: Begin) -> None:
    index = fill(node, 10)
    conflict = {"properties": {"dedup": {"properties": {"simhash": {"type": "long"}}}}}
    assert node.request("PUT", f"/{index.name}/_mapping", conflict).status == 200
    command = begin(index)
    command.ended(3)
    assert "has a field 'dedup.simhash' with type: long, where type: keyword is needed" in command.said
    assert index.written == 0
