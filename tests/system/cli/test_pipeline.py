"""``scripts --pipeline`` through real processes, on real servers."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from es_simhash.engines.connect import connect
from es_simhash.index import Index
from es_simhash.plans.operations import DeleteIndex
from tests.support.commands import lines, run
from tests.support.corpus import corpus
from tests.support.dev_tools import requests
from tests.support.outputs import check_output
from tests.support.whole_indices import ENGINES, FIELDS
from tools.nodes import Node


@pytest.fixture(params=ENGINES[1:])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node


@pytest.fixture
def index(node: Node) -> Any:
    name = f"cli-{uuid.uuid4().hex[:10]}"
    with Index(name, node.url, fields=FIELDS) as index:
        index.init()
    yield name
    engine = connect(node.url)
    engine.perform(DeleteIndex(name))
    engine.close()


def test_a_walk(tmp_path: Path, node: Node, index: str) -> None:
    def do(*arguments: str) -> dict[str, Any]:
        done = run("scripts", "--pipeline", index, "--json", *arguments, cwd=tmp_path, ES_SIMHASH_URL=node.url)
        [line] = lines(done)
        check_output({"scripts --pipeline": [line]})
        form: dict[str, Any] = line
        return form

    name = f"es-simhash-{index}"
    shown = do()
    assert (shown["installed"], shown["default_of"]) == (False, [])
    assert node.request("GET", f"/_ingest/pipeline/{name}").status == 404
    assert do("--install", "--default") == {"pipeline": name, "installed": True, "default_of": [index], "request": None}
    [original] = corpus(1)
    node.request("PUT", f"/{index}/_doc/1?refresh=true", original)
    assert node.request("GET", f"/{index}/_doc/1").body["_source"]["dedup"]["status"] == "ok"
    assert do("--remove") == {"pipeline": name, "installed": False, "default_of": [index], "request": None}
    assert node.request("GET", f"/_ingest/pipeline/{name}").status == 404


def test_what_is_printed_can_be_pasted_as_it_is(tmp_path: Path, node: Node, index: str) -> None:
    done = run("scripts", "--pipeline", index, cwd=tmp_path, ES_SIMHASH_URL=node.url)
    assert "Paste this into Dev Tools" in done.err
    [sent] = requests(done.out)
    assert (sent.method, sent.path) == ("PUT", f"/_ingest/pipeline/es-simhash-{index}")
    assert node.request(sent.method, sent.path, sent.body).status == 200
    done = run("scripts", "--pipeline", index, "--install", cwd=tmp_path, ES_SIMHASH_URL=node.url)
    assert done.out == f"es-simhash-{index}: installed\n"
    assert f"write with ?pipeline=es-simhash-{index}" in done.err
    done = run("scripts", "--pipeline", index, "--remove", cwd=tmp_path, ES_SIMHASH_URL=node.url)
    assert done.out == f"es-simhash-{index}: removed\n"
    done = run("scripts", "--pipeline", index, "--remove", cwd=tmp_path, ES_SIMHASH_URL=node.url)
    assert done.out == f"es-simhash-{index}: was not there\n"


def test_what_cannot_be_done_is_said(tmp_path: Path, node: Node, index: str) -> None:
    node.request("PUT", f"/{index}/_settings", {"index.default_pipeline": "theirs"})
    refused = run(
        "scripts", "--pipeline", index, "--install", "--default", cwd=tmp_path, code=4, ES_SIMHASH_URL=node.url
    )
    assert f'{{"pipeline": {{"name": "es-simhash-{index}"}}}}' in refused.err
    assert run("scripts", "--pipeline", "nowhere", cwd=tmp_path, code=4, ES_SIMHASH_URL=node.url).out == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--default"], "Add --pipeline and --install"),
        (["--remove", "--install"], "Choose one"),
        ([], "has no ingest pipelines"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, options: list[str], message: str) -> None:
    with Index("news", tmp_path / ".es-simhash", fields=FIELDS) as index:
        index.init()
    refused = run("scripts", "--pipeline", "news", *options, cwd=tmp_path, code=2 if options else 4)
    assert message in refused.err
    assert not refused.out
