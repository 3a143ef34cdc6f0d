"""`connect` and `connect_async`: an engine for whatever the user has.

Before a client is loaded, a server is asked which one it needs.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from threading import Barrier
from typing import Any, Literal

import elasticsearch
import opensearchpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.engines import connect as connecting
from es_simhash.engines.connect import Server, ThreadedEngine, apparent_kind, connect, connect_async
from es_simhash.engines.elasticsearch import AsyncElasticsearchEngine, ElasticsearchEngine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.engines.opensearch import AsyncOpenSearchEngine, OpenSearchEngine
from es_simhash.errors import ClientVersionError, EngineError, InputError, MissingExtraError, UnreachableError
from es_simhash.plans.operations import CreateIndex, EngineInfo, GetInfo, GetMappings, Operation, Refresh
from tests.support.http_server import Answer, Request, listening, serving
from tests.support.rest_engines import everything_said

ADDRESS = "http://127.0.0.1:9200"
ELASTICSEARCH = Answer({"version": {"number": "9.4.3"}})
OPENSEARCH = Answer({"version": {"number": "3.8.0", "distribution": "opensearch"}}, product="none")


class RecordingEngine:
    """An engine that says in which thread it works."""

    def __init__(self) -> None:
        self.threads: list[int] = []

    def perform(self, operation: Operation[Any]) -> Any:
        self.threads.append(threading.get_ident())
        return EngineInfo("embedded", (1, 2))

    def close(self) -> None:
        self.threads.append(threading.get_ident())


class AwaitedEngine:
    async def perform(self, operation: Operation[Any]) -> Any:
        return EngineInfo("embedded", (1, 2))

    async def close(self) -> None: ...


class OwnClient(elasticsearch.Elasticsearch):
    """A user's own kind of client."""


def connected(target: Any = None, **options: Any) -> object:
    """What connect_async gives, closed again."""

    async def connect_and_close() -> object:
        engine = await connect_async(target, **options)
        await engine.close()
        return engine

    return asyncio.run(connect_and_close())


# ---- engines and clients


def test_an_engine_is_taken_as_it_is() -> None:
    engine, awaited = RecordingEngine(), AwaitedEngine()
    assert connect(engine) is engine
    assert connected(awaited) is awaited


@pytest.mark.parametrize(
    ("client", "kind"),
    [
        (elasticsearch.Elasticsearch, ElasticsearchEngine),
        (OwnClient, ElasticsearchEngine),
        (opensearchpy.OpenSearch, OpenSearchEngine),
    ],
)
def test_a_client_becomes_an_engine_and_stays_the_users(client: Callable[[str], Any], kind: type) -> None:
    with client(ADDRESS) as own, pytest.MonkeyPatch.context() as patch:
        closings: list[None] = []
        patch.setattr(own, "close", lambda: closings.append(None))
        engine = connect(own)
        engine.close()
        assert type(engine) is kind
        assert not closings


@pytest.mark.parametrize(
    ("client", "kind"),
    [
        (elasticsearch.AsyncElasticsearch, AsyncElasticsearchEngine),
        (opensearchpy.AsyncOpenSearch, AsyncOpenSearchEngine),
    ],
)
def test_an_asynchronous_client_becomes_an_asynchronous_engine(client: Callable[[str], Any], kind: type) -> None:
    async def use() -> None:
        async with client(ADDRESS) as own:
            assert type(await connect_async(own)) is kind

    asyncio.run(use())


def test_connect_and_connect_async_refuse_the_other_kind_of_client() -> None:
    async def use() -> None:
        for kind in (elasticsearch.AsyncElasticsearch, opensearchpy.AsyncOpenSearch):
            async with kind(ADDRESS) as client:
                with pytest.raises(InputError, match=f"This {kind.__name__} is asynchronous. Use connect_async"):
                    connect(client)
        for synchronous in (elasticsearch.Elasticsearch, opensearchpy.OpenSearch):
            expected = pytest.raises(InputError, match=f"This {synchronous.__name__} is synchronous. Use connect")
            with synchronous(ADDRESS) as client, expected:
                await connect_async(client)
        with pytest.raises(InputError, match="asynchronous"):
            connect(AwaitedEngine())
        with pytest.raises(InputError, match="synchronous"):
            await connect_async(RecordingEngine())

    asyncio.run(use())


@pytest.mark.parametrize("target", [7, object(), [ADDRESS], b"http://127.0.0.1"])
def test_other_objects_are_refused(target: Any) -> None:
    with pytest.raises(InputError, match="Cannot connect to a"):
        connect(target)


