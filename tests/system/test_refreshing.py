"""Documents that are added with ``refresh`` are found when the call ends, by one refresh however many they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import DocumentError, EngineError
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.operations import Bulk, Count, CreateIndex, Operation, Refresh, UpdateAliases
from tests.support.meddling import Meddler, Overloaded
from tests.support.recorded_requests import Exchange, recorded_requests
from tests.support.rest_engines import new_name
from tests.support.whole_indices import FIELDS
from tools.nodes.node import Node

EVERYTHING: Json = {"match_all": {}}
SEVERAL = 1_300


@pytest.fixture
def name(engine: Engine, names: Callable[[], str]) -> str:
    name = names()
    # So that nothing but the call refreshes it.
    settings = {"index": {"refresh_interval": "-1", "number_of_shards": 3, "number_of_replicas": 0}}
    engine.perform(CreateIndex(name, {"settings": settings}))
    Index(name, engine, fields=FIELDS).init()
    return name


def texts(count: int) -> Iterator[Json]:
    return ({"_id": f"id{i}", "body": f"a text of its own: {i * i}"} for i in range(count))


def refreshes(operations: list[Operation[Any]]) -> list[Operation[Any]]:
    return [each for each in operations if isinstance(each, Refresh) or (isinstance(each, Bulk) and each.refresh)]


def found(engine: Engine, name: str) -> int:
    return engine.perform(Count(name, EVERYTHING))


@pytest.mark.parametrize("count", [0, 1, 2, 499, 500, 501, SEVERAL])
def test_documents_are_found_by_one_refresh_however_many_they_are(
    engine: Engine, meddler: Meddler, name: str, count: int
) -> None:
    assert Index(name, meddler).add(texts(count), refresh=True).done == count
    assert found(engine, name) == count
    assert len(refreshes(meddler.seen)) == (1 if count else 0)


def test_few_documents_take_one_request(meddler: Meddler, name: str) -> None:
    index = Index(name, meddler)
    index.add(texts(1))
    meddler.seen.clear()
    index.add(texts(2), refresh=True)
    assert [type(each) for each in meddler.seen] == [Bulk]


def test_nothing_is_refreshed_unasked(meddler: Meddler, name: str) -> None:
    Index(name, meddler).add(texts(SEVERAL))
    assert refreshes(meddler.seen) == []


def test_documents_of_requests_that_an_engine_refuses_in_part_are_found_as_well(engine: Engine, name: str) -> None:
    """Documents sent again lie in some of the shards only."""
    busy = Overloaded(engine, lambda bulk, place: len(bulk.actions) == 1 or place % 2 == 0)
    assert Index(name, busy).add(texts(8), refresh=True).done == 8
    assert found(engine, name) == 8


def test_documents_are_found_after_an_error_too(engine: Engine, meddler: Meddler, name: str) -> None:
    def broken() -> Iterator[Json]:
        yield from texts(700)
        raise RuntimeError("the caller's own")

    with pytest.raises(RuntimeError, match="own"):
        Index(name, meddler).add(broken(), refresh=True)
    assert found(engine, name) == 500
    assert len(refreshes(meddler.seen)) == 1


def test_documents_are_found_after_an_interruption_too(engine: Engine, meddler: Meddler, name: str) -> None:
    def interrupted() -> Iterator[Json]:
        yield from texts(500)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Index(name, meddler).add(interrupted(), refresh=True)
    assert len(refreshes(meddler.seen)) == 1


def test_a_rejected_document_ends_a_call_whose_other_documents_are_found(engine: Engine, name: str) -> None:
    def refuse(_: object) -> None:
        raise DocumentError("one too many")

    with pytest.raises(DocumentError, match="one too many"):
        Index(name, engine).add([*texts(600), {"_id": "bad", "body": {"no": "text"}}], refresh=True, on_reject=refuse)
    assert found(engine, name) >= 500


def test_an_error_is_not_hidden_by_a_refresh_that_fails(meddler: Meddler, name: str) -> None:
    def fail(operation: Operation[Any]) -> None:
        if isinstance(operation, Refresh):
            raise EngineError("no refresh")

    def broken() -> Iterator[Json]:
        yield from texts(500)
        raise RuntimeError("the caller's own")

    meddler.before = fail
    with pytest.raises(RuntimeError, match="own"):
        Index(name, meddler).add(broken(), refresh=True)
    with pytest.raises(EngineError, match="no refresh"):
        Index(name, meddler).add(texts(SEVERAL), refresh=True)


def test_each_index_that_was_written_to_is_refreshed_once(
    engine: Engine, meddler: Meddler, name: str, names: Callable[[], str]
) -> None:
    other = names()
    Index(other, engine, fields=FIELDS).init()
    actions = ({**each, "_index": (name, other)[i % 2]} for i, each in enumerate(texts(SEVERAL)))
    assert Index(name, meddler).add(actions, refresh=True).done == SEVERAL
    assert (found(engine, name), found(engine, other)) == (650, 650)
    assert sorted(each.index for each in refreshes(meddler.seen) if isinstance(each, Refresh)) == sorted([name, other])


def test_deletions_are_seen_as_well(engine: Engine, name: str) -> None:
    index = Index(name, engine)
    index.add(texts(SEVERAL), refresh=True)
    index.delete([f"id{i}" for i in range(700)], refresh=True)
    assert found(engine, name) == SEVERAL - 700


def test_behind_an_alias_the_index_that_is_written_to_is_refreshed(kind: str, engine: Engine, name: str) -> None:
    if kind == "embedded":
        pytest.skip("It has no aliases.")
    alias = new_name()
    engine.perform(UpdateAliases([{"add": {"index": name, "alias": alias, "is_write_index": True}}]))
    assert Index(alias, engine).add(texts(SEVERAL), refresh=True).done == SEVERAL
    assert found(engine, name) == SEVERAL


@pytest.fixture(params=["elasticsearch_node", "opensearch_node"])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(request.param)
    return node


def are_of_refreshes(exchange: Exchange) -> bool:
    return "_refresh" in exchange.target or "refresh=true" in exchange.target


@pytest.mark.each_server
def test_a_server_receives_one_request_to_refresh(node: Node) -> None:
    name = new_name()
    with Index(name, node.url, fields=FIELDS) as index:
        index.init()
        try:
            with recorded_requests() as exchanges:
                index.add(texts(SEVERAL), refresh=True)
            assert index.engine.perform(Count(name, EVERYTHING)) == SEVERAL
            assert sum(map(are_of_refreshes, exchanges)) == 1
        finally:
            node.request("DELETE", f"/{name}")


@pytest.mark.each_server
def test_a_server_receives_one_request_to_refresh_of_an_asynchronous_client_too(node: Node) -> None:
    name = new_name()

    async def add() -> tuple[int, int]:
        async with AsyncIndex(name, node.url, fields=FIELDS) as index:
            await index.init()
            with recorded_requests() as exchanges:
                await index.add(texts(SEVERAL), refresh=True)
            count = await (await index.engine()).perform(Count(name, EVERYTHING))
            return count, sum(map(are_of_refreshes, exchanges))

    try:
        assert asyncio.run(add()) == (SEVERAL, 1)
    finally:
        node.request("DELETE", f"/{name}")
