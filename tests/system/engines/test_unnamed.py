"""Servers that do not identify themselves: what the caller says is used everywhere, without a version."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from click.testing import CliRunner
from opensearchpy import AsyncOpenSearch, OpenSearch

from es_simhash.cli.program import app
from es_simhash.engines.connect import connect
from es_simhash.errors import EngineError
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.operations import EngineInfo, GetInfo
from tests.support.corpus import corpus
from tests.support.http_server import Answer, reticent, serving
from tests.support.rest_engines import new_name
from tools.nodes import Node

Distribution = Literal["elasticsearch", "opensearch"]
DOCUMENTS = [{"_id": str(i), **each} for i, each in enumerate([*corpus(9), corpus(9)[4]])]

# Every command that reads an index, or changes one; in this order.
LINES = (
    "init {index} --field title --field body",
    "load {index} news.jsonl",
    "find {index} --id 4",
    "find {index} --id 4 --field title --field body --prefix none",
    "check {index} news.jsonl",
    "explain {index} 4 9",
    "info {index}",
    "doctor {index}",
    "backfill {index} --refresh-stale --workers 2",
    "group {index} --write --output groups.jsonl --kibana-url http://localhost:5601",
    "dashboard {index} --output dashboard.ndjson",
    "tune {index} --histogram",
    "scripts {index}",
    "scripts --pipeline {index} --install --default",
    "scripts --pipeline {index} --remove",
    "reindex {index} {index}-copy --alias {index}-alias",
    "remove {index} --yes",
)


@pytest.fixture(params=[404, 403])
def refused(request: pytest.FixtureRequest, opensearch_node: Node) -> Iterator[str]:
    """The URL of an OpenSearch that refuses the question which engine it is."""
    with reticent(opensearch_node, request.param) as url:
        yield url


@pytest.fixture
def name(opensearch_node: Node) -> Iterator[str]:
    name = new_name()
    yield name
    for index in (name, f"{name}-copy"):
        opensearch_node.request("DELETE", f"/{index}")


@pytest.mark.parametrize("distribution", ["elasticsearch", "opensearch"])
def test_every_command_works(
    distribution: Distribution, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node: Node = request.getfixturevalue(f"{distribution}_node")
    monkeypatch.chdir(tmp_path)
    Path("news.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)), encoding="utf-8")
    index, runner = new_name(), CliRunner()
    with reticent(node) as url:
        variables = {"ES_SIMHASH_URL": url, "XDG_STATE_HOME": str(tmp_path)}
        for line in LINES:
            arguments = [*line.format(index=index).split(), "--distribution", distribution]
            done = runner.invoke(app, arguments, env=variables, standalone_mode=False)
            assert done.exception is None, f"{line}: {done.exception} {done.output}"
            assert not done.return_value, f"{line}: {done.output}"
    for each in (index, f"{index}-copy"):
        node.request("DELETE", f"/{each}")


def test_the_caller_names_the_engine_behind_a_client_too(refused: str, name: str) -> None:
    with OpenSearch(refused) as client:
        unnamed = Index(name, client, fields=["title", "body"])
        unnamed.init()
        with pytest.raises(EngineError):
            unnamed.info()
        index = Index(name, connect(client, distribution="opensearch"))
        index.add(DOCUMENTS, refresh=True)
        assert index.info().engine == "opensearch"
        assert index.backfill().total == 0
        with index.group() as grouped:
            assert grouped.counts.groups == 1
        [engine] = [each for each in index.doctor() if each.code == "engine"]
        assert (engine.level, engine.message) == ("note", "You named the engine OpenSearch; its version is unknown.")


def test_the_caller_names_the_engine_behind_an_asynchronous_client_too(refused: str, name: str) -> None:
    async def use() -> str:
        from es_simhash.engines.connect import connect_async

        async with AsyncOpenSearch(refused) as client:
            index = AsyncIndex(name, await connect_async(client, distribution="opensearch"), fields=["title", "body"])
            await index.init()
            await index.add(DOCUMENTS, refresh=True)
            await index.backfill()
            return (await index.info()).engine

    assert asyncio.run(use()) == "opensearch"


TELLING = Answer({"version": {"number": "3.8.0", "distribution": "opensearch"}})


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        (TELLING, (3, 8, 0)),
        (Answer({"status": 404}, 404), ()),
        (Answer("forbidden", 403, "text/plain"), ()),
        (Answer({"error": "method"}, 405), ()),
        (Answer({"tagline": "a proxy"}), ()),
    ],
)
def test_the_version_is_that_of_the_reply(answer: Answer, version: tuple[int, ...]) -> None:
    with serving(answer) as server:
        engine = connect(server.url, distribution="opensearch")
        assert engine.perform(GetInfo()) == EngineInfo("opensearch", version)
        engine.close()


@pytest.mark.parametrize("answer", [Answer({}, 401), Answer({}, 500), Answer({}, 503)])
def test_errors_of_a_login_or_server_are_still_reported(answer: Answer) -> None:
    with serving(answer) as server:
        engine: Any = connect(server.url, distribution="opensearch", max_retries=0)
        with pytest.raises(EngineError):
            engine.perform(GetInfo())
        engine.close()


@pytest.mark.parametrize("server", ["elasticsearch_node", "opensearch_node"])
def test_a_real_server_is_known_by_its_url(server: str, request: pytest.FixtureRequest) -> None:
    node: Node = request.getfixturevalue(server)
    engine = connect(node.url)
    assert engine.perform(GetInfo()).distribution == node.release.engine
    engine.close()