def test_options_go_with_a_url_only(tmp_path: Path) -> None:
    for target in (None, tmp_path, RecordingEngine()):
        with pytest.raises(InputError, match="distribution, ca_certs"):
            connect(target, distribution="opensearch", ca_certs="ca.pem")


# ---- directories


def test_a_directory_is_an_embedded_engine(tmp_path: Path) -> None:
    for target in (tmp_path / "a", str(tmp_path / "b")):
        engine = connect(target)
        assert isinstance(engine, EmbeddedEngine)
        engine.perform(CreateIndex("index", {}))
        engine.close()
        again = connect(target)
        mappings = again.perform(GetMappings("*"))
        assert list(mappings) == ["index"]
        again.close()


def test_no_target_is_a_directory_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    engine = connect()
    engine.perform(CreateIndex("index", {}))
    engine.close()
    assert [path.name for path in tmp_path.iterdir()] == [".es-simhash"]


def test_an_embedded_engine_can_be_awaited(tmp_path: Path) -> None:
    async def use() -> list[str]:
        engine = await connect_async(tmp_path)
        await engine.perform(CreateIndex("index", {}))
        mappings = await engine.perform(GetMappings("*"))
        await engine.close()
        return list(mappings)

    assert asyncio.run(use()) == ["index"]


def test_a_synchronous_engine_reads_in_one_thread_and_writes_in_another() -> None:
    recorder = RecordingEngine()

    async def use(operation: Operation[Any]) -> None:
        await asyncio.gather(*(engine.perform(operation) for _ in range(20)))

    async def use_both() -> None:
        await use(GetInfo())
        await use(Refresh("a"))
        await engine.close()

    engine = ThreadedEngine(recorder)
    asyncio.run(use_both())
    reading, writing = recorder.threads[:20], recorder.threads[20:]
    assert len(writing) == 21
    assert (len({*reading}), len({*writing}), len({*reading, *writing, threading.get_ident()})) == (1, 1, 3)


@pytest.mark.parametrize("address", ["localhost:9200", "ftp://user:s3cret@host", "elastic://host"])
def test_an_address_without_a_scheme_creates_no_directory(address: str) -> None:
    with pytest.raises(InputError, match="http://localhost:9200") as raised:
        connect(address)
    assert "s3cret" not in str(raised.value)


# ---- URLs


@pytest.mark.parametrize(
    ("answer", "kind", "kind_async"),
    [
        (ELASTICSEARCH, ElasticsearchEngine, AsyncElasticsearchEngine),
        (OPENSEARCH, OpenSearchEngine, AsyncOpenSearchEngine),
    ],
    ids=["Elasticsearch", "OpenSearch"],
)
def test_the_server_at_a_url_identifies_itself(answer: Answer, kind: type, kind_async: type) -> None:
    with serving(answer) as server:
        engine = connect(server.url)
        assert type(engine) is kind
        engine.close()
        assert type(connected(server.url)) is kind_async


def test_a_server_whose_name_is_given_is_not_asked() -> None:
    with serving(Answer({"message": "Not Found"}, 404)) as server:
        for distribution, kind in (("elasticsearch", ElasticsearchEngine), ("opensearch", OpenSearchEngine)):
            engine = connect(server.url, distribution=distribution)  # type: ignore[arg-type]
            assert type(engine) is kind
            engine.close()
            assert connected(server.url, distribution=distribution)
        assert server.requests == []


@pytest.mark.parametrize(
    "answer",
    [Answer({"message": "Not Found"}, 404), Answer("Forbidden", 403, "text/plain"), Answer({"cluster": "x"})],
    ids=["404", "403", "without a version"],
)
def test_a_server_that_does_not_identify_itself(answer: Answer) -> None:
    with serving(answer) as server:
        with pytest.raises(EngineError, match=r"distribution='elasticsearch' or 'opensearch'\.$"):
            connect(server.url)
        with pytest.raises(EngineError, match=r"distribution='elasticsearch' or 'opensearch'\.$"):
            connected(server.url)


def test_a_distribution_that_is_not_known() -> None:
    with pytest.raises(InputError, match="'solr' is unknown"):
        connect(ADDRESS, distribution="solr")  # type: ignore[arg-type]


