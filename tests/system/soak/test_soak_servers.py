"""Servers that go away, have too much to do, or have no room left: nothing is lost, and the reason is reported."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.support.pytest_nodes import SMALL, own_node
from tests.system.soak.command import Command
from tests.system.soak.conftest import Begin, Fill
from tests.system.soak.full_disk import await_true, is_blocked, set_free_space
from tests.system.soak.live_index import LiveIndex
from tests.system.soak.others import Writer
from tools.nodes import Node

MEGABYTES = 20


@pytest.fixture(scope="module", params=["opensearch", pytest.param("elasticsearch", marks=pytest.mark.long)])
def small_node(request: pytest.FixtureRequest) -> Iterator[Node]:
    """Lend a node that is easily overloaded."""
    if request.param == "opensearch":
        yield request.getfixturevalue("small_opensearch_node")
        return
    with own_node(request.param, settings=SMALL) as node:
        yield node


@pytest.mark.nightly
def test_a_server_that_is_restarted_in_the_middle(small_node: Node, fill: Fill, begin: Begin) -> None:
    index = fill(small_node)
    command = begin(index)
    command.await_written(index.count / 3)
    small_node.restart()
    done = command.ended()
    assert done["done"] >= index.count
    assert done["rejected"] == 0
    assert index.wrong() == []
    assert index.written == index.count


@pytest.mark.long  # whether requests meet in the queue depends on how busy the machine is
def test_a_server_that_refuses_for_now(small_node: Node, fill: Fill, begin: Begin) -> None:
    index = fill(small_node, shards=5)
    writer = Writer(index, index.some(0.0005), span=0.1)  # few, since they are refused as well
    command = begin(index, "--workers", "4", "--max-rate", str(index.count // 6))
    writer.start()
    done = command.ended()
    writer.ended()
    assert done["refusals"] > 0
    assert done["rejected"] == 0
    assert index.wrong() == []


def test_a_server_without_room(node: Node, fill: Fill, begin: Begin) -> None:
    index = fill(node, 1_500)
    block = "index.blocks.read_only_allow_delete"
    command = begin(index, "--max-rate", "1000")
    command.await_written(100)
    set_block(node, index.name, {block: True})
    assert_stopped(command)
    set_block(node, index.name, {block: None})
    begin(index).ended()
    assert index.wrong() == []


def set_block(node: Node, index: str, settings: dict[str, bool | None]) -> None:
    assert node.request("PUT", f"/{index}/_settings", settings).status == 200


def assert_stopped(command: Command) -> None:
    command.ended(4)
    assert "flood-stage" in command.said
    assert "Make room on the engine's disk" in command.said


@pytest.mark.long
def test_a_disk_that_fills_up_in_the_meantime(small_node: Node, fill: Fill, begin: Begin) -> None:
    index = fill(small_node, 8_000)
    command = begin(index, "--max-rate", "200")
    command.await_written(1_000)
    set_free_space(small_node, "999999gb")
    assert_stopped(command)
    set_free_space(small_node, "1b")
    await_true(lambda: not is_blocked(small_node, index.name))
    begin(index).ended()
    assert index.wrong() == []


# --- a document that is larger than all others


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


@pytest.mark.nightly
def test_a_document_of_20_mb_and_one_without_the_fields(small_node: Node, fill: Fill, begin: Begin, text: str) -> None:
    index = fill(small_node, 300)
    put(index, "300", {"title": "long", "body": text})
    put(index, "301", {"number": 301})
    done = begin(index).ended()
    assert (done["written"], done["rejected"]) == (302, 0)
    long, without = get(index, "300"), get(index, "301")
    assert long["body"] == text
    assert long["dedup"]["status"] == "ok"  # type: ignore[index]
    assert without["dedup"]["status"] == "empty"  # type: ignore[index]
    for id_ in ("300", "301"):
        small_node.request("DELETE", f"/{index.name}/_doc/{id_}")
    assert index.wrong() == []
