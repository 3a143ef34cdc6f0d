"""One id for a run: in its log, its spans, its metrics, and with every request that a server gets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.commands import run
from tests.support.http_server import Answer, Request, listening
from tests.support.news_index import index_of_news
from tests.support.traces import collected
from tools.nodes import Node

NODES = ("elasticsearch_node", "opensearch_node")


@pytest.fixture(params=NODES)
def node(request: pytest.FixtureRequest) -> Node:
    found: Node = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def index(node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    yield from index_of_news(node, tmp_path, monkeypatch)


@contextmanager
def overheard(node: Node) -> Iterator[tuple[str, list[Request]]]:
    """A proxy before the node, and the requests that went through it."""
    heard: list[Request] = []

    def respond(request: Request) -> Answer:
        heard.append(request)
        return request.forward()

    with listening(respond, node=node) as url:
        yield url, heard


def test_logs_spans_metrics_and_requests_name_the_run(node: Node, index: str) -> None:
    with overheard(node) as (url, heard), collected() as traces:
        done = run(
            "load", index, "news.jsonl", "--field", "body", "--log-format", "json", "--metrics-file", "m", "--url", url
        )
    [run_id] = {json.loads(line)["run_id"] for line in done.err.splitlines()}
    assert {request.headers.get("x-opaque-id") for request in heard[1:]} == {run_id}
    assert f'run_id="{run_id}"' in Path("m").read_text(encoding="utf-8")
    [root] = [span for span in traces.spans if not span.parent]
    assert (root.attributes or {})["es_simhash.run.id"] == run_id


def test_spans_name_the_server_by_the_conventions_for_databases(node: Node, index: str) -> None:
    with overheard(node) as (url, _), collected() as traces:
        run("load", index, "news.jsonl", "--field", "body", "--url", url.replace("://", "://elastic:hunter2@"))
    [bulk] = [span for span in traces.spans if span.name == f"bulk {index}"]
    assert dict(bulk.attributes or {}) == {
        "db.system.name": node.release.engine,
        "db.operation.name": "bulk",
        "db.collection.name": index,
        "db.operation.batch.size": 60,
        "server.address": "127.0.0.1",
        "server.port": urlsplit(url).port,
    }
    assert "hunter2" not in traces.everything()


def test_writes_that_are_refused_and_tried_again_are_counted(node: Node, index: str) -> None:
    run("load", index, "news.jsonl", "--field", "body", "--url", node.url)
    run("remove", index, "--yes", "--url", node.url)
    full = Answer({"error": {"type": "es_rejected_execution_exception", "reason": "full"}, "status": 429}, 429)
    bulks: list[Request] = []

    def refuse_the_first(request: Request) -> Answer:
        if "_bulk" in request.name:
            bulks.append(request)
        return full if bulks == [request] else request.forward()

    with listening(refuse_the_first, node=node) as url:
        run("backfill", index, "--field", "body", "--metrics-file", "m", "--url", url)
    # An update is two lines.
    refused = bulks[0].body.count(b"\n") // 2
    assert 0 < refused <= 60
    text = Path("m").read_text(encoding="utf-8")
    own = f'file="m",index="{index}"'
    assert f'es_simhash_refusals_total{{{own},verb="backfill"}} {refused}.0' in text
    assert f'{{error_type="UnavailableError",{own},operation="bulk",verb="backfill"}} 1.0' in text
    assert f'es_simhash_documents_total{{{own},outcome="written",verb="backfill"}} 60.0' in text