def test_a_server_that_is_too_old_for_the_client() -> None:
    reason = "Accept version must be either version 8 or 7, but found 9."
    error = {"type": "media_type_header_exception", "reason": "Invalid", "caused_by": {"reason": reason}}
    expected = pytest.raises(ClientVersionError, match=r"pip install 'elasticsearch<9'")
    with serving(Answer({"error": error}, 400)) as server, expected:
        connect(server.url)


def test_a_server_that_is_away() -> None:
    with pytest.raises(UnreachableError, match=r"Nothing answers at http://127\.0\.0\.1:1: "):
        connect("http://user:s3cret@127.0.0.1:1")


def without(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """Let libraries be as if they were not installed."""
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(connecting, "find_spec", lambda name: None if name in modules else name)


def test_a_client_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(OPENSEARCH) as opensearch, serving(ELASTICSEARCH) as elastic:
        with monkeypatch.context() as patch:
            without(patch, "opensearchpy")
            with pytest.raises(MissingExtraError, match=r"opensearch-py is not .* '[^']+\[opensearch\]'"):
                connect(opensearch.url)
            connect(elastic.url).close()
        with monkeypatch.context() as patch:
            without(patch, "elasticsearch")
            with pytest.raises(MissingExtraError, match=r"elasticsearch is not .* '[^']+\[elasticsearch\]'"):
                connect(elastic.url)
            connect(opensearch.url).close()
        with monkeypatch.context() as patch:
            without(patch, "elasticsearch", "opensearchpy")
            with pytest.raises(MissingExtraError):
                connect(opensearch.url)
        with monkeypatch.context() as patch:
            without(patch, "aiohttp")
            with pytest.raises(MissingExtraError, match=r"aiohttp is not .* '[^']+\[opensearch\]'"):
                connected(opensearch.url)


def test_options_reach_the_client_under_its_own_names() -> None:
    options = {"basic_auth": ("user", "word"), "request_timeout": 7}
    engine = connect(ADDRESS, distribution="opensearch", **options)
    [host] = engine._client.transport.connection_pool.connections  # type: ignore[attr-defined]
    assert host.timeout == 7
    assert host.headers["authorization"].startswith("Basic ")
    engine.close()


@pytest.mark.parametrize("distribution", ["elasticsearch", "opensearch"])
def test_several_threads_keep_a_connection_each(distribution: Literal["elasticsearch", "opensearch"]) -> None:
    threads, connections = 24, set[HTTPConnection]()
    all_are_here = Barrier(threads)

    def respond(request: Request) -> Answer:
        connections.add(request.upstream)
        all_are_here.wait()
        return ELASTICSEARCH if distribution == "elasticsearch" else OPENSEARCH

    with listening(respond) as url, ThreadPoolExecutor(threads) as pool:
        engine = connect(url, distribution=distribution)
        for _ in range(3):
            list(pool.map(lambda _: engine.perform(GetInfo()), range(threads)))
        engine.close()
    assert len(connections) == threads


def test_options_that_a_client_does_not_have() -> None:
    with pytest.raises(InputError, match=r"no_such_option.*distribution="):
        connect(ADDRESS, no_such_option=1)
    for option in ("api_key", "bearer_auth"):
        with pytest.raises(InputError, match=f"opensearch-py has no option {option}"):
            connect(ADDRESS, distribution="opensearch", **{option: "s3cret"})


# ---- reading URLs


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://localhost", "http://localhost:9200"),
        ("https://localhost", "https://localhost:443"),
        ("HTTP://Search.Example:80/", "http://search.example:80"),
        ("https://example.org/prefix/", "https://example.org:443/prefix"),
        ("http://[::1]:9200", "http://[::1]:9200"),
        ("https://user:word@example.org", "https://example.org:443"),
        ("http://a,http://b:1/x, HTTP://c/", "http://a:9200,http://b:1/x,http://c:9200"),
        ("http://user:p,w@a,http://user:p,w@b", "http://a:9200,http://b:9200"),
    ],
)
def test_an_address_is_written_out(url: str, address: str) -> None:
    assert Server.at(url, {}).address == address


