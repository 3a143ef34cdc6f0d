"""What the engines make of what goes wrong between their clients and the server."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
from typing import Any

import pytest
import trustme

from es_simhash.errors import AccessError, ClientVersionError, EngineError, UnavailableError, UnreachableError
from es_simhash.plans.operations import (
    Action,
    Bulk,
    Count,
    CreateIndex,
    DeleteIndex,
    GetInfo,
    Operation,
    PutMapping,
    Search,
)
from tests.support.http_server import Answer, serving
from tests.support.rest_engines import CLIENT_MAJOR, CLIENTS, engine_over, everything_said
from tools.nodes import Node

pytestmark = pytest.mark.each_server

PASSWORD = "s3cret/pass#word"
PAGE = "<html><body>Bad gateway</body></html>"

every_client = pytest.mark.parametrize("client", CLIENTS)
clients_of_elasticsearch = pytest.mark.parametrize(
    "client", [name for name in CLIENTS if "elasticsearch" in name], ids="{} client".format
)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def login(client: str) -> dict[str, object]:
    return {"basic_auth" if "elasticsearch" in client else "http_auth": ("user", PASSWORD)}


def patience(client: str, seconds: float) -> dict[str, object]:
    return {"request_timeout" if "elasticsearch" in client else "timeout": seconds, "max_retries": 0}


@every_client
def test_a_server_that_is_away(client: str) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with (
        engine_over(client, url) as engine,
        pytest.raises(UnreachableError, match=f"Nothing answers at {url}: .*Start the engine"),
    ):
        engine.perform(GetInfo())


@every_client
def test_a_host_that_does_not_exist(client: str) -> None:
    with engine_over(client, "http://no-such-host.invalid:9200") as engine, pytest.raises(UnreachableError):
        engine.perform(GetInfo())


@every_client
def test_a_server_that_takes_too_long(client: str) -> None:
    over = threading.Event()

    def slowly(_: str) -> Answer:
        over.wait(30)
        return Answer({})

    with serving(slowly) as server:
        with (
            engine_over(client, server.url, **patience(client, 0.05)) as engine,
            pytest.raises(UnreachableError, match=f"{server.url} did not answer in time.*option (request_)?timeout"),
        ):
            engine.perform(Search("index", {}))
        over.set()


@every_client
def test_a_certificate_of_an_unknown_authority(client: str) -> None:
    with serving(Answer({}), tls=certified("127.0.0.1")) as server:
        with (
            engine_over(client, server.url) as engine,
            pytest.raises(UnreachableError, match=f"TLS connection to {server.url} failed: .*ca_certs"),
        ):
            engine.perform(GetInfo())
        assert server.requests == []


@every_client
def test_a_certificate_for_another_name(client: str, tmp_path: object) -> None:
    authority = trustme.CA()
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with (
        serving(Answer({}), tls=certified("elsewhere.example", authority)) as server,
        engine_over(client, server.url, ssl_context=trusting) as engine,
        pytest.raises(UnreachableError, match=r"TLS connection .* failed"),
    ):
        engine.perform(GetInfo())


def certified(name: str, authority: trustme.CA | None = None) -> ssl.SSLContext:
    """A server's TLS with a certificate for a name, from an authority that nobody knows if none is given."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    (authority or trustme.CA()).issue_cert(name).configure_cert(context)
    return context


@every_client
@pytest.mark.parametrize("status", [400, 404, 500])
def test_a_reply_of_a_proxy_is_quoted(client: str, status: int) -> None:
    with (
        serving(Answer(PAGE + "x" * 500, status, "text/html")) as server,
        engine_over(client, server.url) as engine,
        pytest.raises(EngineError, match=f"status {status} and is not JSON of the engine, beginning '{PAGE}") as raised,
    ):
        engine.perform(Search("index", {}))
    assert len(str(raised.value)) < 500


@every_client
@pytest.mark.parametrize("content_type", ["text/html", "text/plain", "application/json"])
def test_a_reply_of_a_proxy_is_not_an_answer(client: str, content_type: str) -> None:
    with (
        serving(Answer(PAGE, 200, content_type)) as server,
        engine_over(client, server.url) as engine,
        pytest.raises(EngineError, match=r"not JSON of the engine|is not the engine's"),
    ):
        engine.perform(Search("index", {}))


@every_client
def test_a_login_that_a_proxy_refuses(client: str) -> None:
    with (
        serving(Answer("Unauthorized", 401, "text/plain")) as server,
        engine_over(client, server.url, **login(client)) as engine,
        pytest.raises(AccessError, match=r"'Unauthorized'.*Check user and password"),
    ):
        engine.perform(Search("index", {}))


@every_client
def test_a_request_that_is_too_large(client: str) -> None:
    with (
        serving(Answer("", 413, "text/plain")) as server,
        engine_over(client, server.url) as engine,
        pytest.raises(EngineError, match=r"Writing to 'index' failed: .*http.max_content_length"),
    ):
        engine.perform(Bulk("index", [Action("index", None, {})]))


@every_client
def test_a_full_queue(client: str) -> None:
    error = {"type": "es_rejected_execution_exception", "reason": "rejected execution of coordinating operation"}
    with (
        serving(Answer({"error": {**error, "root_cause": [error]}, "status": 429}, 429)) as server,
        engine_over(client, server.url) as engine,
        pytest.raises(EngineError, match="too much to do: wait a little"),
    ):
        engine.perform(Bulk("index", [Action("index", None, {})]))


