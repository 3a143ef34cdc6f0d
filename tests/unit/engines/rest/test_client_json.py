"""Replies are read by msgspec behind the clients' own transports, with the results of the clients' own readers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from elasticsearch import AsyncElasticsearch, Elasticsearch, JsonSerializer
from opensearchpy import AsyncOpenSearch, OpenSearch
from opensearchpy.serializer import JSONSerializer

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.engines.elasticsearch import AsyncElasticsearchEngine, ElasticsearchEngine
from es_simhash.engines.opensearch import AsyncOpenSearchEngine, OpenSearchEngine
from es_simhash.errors import EngineError
from es_simhash.plans.operations import Action, Bulk, HitPage, Reader, ReadPage, Search
from tests.support.http_server import Answer, FakeServer, serving

SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
HITS = [
    {"_index": "i", "_id": str(i), "_version": 1, "_seq_no": i, "_primary_term": 1, "_source": source, "sort": [i]}
    for i, source in enumerate([{"a": "ä"}, {"a": ["c", 1, 2.5, None], "own": {"status": "deferred"}}])
]
PAGE: Json = {"pit_id": "p", "_scroll_id": "s", "timed_out": False, "_shards": SHARDS, "hits": {"hits": HITS}}
READERS = [Reader("elasticsearch", "i", "p"), Reader("opensearch", "i", "p"), Reader("scroll", "i", "s")]
KINDS = ["elasticsearch", "opensearch"]
SERIALIZERS: dict[str, Any] = {"elasticsearch": JsonSerializer, "opensearch": JSONSerializer}
ASYNCHRONOUS: dict[str, Any] = {
    "elasticsearch": (AsyncElasticsearchEngine, AsyncElasticsearch),
    "opensearch": (AsyncOpenSearchEngine, AsyncOpenSearch),
}


def engine_of(kind: str, server: FakeServer, **options: Any) -> Engine:
    if kind == "elasticsearch":
        return ElasticsearchEngine(Elasticsearch(server.url, **options), closes_client=True)
    return OpenSearchEngine(OpenSearch(server.url, **options), closes_client=True)


def read(engine: Engine, reader: Reader = READERS[0]) -> HitPage:
    return engine.perform(ReadPage(reader, {"match_all": {}}, 4, ["a", "own"]))


def own_serializer(kind: str, asked: list[str]) -> Any:
    """Return a serializer of a user's own class, which notes what it reads."""
    by_client = SERIALIZERS[kind].loads

    def loads(self: Any, text: Any) -> Any:
        asked.append(text)
        return by_client(self, text)

    return type("Own", (SERIALIZERS[kind],), {"loads": loads})()


@pytest.fixture
def client_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the clients' own readers read."""
    asked: list[str] = []
    for kind in SERIALIZERS.values():

        def loads(self: Any, text: Any, by_client: Any = kind.loads) -> Any:
            asked.append(text if isinstance(text, str) else text.decode())
            return by_client(self, text)

        monkeypatch.setattr(kind, "loads", loads)
    return asked


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", READERS, ids=["elasticsearch", "opensearch", "scroll"])
@pytest.mark.parametrize("content_type", ["application/json; charset=UTF-8", "application/vnd.elasticsearch+json"])
def test_replies_are_read_by_msgspec(kind: str, reader: Reader, content_type: str, client_reads: list[str]) -> None:
    with serving(Answer(json.dumps(PAGE, ensure_ascii=False), content_type=content_type)) as server:
        engine = engine_of(kind, server)
        assert read(engine, reader).hits == HITS
        assert engine.perform(Search("i", {})) == PAGE
        engine.close()
    assert not client_reads


@pytest.mark.parametrize("kind", KINDS)
def test_what_msgspec_refuses_is_read_by_the_client(kind: str, client_reads: list[str]) -> None:
    odd = {**HITS[0], "_score": float("inf"), "_source": {"a": "\ud800"}}
    with serving(Answer(json.dumps({**PAGE, "hits": {"hits": [odd]}}))) as server:
        engine = engine_of(kind, server)
        assert read(engine).hits == [odd]
        engine.close()
    assert len(client_reads) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_asynchronous_clients_read_alike_from_their_first_request_on(kind: str, client_reads: list[str]) -> None:
    async def performed(server: FakeServer) -> list[Any]:
        engine_class, client_class = ASYNCHRONOUS[kind]
        engine = engine_class(client_class(server.url), closes_client=True)
        asked = Search("i", {}), ReadPage(READERS[0], {}, 4, True)
        results = [await engine.perform(operation) for operation in asked]
        await engine.close()
        return results

    with serving(Answer(PAGE)) as server:
        found, page = asyncio.run(performed(server))
    assert (found, page.hits) == (PAGE, HITS)
    assert not client_reads


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "answer",
    [
        Answer({"error": {"type": "search_context_missing_exception", "reason": "gone"}, "status": 404}, 404),
        Answer({"error": {"type": "parsing_exception", "reason": "no"}, "status": 400}, 400),
        Answer({**PAGE, "_shards": {**SHARDS, "failed": 1}}),
        Answer({**PAGE, "hits": {"hits": [{"_id": 3}, {"_id": 4}]}}),
        Answer({"hits": 3}),
        Answer('{"hits": {"hits": [{"_id": '),
        Answer("<html>", content_type="application/json"),
    ],
    ids=["gone", "refused", "incomplete", "strange", "stranger", "cut off", "no JSON"],
)
def test_errors_are_those_of_the_clients_own_reader(kind: str, answer: Answer) -> None:
    raised = []
    for options in ({}, {"serializer": own_serializer(kind, [])}):
        with serving(answer) as server:
            engine = engine_of(kind, server, **options)
            with pytest.raises(EngineError) as error:
                read(engine)
            engine.close()
            raised.append((type(error.value), str(error.value).replace(server.url, "")))
    assert raised[0] == raised[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_serializer_of_the_user_reads_all_replies_itself(kind: str) -> None:
    read_by_user: list[str] = []
    with serving(Answer(PAGE)) as server:
        engine = engine_of(kind, server, serializer=own_serializer(kind, read_by_user))
        assert read(engine).hits == HITS
        engine.close()
    assert len(read_by_user) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"sniff_on_node_failure": True}], ids=["plain", "sniffing"])
def test_the_client_of_the_user_is_as_before(kind: str, options: Json, client_reads: list[str]) -> None:
    if kind == "opensearch":
        options = {"sniff_on_connection_fail": True} if options else {}
    with serving(Answer(PAGE)) as server:
        engine: Any = engine_of(kind, server, **options)
        client = engine._client
        before = dict(vars(client.transport))
        assert read(engine).hits == HITS
        assert engine._client is client
        after = dict(vars(client.transport))
        client_reads.clear()
        assert client.search(index="i")["hits"]["hits"] == HITS
        assert len(client_reads) == 1
        engine.close()
    assert {name for name in before if before[name] is not after[name]} <= {"last_sniff", "_last_sniffed_at"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_must_be_sent_once_is_sent_once_by_a_client_that_repeats(kind: str) -> None:
    with serving(Answer({"error": {"type": "busy"}}, 503)) as server:
        # opensearch-py repeats for this status by itself.
        options: Json = {"retry_on_status": [503]} if kind == "elasticsearch" else {}
        engine = engine_of(kind, server, max_retries=3, **options)
        with pytest.raises(EngineError):
            engine.perform(Bulk("i", [Action("create", None, {"a": "b"})]))
        once = len(server.requests)
        with pytest.raises(EngineError):
            engine.perform(Search("i", {}))
        engine.close()
    assert (once, len(server.requests)) == (1, 5)