@given(user=st.text(min_size=1), password=st.text())
def test_any_login_can_be_in_a_url(user: str, password: str) -> None:
    from urllib.parse import quote

    try:
        url = f"http://{quote(user, safe='')}:{quote(password, safe='')}@host:9200"
    except UnicodeEncodeError:
        return
    server = Server.at(url, {"ca_certs": "ca.pem"})
    assert server == Server("http://host:9200", {"ca_certs": "ca.pem", "basic_auth": (user, password)})
    assert repr(server) == "Server(address='http://host:9200')"


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "http://user:s3cret@",
        "http://user:12#s3cret@host",
        "http://user:12/s3cret@host",
        "http://user:12?s3cret@host",
        "http://user:s3cret/x@host",
        "http://user:s3cret@host:port",
        "http://user:s3cret@host:99999",
        "http://user:s3cret@[host",
        "http://user:s3cret\u2100@host",
        "http://user:s3cret@a,b",
        "http://user:s3cret@a/,b",
        "http://user:s3cret@a,http://",
    ],
)
def test_a_url_that_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(InputError, match="percent-encoded") as raised:
        connect(url)
    assert "s3cret" not in everything_said(raised.value)


@pytest.mark.parametrize(
    "url", ["http://user:s3cret@a,https://b", "http://user:s3cret@a,http://other:s3cret@b", "http://u:a@a,http://u:b@b"]
)
def test_urls_that_are_not_of_one_cluster_are_refused(url: str) -> None:
    with pytest.raises(InputError, match="do not belong together") as raised:
        connect(url)
    assert "s3cret" not in everything_said(raised.value)


@pytest.mark.parametrize("answer", [ELASTICSEARCH, OPENSEARCH], ids=["Elasticsearch", "OpenSearch"])
def test_of_several_nodes_those_that_answer_are_asked(answer: Answer) -> None:
    away = "http://127.0.0.1:1"
    with serving(answer) as first, serving(answer) as second:
        urls = f"{away},http://user:word@{first.url.removeprefix('http://')},{second.url}"
        engine = connect(urls)
        for _ in range(6):
            assert engine.perform(GetInfo()).version in ((9, 4, 3), (3, 8, 0))
        engine.close()
        assert first.requests
        assert second.requests
        assert connected(urls)
    with pytest.raises(UnreachableError) as raised:
        connect(f"{away},http://127.0.0.1:2")
    assert {away, "http://127.0.0.1:2"} <= set(re.findall(r"http://[\d.:]+\d", str(raised.value)))


@pytest.mark.parametrize("option", ["basic_auth", "api_key"])
def test_a_login_is_given_once(option: str) -> None:
    with pytest.raises(InputError, match="both in the URL and in an option") as raised:
        connect("http://user:s3cret@host", **{option: "other"})  # type: ignore[arg-type]
    assert "s3cret" not in everything_said(raised.value)


REFUSED = Answer("Unauthorized", 401, headers={"WWW-Authenticate": 'Basic realm="OpenSearch Security"'})
KINDS: list[tuple[Answer, Any]] = [
    (Answer({"version": {"number": "9.4.3"}}), "elasticsearch"),
    (Answer({"error": "security_exception"}, 401), "elasticsearch"),
    (OPENSEARCH, "opensearch"),
    (REFUSED, "opensearch"),
    (Answer("Forbidden", 403, "text/plain", product="none"), None),
    (Answer([1], product="none"), None),
    (Answer(b"\xff\x00", product="none"), None),
    (Answer(b"[" * 60_000, product="none"), None),
]


@pytest.mark.parametrize(("answer", "kind"), KINDS)
def test_a_server_shows_its_kind_to_strangers(answer: Answer, kind: str | None) -> None:
    with serving(answer) as server:
        assert apparent_kind(server.url) == kind
        assert server.requests == ["GET /"]


def test_a_stranger_shows_no_login() -> None:
    asked: list[dict[str, str]] = []

    def answer(request: Request) -> Answer:
        asked.append(request.headers)
        return OPENSEARCH

    with listening(answer) as url:
        connect(url, basic_auth=("user", "s3cret")).close()
    first, second = asked
    assert "authorization" not in first
    assert "authorization" in second


def test_a_server_that_is_not_there_shows_nothing() -> None:
    with serving(OPENSEARCH) as server:
        url = server.url
    assert apparent_kind(url) is None


@pytest.mark.parametrize(
    ("answer", "needed", "other"),
    [(OPENSEARCH, "opensearchpy", "elasticsearch"), (KINDS[0][0], "elasticsearch", "opensearchpy")],
)
def test_only_the_client_that_is_needed_is_loaded(answer: Answer, needed: str, other: str) -> None:
    code = (
        "import sys; from es_simhash.engines.connect import connect; connect(sys.argv[1]).close(); "
        "print([name for name in ('elasticsearch', 'opensearchpy') if name in sys.modules])"
    )
    with serving(answer) as server:
        done = subprocess.run([sys.executable, "-c", code, server.url], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([needed])
    assert other not in done.stdout