@every_client
@pytest.mark.parametrize(
    "error",
    [
        {"type": "master_not_discovered_exception", "reason": None},
        {"type": "cluster_manager_not_discovered_exception", "reason": None},
        {"type": "cluster_block_exception", "reason": "blocked by: [SERVICE_UNAVAILABLE/2/no master];"},
        {"type": "cluster_block_exception", "reason": "blocked by: [SERVICE_UNAVAILABLE/2/no cluster-manager];"},
        {"type": "cluster_block_exception", "reason": "[SERVICE_UNAVAILABLE/1/state not recovered / initialized];"},
    ],
    ids=lambda error: str(error["reason"] or error["type"]),
)
def test_a_cluster_without_a_manager(client: str, error: dict[str, str | None]) -> None:
    with (
        serving(Answer({"error": {**error, "root_cause": [error]}, "status": 503}, 503)) as server,
        engine_over(client, server.url, max_retries=0) as engine,
        pytest.raises(UnreachableError, match="no elected manager"),
    ):
        engine.perform(PutMapping("index", {}))


@every_client
def test_missing_shards(client: str) -> None:
    error = {"type": "search_phase_execution_exception", "reason": "all shards failed", "phase": "query"}
    with (
        serving(Answer({"error": {**error, "root_cause": [], "failed_shards": []}, "status": 503}, 503)) as server,
        engine_over(client, server.url, max_retries=0) as engine,
        pytest.raises(UnavailableError, match="GET _cat/shards/index"),
    ):
        engine.perform(Search("index", {}))


ONCE: list[Operation[Any]] = [
    Bulk("index", [Action("index", "1", {}), Action("index", None, {})]),
    Bulk("index", [Action("create", "1", {})]),
    Bulk("alias", [Action("index", "1", {})], rolls=True),
    Bulk("index", [Action("delete", "1", None)]),
    Bulk("index", [Action("update", "1", {"script": "ctx._source.n += 1"})]),
    Bulk("index", [Action("update", "1", {"doc": {}}, metadata={"if_seq_no": 1, "if_primary_term": 1})]),
    CreateIndex("index", {}),
    DeleteIndex("index"),
]
OFTEN: list[Operation[Any]] = [
    Bulk("index", [Action("index", "1", {}), Action("update", "2", {"doc": {}})]),
    PutMapping("index", {}),
    Search("index", {}),
    Count("index", {}),
]


@every_client
@pytest.mark.parametrize("operation", ONCE, ids=str)
def test_requests_that_must_not_be_repeated_are_sent_once(client: str, operation: Operation[Any]) -> None:
    with serving(Answer(PAGE, 503, "text/html")) as server, engine_over(client, server.url) as engine:
        with pytest.raises(EngineError):
            engine.perform(operation)
        assert len(server.requests) == 1


@every_client
@pytest.mark.parametrize("operation", OFTEN, ids=str)
def test_other_requests_are_repeated_by_the_client_s_settings(client: str, operation: Operation[Any]) -> None:
    with (
        serving(Answer(PAGE, 503, "text/html")) as server,
        engine_over(client, server.url, max_retries=2) as engine,
    ):
        with pytest.raises(EngineError):
            engine.perform(operation)
        assert len(server.requests) == 3


@every_client
@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_without_its_server_is_worth_waiting_for(client: str, status: int) -> None:
    with (
        serving(Answer(PAGE, status, "text/html")) as server,
        engine_over(client, server.url) as engine,
        pytest.raises(UnavailableError, match="try again"),
    ):
        engine.perform(Search("index", {}))


@every_client
def test_a_client_with_another_use_keeps_its_retries(client: str) -> None:
    with (
        serving(Answer(PAGE, 503, "text/html")) as server,
        engine_over(client, server.url, max_retries=1) as engine,
    ):
        operations: list[Operation[Any]] = [DeleteIndex("index"), Search("index", {}), DeleteIndex("index")]
        for operation in operations:
            with pytest.raises(EngineError):
                engine.perform(operation)
        assert [request.split()[0] for request in server.requests] == ["DELETE", "POST", "POST", "DELETE"]


@every_client
@pytest.mark.parametrize("answer", [None, Answer(PAGE, 401, "text/html"), Answer(PAGE, 502, "text/html")], ids=str)
@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_no_message_holds_a_password(client: str, answer: Answer | None) -> None:
    with serving(answer or Answer({})) as server:
        url = server.url if answer else f"http://127.0.0.1:{free_port()}"
        with engine_over(client, url, **login(client)) as engine:
            operations: list[Operation[Any]] = [GetInfo(), Search("index", {})]
            for operation in operations:
                with pytest.raises(EngineError) as raised:
                    engine.perform(operation)
                said = everything_said(raised.value) + repr(engine)
                assert PASSWORD not in said
                assert base64.b64encode(f"user:{PASSWORD}".encode()).decode() not in said


@clients_of_elasticsearch
def test_opensearch_needs_its_own_client(client: str, opensearch_node: Node) -> None:
    operations: list[Operation[Any]] = [GetInfo(), Search("_all", {}), Bulk("index", [Action("index", "1", {})])]
    for operation in operations:
        with (
            engine_over(client, opensearch_node.url) as engine,
            pytest.raises(ClientVersionError, match=r"pip install '[^']+\[opensearch\]'"),
        ):
            engine.perform(operation)


@clients_of_elasticsearch
@pytest.mark.skipif(CLIENT_MAJOR < 9, reason="the installed client fits the older server")
def test_a_client_that_is_too_new_for_the_server(client: str, elasticsearch8_node: Node) -> None:
    with (
        engine_over(client, elasticsearch8_node.url) as engine,
        pytest.raises(ClientVersionError, match=r"runs Elasticsearch 8, .* pip install 'elasticsearch<9'"),
    ):
        engine.perform(GetInfo())
