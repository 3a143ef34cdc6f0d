"""Exit codes of real processes on real servers: what may pass by itself, and what needs a person."""

from __future__ import annotations

import json
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from es_simhash.cli.show import output
from es_simhash.index import Index
from tests.support.commands import lines, run
from tests.support.corpus import corpus
from tests.support.http_server import Answer, Request, listening, serving
from tests.support.whole_indices import ENGINES, FIELDS
from tools.nodes import Node

GIVEN = [argument for field in FIELDS for argument in ("--field", field)]
# What a command answers without waiting for the server to come back.
AT_ONCE = ("--patience", "0")


@pytest.fixture(params=ENGINES[1:])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node


@pytest.fixture
def index(node: Node) -> Iterator[str]:
    name = f"codes-{uuid.uuid4().hex[:10]}"
    with Index(name, node.url, fields=FIELDS) as index:
        index.init()
        index.add([{"_id": str(i), **text} for i, text in enumerate(corpus(3))], refresh=True)
    yield name
    node.request("DELETE", f"/{name}")


@pytest.fixture
def nowhere() -> str:
    """An address at which nothing listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


@pytest.fixture
def news(tmp_path: Path) -> str:
    """A file with three documents."""
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), **text}) + "\n" for i, text in enumerate(corpus(3))))
    return str(path)


def every_verb(index: str, news: str) -> list[list[str]]:
    """Each verb that reads or writes an index."""
    return [
        ["init", index],
        ["info", index],
        ["doctor", index],
        ["backfill", index, *AT_ONCE],
        ["sync", index, *AT_ONCE],
        ["find", index, "--id", "0"],
        ["search", index, "--query", "storm"],
        ["check", index, news],
        ["load", index, news, *AT_ONCE],
        ["explain", index, "0", "1"],
        ["group", index, *AT_ONCE],
        ["erase", index, "--id", "0"],
        ["remove", index, "--yes", *AT_ONCE],
        ["reindex", index, f"{index}-2", *GIVEN, *AT_ONCE],
        ["scripts", index],
        ["evaluate", index, "--labels", news],
        ["tune", index, "--similarity", "0.5"],
        ["dashboard", index],
        ["gate", index, "--stdin", "--state", "gate"],
        ["mcp", index],
    ]


def test_no_verb_says_try_later_of_an_index_that_is_not_there(node: Node, news: str, tmp_path: Path) -> None:
    found = {}
    for each in every_verb(f"codes-none-{uuid.uuid4().hex[:10]}", news):
        found[each[0]] = run(*each, cwd=tmp_path, code=None, ES_SIMHASH_URL=node.url).code
    # A file of documents is not a file of labels, which is noticed first.
    assert found.pop("evaluate") == output.USAGE
    assert set(found.values()) <= {output.REFUSED, output.USAGE}, found
    assert found["backfill"] == found["sync"] == found["group"] == found["find"] == found["check"] == output.REFUSED


def test_each_verb_says_try_later_of_a_server_that_is_away(nowhere: str, news: str, tmp_path: Path) -> None:
    found = {}
    for each in every_verb("articles", news):
        if each[0] not in ("evaluate", "scripts"):
            found[each[0]] = run(*each, cwd=tmp_path, code=None, ES_SIMHASH_URL=nowhere).code
    assert set(found.values()) == {output.LATER}, found


def test_a_closed_index_and_another_scheme_need_a_person(node: Node, index: str, tmp_path: Path) -> None:
    run("init", index, "--scheme", "short", *GIVEN, cwd=tmp_path, code=output.REFUSED, ES_SIMHASH_URL=node.url)
    run("backfill", index, "--field", "other", cwd=tmp_path, code=output.REFUSED, ES_SIMHASH_URL=node.url)
    node.request("POST", f"/{index}/_close")
    for command in (["group", index], ["find", index, "--id", "0"], ["backfill", index, *AT_ONCE]):
        run(*command, cwd=tmp_path, code=output.REFUSED, ES_SIMHASH_URL=node.url)


def test_a_server_without_tls_never_answers_by_https(node: Node, index: str, tmp_path: Path) -> None:
    url = node.url.replace("http://", "https://")
    done = run("info", index, cwd=tmp_path, code=output.REFUSED, ES_SIMHASH_URL=url)
    assert "TLS connection" in done.err


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_is_overloaded_may_answer_later(status: int, tmp_path: Path) -> None:
    error = {"error": {"type": "rejected_execution_exception", "reason": "queue full"}, "status": status}
    with serving(lambda name: Answer({"version": {"number": "9.4.3"}} if name == "GET /" else error, status)) as server:
        run("info", "articles", "--distribution", "elasticsearch", "--url", server.url, cwd=tmp_path, code=output.LATER)


def test_documents_that_a_busy_server_refuses_may_be_taken_later(
    node: Node, index: str, news: str, tmp_path: Path
) -> None:
    """The server answers a bulk, and refuses its second document for now, until patience ends."""
    refused = ["1"]

    def busy(request: Request) -> Answer:
        answer = request.forward()
        if "_bulk" in request.path and isinstance(answer.body, bytes):
            reply = {**json.loads(answer.body), "errors": True}
            for item in reply["items"]:
                for one in item.values():
                    if one["_id"] in refused:
                        one |= {"status": 429, "error": {"type": "rejected_execution_exception", "reason": "busy"}}
            return Answer(reply, answer.status, headers=answer.headers)
        return answer

    given = ["load", index, news, "--patience", "0.1", "--rejects", "rejected.jsonl", "--json"]
    with listening(busy, node=node) as url:
        [done] = lines(run(*given, "--url", url, cwd=tmp_path, code=output.LATER))
        assert (done["written"], done["rejected"]) == (2, 1)
        [rejected] = [json.loads(line) for line in (tmp_path / "rejected.jsonl").read_text().splitlines()]
        assert (rejected["id"], rejected["may_pass"]) == ("1", True)
        # One that is refused for good makes it a matter for a person.
        with open(news, "a", encoding="utf-8") as file:
            file.write('{"id": "bad", "title": {"no": "text"}}\n')
        run(*given, "--url", url, cwd=tmp_path, code=output.SOME_FAILED)
