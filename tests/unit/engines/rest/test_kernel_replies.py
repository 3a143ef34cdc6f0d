"""Texts and lazy hits are read by the compiled kernels behind the clients' own transports, and otherwise as ever."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from elasticsearch import AsyncElasticsearch, Elasticsearch, JsonSerializer
from opensearchpy import AsyncOpenSearch, OpenSearch
from opensearchpy.serializer import JSONSerializer

from es_simhash._core.environment import NATIVE
from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine
from es_simhash.engines.elasticsearch import AsyncElasticsearchEngine, ElasticsearchEngine
from es_simhash.engines.opensearch import AsyncOpenSearchEngine, OpenSearchEngine
from es_simhash.errors import EngineError
from es_simhash.live.backfill.fingerprinting import Fingerprinting, ReadDocument
from es_simhash.plans.operations import HitPage, Reader, ReadPage, Search
from es_simhash.scheme.scheme import Scheme
from tests.support.http_server import Answer, FakeServer, serving

pytest.importorskip("es_simhash_native")

DOCUMENTS = Documents(Scheme(), ["a"], "own")
SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
HITS = [
    {"_index": "i", "_id": str(i), "_version": 1, "_seq_no": i, "_primary_term": 1, "_source": source, "sort": [i]}
    for i, source in enumerate([{"a": "ä"}, {"a": "b", "own": {"status": "deferred"}}, {"a": ["c", 1]}, {"a": "d"}])
]
PAGE: Json = {"pit_id": "p", "_scroll_id": "s", "timed_out": False, "_shards": SHARDS, "hits": {"hits": HITS}}
READERS = [Reader("elasticsearch", "i", "p"), Reader("opensearch", "i", "p"), Reader("scroll", "i", "s")]
KINDS = ["elasticsearch", "opensearch"]


def engine_of(kind: str, server: FakeServer, serializer: Any = None) -> Engine:
    own = {} if serializer is None else {"serializer": serializer}
    if kind == "elasticsearch":
        return ElasticsearchEngine(Elasticsearch(server.url, **own), closes_client=True)
    return OpenSearchEngine(OpenSearch(server.url, **own), closes_client=True)


def read(engine: Engine, reader: Reader = READERS[0]) -> HitPage:
    return engine.perform(ReadPage(reader, {"match_all": {}}, 4, Fingerprinting(DOCUMENTS).source))


def search(engine: Engine, reader: Reader | None = None) -> Json:
    return engine.perform(Search("i", {"query": {"match_all": {}}}, reader, lazy=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", READERS, ids=["elasticsearch", "opensearch", "scroll"])
@pytest.mark.parametrize("content_type", ["application/json; charset=UTF-8", "application/vnd.elasticsearch+json"])
def test_texts_are_read_as_python_reads_them(
    kind: str, reader: Reader, content_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Answer(json.dumps(PAGE, ensure_ascii=False), content_type=content_type)) as server:
        engine = engine_of(kind, server)
        monkeypatch.delenv(NATIVE, raising=False)
        compiled = read(engine, reader)
        monkeypatch.setenv(NATIVE, "0")
        by_python = read(engine, reader)
        engine.close()
    assert [type(hit) for hit in compiled.hits] == [tuple, tuple, tuple, dict]
    assert by_python.hits == HITS
    assert (compiled.length, by_python.length) == (len(json.dumps(PAGE, ensure_ascii=False).encode()), None)
    assert (compiled.after, compiled.reader) == (by_python.after, by_python.reader)
    both = [[ReadDocument.parse(DOCUMENTS, hit) for hit in page.hits] for page in (compiled, by_python)]
    assert both[0] == both[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", [None, *READERS[:2]], ids=["index", "elasticsearch", "opensearch"])
def test_hits_of_a_lazy_search_are_made_when_asked_for(
    kind: str, reader: Reader | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Answer(PAGE)) as server:
        engine = engine_of(kind, server)
        monkeypatch.delenv(NATIVE, raising=False)
        compiled = search(engine, reader)
        assert isinstance(engine.perform(Search("i", {}))["hits"]["hits"], list)
        monkeypatch.setenv(NATIVE, "0")
        by_python = search(engine, reader)
        engine.close()
    assert by_python == PAGE
    hits = compiled["hits"]["hits"]
    assert type(hits).__name__ == "SearchHits"
    assert list(hits) == HITS
    assert {**compiled, "hits": {}} == {**PAGE, "hits": {}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("compiled")
def test_asynchronous_clients_read_alike(kind: str) -> None:
    asked = [Search("i", {}), Search("i", {}, lazy=True), ReadPage(READERS[0], {}, 4, Fingerprinting(DOCUMENTS).source)]
    with serving(Answer(PAGE)) as server:
        [plain, lazy, page], transports = asyncio.run(performed(kind, server, asked))
    assert plain["hits"]["hits"] == HITS
    assert (type(lazy["hits"]["hits"]).__name__, list(lazy["hits"]["hits"])) == ("SearchHits", HITS)
    assert [type(hit) for hit in page.hits] == [tuple, tuple, tuple, dict]
    assert transports[0] == transports[-1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("compiled")
def test_the_first_request_of_an_asynchronous_client_prepares_the_client(kind: str) -> None:
    with serving(Answer(PAGE)) as server:
        [found], [transport] = asyncio.run(performed(kind, server, [Search("i", {}, lazy=True)]))
    assert list(found["hits"]["hits"]) == HITS
    assert transport["_async_library" if kind == "elasticsearch" else "_async_init_called"]


async def performed(kind: str, server: FakeServer, asked: list[Any]) -> tuple[list[Any], list[Json]]:
    """Perform operations; return the results, and what the client's transport has after each."""
    engine: Any
    if kind == "elasticsearch":
        engine = AsyncElasticsearchEngine(AsyncElasticsearch(server.url), closes_client=True)
    else:
        engine = AsyncOpenSearchEngine(AsyncOpenSearch(server.url), closes_client=True)
    results, transports = [], []
    for operation in asked:
        results.append(await engine.perform(operation))
        transports.append(dict(vars(engine._client.transport)))
    await engine.close()
    return results, transports


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
@pytest.mark.parametrize("ask", [read, search], ids=["texts", "lazy"])
def test_errors_are_those_without_kernels(
    kind: str, answer: Answer, ask: Callable[[Engine], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    raised = []
    with serving(answer) as server:
        engine = engine_of(kind, server)
        for wanted in ("1", "0"):
            monkeypatch.setenv(NATIVE, wanted)
            with pytest.raises(EngineError) as error:
                ask(engine)
            raised.append((type(error.value), str(error.value)))
        engine.close()
    assert raised[0] == raised[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("compiled")
def test_a_serializer_of_the_user_reads_all_replies_itself(kind: str) -> None:
    asked: list[int] = []

    class Elasticsearchs(JsonSerializer):
        def loads(self, data: bytes) -> Any:
            asked.append(len(data))
            return super().loads(data)

    class OpenSearchs(JSONSerializer):
        def loads(self, s: str) -> Any:
            asked.append(len(s))
            return super().loads(s)

    with serving(Answer(PAGE)) as server:
        engine = engine_of(kind, server, Elasticsearchs() if kind == "elasticsearch" else OpenSearchs())
        assert read(engine).hits == HITS
        engine.close()
    assert len(asked) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("compiled")
def test_the_client_of_the_user_is_as_before(kind: str) -> None:
    with serving(Answer(PAGE)) as server:
        engine: Any = engine_of(kind, server)
        client = engine._client
        before = dict(vars(client.transport))
        assert isinstance(read(engine).hits[0], tuple)
        assert engine._client is client
        after = dict(vars(client.transport))
        assert client.search(index="i")["hits"]["hits"] == HITS
        engine.close()
    assert {name for name in before if before[name] is not after[name]} <= {"last_sniff", "_last_sniffed_at"}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NATIVE, raising=False)
