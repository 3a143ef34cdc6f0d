"""The suite of what an index does, on every engine and through every kind of client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path
from typing import Any

import elasticsearch
import pytest
from elasticsearch import AsyncElasticsearch, Elasticsearch
from opensearchpy import AsyncOpenSearch, OpenSearch

from es_simhash.index import AsyncIndex
from tests.conformance.index_suite import IndexSuite
from tests.support.backfill_suite import BackfillSuite
from tools.nodes import Node


class Awaited:
    """An `AsyncIndex` for tests that do not await."""

    def __init__(self, loop: asyncio.AbstractEventLoop, index: AsyncIndex) -> None:
        self._loop = loop
        self._index = index
        self.name = index.name

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **keywords: Any) -> Any:
            result = getattr(self._index, name)(*arguments, **keywords)
            return self._loop.run_until_complete(_collected(result))

        return call


async def _collected(result: Awaitable[Any] | AsyncIterator[Any]) -> Any:
    return [item async for item in result] if isinstance(result, AsyncIterator) else await result


class Waiting:
    """Opens indices as an `AsyncIndex`; ``target`` is what it connects to."""

    @pytest.fixture(autouse=True)
    def loop(self, target: Any) -> Iterator[None]:
        self._loop = asyncio.new_event_loop()
        self._target = self._loop.run_until_complete(target())
        yield
        if hasattr(self._target, "close"):
            self._loop.run_until_complete(self._target.close())
        self._loop.close()

    def open(self, name: str, engine: Any, **known: Any) -> Any:
        return Awaited(self._loop, AsyncIndex(name, self._target, **known))


class TestEmbedded(IndexSuite, BackfillSuite):
    @pytest.fixture
    def engine(self, tmp_path: Path) -> Any:
        from es_simhash.engines.embedded import EmbeddedEngine

        engine = EmbeddedEngine(tmp_path)
        yield engine
        engine.close()


class OverElasticsearch:
    @pytest.fixture
    def engine(self, elasticsearch_node: Node) -> Any:
        with Elasticsearch(elasticsearch_node.url) as client:
            yield client


class OverOpenSearch:
    @pytest.fixture
    def engine(self, opensearch_node: Node) -> Any:
        with OpenSearch(opensearch_node.url) as client:
            yield client


@pytest.mark.each_server
class TestElasticsearch(OverElasticsearch, IndexSuite, BackfillSuite):
    pass


@pytest.mark.each_server
class TestOpenSearch(OverOpenSearch, IndexSuite, BackfillSuite):
    pass


class TestElasticsearch8(IndexSuite, BackfillSuite):
    """By the client of OpenSearch, which all servers take, where that of Elasticsearch 9 is installed: 8 refuses it."""

    @pytest.fixture
    def engine(self, elasticsearch8_node: Node) -> Any:
        kind: Any = Elasticsearch if elasticsearch.__version__[0] == 8 else OpenSearch
        with kind(elasticsearch8_node.url) as client:
            yield client


class TestOpenSearch2(IndexSuite, BackfillSuite):
    @pytest.fixture
    def engine(self, opensearch2_node: Node) -> Any:
        with OpenSearch(opensearch2_node.url) as client:
            yield client


class OverAsyncElasticsearch(Waiting):
    @pytest.fixture
    def engine(self, elasticsearch_node: Node) -> str:
        return elasticsearch_node.url

    @pytest.fixture
    def target(self, elasticsearch_node: Node) -> Any:
        async def client() -> AsyncElasticsearch:
            return AsyncElasticsearch(elasticsearch_node.url)

        return client


class OverAsyncOpenSearch(Waiting):
    @pytest.fixture
    def engine(self, opensearch_node: Node) -> str:
        return opensearch_node.url

    @pytest.fixture
    def target(self, opensearch_node: Node) -> Any:
        async def client() -> AsyncOpenSearch:
            return AsyncOpenSearch(opensearch_node.url)

        return client


class TestAsyncElasticsearch(OverAsyncElasticsearch, IndexSuite):
    pass


class TestAsyncOpenSearch(OverAsyncOpenSearch, IndexSuite):
    pass


@pytest.mark.nightly
class TestAsyncElasticsearchBackfills(OverAsyncElasticsearch, BackfillSuite):
    pass


@pytest.mark.nightly
class TestAsyncOpenSearchBackfills(OverAsyncOpenSearch, BackfillSuite):
    pass
