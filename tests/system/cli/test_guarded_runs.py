"""Runs on a server with security: what operators see of them holds no secret."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Run, run
from tests.support.news_index import index_of_news
from tests.support.traces import collected
from tools.nodes import Node

SHOWN = ("--debug", "--log-format", "json")
FILE = ("--metrics-file", "run.prom")


@pytest.fixture
def index(guarded_node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    yield from index_of_news(guarded_node, tmp_path, monkeypatch)


def everything(runs: list[Run], spans: str) -> str:
    """What runs have shown, sent and written."""
    written = [path.read_text(encoding="utf-8") for path in Path.cwd().iterdir() if path.is_file()]
    return "\n".join([*(done.out + done.err for done in runs), spans, *written])


def forms_of(user: str, secret: str) -> list[str]:
    return [secret, base64.b64encode(f"{user}:{secret}".encode()).decode()]


def test_a_password_in_the_url_is_nowhere_in_what_runs_show(guarded_node: Node, index: str) -> None:
    assert guarded_node.password
    url = guarded_node.url.replace("://", f"://elastic:{guarded_node.password}@")
    wrong = guarded_node.url.replace("://", "://elastic:wr0ng-w0rd-0f-somebody@")
    with collected() as traces:
        runs = [
            run(*SHOWN, "--url", url, "load", index, "news.jsonl", "--field", "body", *FILE),
            run(*SHOWN, "--url", url, "group", index, "--write", *FILE),
            run(*SHOWN, "--url", url, "group", "nowhere", *FILE, code=4),
            run(*SHOWN, "--url", wrong, "backfill", index, *FILE, code=4),
        ]
        shown = everything(runs, traces.everything())
    assert f"bulk {index}" in shown
    secrets = [*forms_of("elastic", guarded_node.password), *forms_of("elastic", "wr0ng-w0rd-0f-somebody")]
    assert [secret for secret in secrets if secret in shown] == []


def test_an_api_key_of_the_environment_is_nowhere_in_what_runs_show(guarded_node: Node, index: str) -> None:
    key = guarded_node.request("POST", "/_security/api_key", {"name": index}).body

    def with_key(*arguments: str, code: int = 0) -> Run:
        login = f"{key['id']}:{key['api_key']}"
        return run(*SHOWN, *arguments, *FILE, code=code, ES_SIMHASH_URL=guarded_node.url, ES_SIMHASH_API_KEY=login)

    with collected() as traces:
        runs = [
            with_key("load", index, "news.jsonl", "--field", "body"),
            with_key("backfill", index, "--refresh-stale"),
            with_key("group", "nowhere", code=4),
        ]
        shown = everything(runs, traces.everything())
    secrets = [*forms_of(key["id"], key["api_key"]), key["encoded"]]
    assert [secret for secret in secrets if secret in shown] == []
