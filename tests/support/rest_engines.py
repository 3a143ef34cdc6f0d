"""Engines over real clients, for the tests: all in one synchronous form."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import elasticsearch
import opensearchpy
import pytest

from es_simhash.engines.base import AsyncEngine, Engine
from es_simhash.engines.elasticsearch import AsyncElasticsearchEngine, ElasticsearchEngine
from es_simhash.engines.opensearch import AsyncOpenSearchEngine, OpenSearchEngine
from es_simhash.plans.operations import Operation

if TYPE_CHECKING:
    from tools.nodes import Node

Result = TypeVar("Result")

CLIENT_MAJOR = elasticsearch.__version__[0]

# An "async" client is the asynchronous sibling.
CLIENTS = ("elasticsearch", "opensearch", "async elasticsearch", "async opensearch")


class Blocking:
    """An asynchronous engine that is waited for."""

    def __init__(self, engine: AsyncEngine, loop: asyncio.AbstractEventLoop) -> None:
        self._engine = engine
        self._loop = loop

    def perform(self, operation: Operation[Result]) -> Result:
        return self._loop.run_until_complete(self._engine.perform(operation))

    def close(self) -> None:
        self._loop.run_until_complete(self._engine.close())


@contextmanager
def engine_over(client: str, url: str, **options: Any) -> Iterator[Engine]:
    """Yield an engine over a new client of this kind, and close both."""
    if client == "elasticsearch":
        with elasticsearch.Elasticsearch(url, **options) as elasticsearch_client:
            yield ElasticsearchEngine(elasticsearch_client)
    elif client == "opensearch":
        with opensearchpy.OpenSearch(url, **options) as opensearch_client:
            yield OpenSearchEngine(opensearch_client)
    else:
        with asynchronous_engine_over(client, url, **options) as engine:
            yield engine


@contextmanager
def asynchronous_engine_over(client: str, url: str, **options: Any) -> Iterator[Engine]:
    loop = asyncio.new_event_loop()
    asynchronous_client: Any
    engine: AsyncEngine
    if client == "async elasticsearch":
        asynchronous_client = elasticsearch.AsyncElasticsearch(url, **options)
        engine = AsyncElasticsearchEngine(asynchronous_client)
    else:
        asynchronous_client = opensearchpy.AsyncOpenSearch(url, **options)
        engine = AsyncOpenSearchEngine(asynchronous_client)
    try:
        yield Blocking(engine, loop)
    finally:
        loop.run_until_complete(asynchronous_client.close())
        loop.close()


class Pair(NamedTuple):
    """Which client on which node."""

    client: str
    node_fixture: str

    def __str__(self) -> str:
        return f"{self.client} client, {self.node_fixture.removesuffix('_node')}"

    def node(self, request: pytest.FixtureRequest) -> Node:
        node: Node = request.getfixturevalue(self.node_fixture)
        return node


PAIRS = (
    Pair("elasticsearch", "elasticsearch_node"),
    Pair("opensearch", "opensearch_node"),
)
# At night only: the two servers differ little for a client, and each client is tested with its own.
_CROSSED = Pair("opensearch", "elasticsearch_node")
OTHER_PAIRS = (
    _CROSSED,
    Pair("async elasticsearch", "elasticsearch_node"),
    Pair("async opensearch", "opensearch_node"),
)
# An older Elasticsearch refuses a newer client of its own; opensearch-py talks to it all the same.
ADDITIONAL_PAIRS = (
    Pair("elasticsearch" if CLIENT_MAJOR == 8 else "opensearch", "elasticsearch8_node"),
    Pair("opensearch", "opensearch2_node"),
)


def parametrize_pairs(metafunc: pytest.Metafunc, *more: Pair) -> None:
    """Let tests with a fixture `pair` run with each pair, the additional ones with --all-nodes only."""
    if "pair" in metafunc.fixturenames:
        additional = ADDITIONAL_PAIRS if metafunc.config.getoption("--all-nodes") else ()
        pairs = [*PAIRS, *more, *additional]
        marked = [pytest.param(each, marks=pytest.mark.nightly if each is _CROSSED else ()) for each in pairs]
        metafunc.parametrize("pair", marked, ids=map(str, pairs), scope="module")


def everything_said(error: BaseException) -> str:
    """Return the texts of an exception and of all that it came from, as a traceback shows them."""
    texts = []
    link: BaseException | None = error
    while link is not None:
        texts.append(str(link))
        link = link.__cause__ or link.__context__
    return "\n".join(texts)


def new_name() -> str:
    """Return a name that no index has."""
    return f"test-{uuid.uuid4().hex[:12]}"
