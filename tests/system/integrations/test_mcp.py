"""The server for agents, in a process of its own, asked by the official client over its standard streams."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Index, Policy, Scope
from es_simhash.plans.operations import DeleteIndex
from tests import ROOT
from tests.support.corpus import corpus, edited
from tests.support.frameworks import needs
from tests.support.queries import reaching, wrapped
from tools.nodes import Node

needs("mcp")

import jsonschema
from mcp import Client, StdioServerParameters, stdio_client

from tests.support.rest_engines import new_name

DOCUMENTS = [{"_id": str(i), **each, "n": i} for i, each in enumerate(corpus(9))]
COPY = {"_id": "copy", **edited(corpus(9)[4]), "n": 4}
TEXT = corpus(9)[4]["title"] + "\n" + corpus(9)[4]["body"]


@dataclass(frozen=True)
class Served:
    """An index, and the program that serves it."""

    index: Index
    url: str

    def command(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "es_simhash", "mcp", self.index.name, "--url", self.url, *options]

    def client(self, *options: str) -> AbstractAsyncContextManager[Client]:
        program, *arguments = self.command(*options)
        own = {name: value for name, value in os.environ.items() if not name.startswith("ES_SIMHASH_")}
        given = StdioServerParameters(command=program, args=arguments, env={**own, "PYTHONPATH": str(ROOT)})
        return Client(stdio_client(given))


@pytest.fixture(params=["embedded", "elasticsearch", "opensearch"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    url = str(tmp_path / "db")
    if request.param != "embedded":
        node: Node = request.getfixturevalue(f"{request.param}_node")
        url = node.url
    name = new_name()
    # Of an embedded index there is one writer, which shall be the server.
    with Index(name, url, fields=["title", "body"]) as index:
        index.init(create={"settings": {"number_of_replicas": 0}} if request.param != "embedded" else None)
        index.add([*DOCUMENTS, COPY], refresh=True)
    with Index(name, url) as index:
        yield Served(index, url)
    if request.param != "embedded":
        node.request("DELETE", f"/{index.name}")


Asked = Callable[[str, dict[str, Any]], Coroutine[Any, Any, dict[str, Any]]]


def ask(served: Served, *options: str, questions: Callable[[Asked], Coroutine[Any, Any, None]]) -> None:
    """Put questions to the server; each answer must have the form that its tool promised."""

    async def run() -> None:
        async with served.client(*options) as client:
            schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}

            async def asked(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
                reply = await client.call_tool(tool, arguments)
                assert not reply.is_error, reply.content
                jsonschema.validate(reply.structured_content, schemas[tool] or False)
                assert isinstance(reply.structured_content, dict)
                return reply.structured_content

            await questions(asked)

    asyncio.run(asyncio.wait_for(run(), 120))


def test_the_tools_answer_what_the_index_does(served: Served) -> None:
    async def questions(asked: Asked) -> None:
        found = await asked("find", {"id": "4", "fields": ["n"]})
        [match] = found["matches"]
        [expected] = served.index.find(id="4", source=["title", "body", "n"])
        assert (match["id"], match["similarity"], match["distance"]) == ("copy", expected.similarity, expected.distance)
        assert match["document"] == {name: value for name, value in COPY.items() if name != "_id"}
        by_text = await asked("find", {"text": TEXT, "similarity": "copies"})
        assert [each["id"] for each in by_text["matches"]] == ["4", "copy"]
        assert by_text["matches"][0]["same_text"]
        filtered = await asked("find", {"text": TEXT, "filter": {"ids": {"values": ["copy"]}}})
        assert [each["id"] for each in filtered["matches"]] == ["copy"]

        new = {
            "title": "Bridge",
            "body": "A new bridge over the river was opened on Sunday. It took four years to build.",
        }
        checked = await asked(
            "check", {"documents": [{**COPY, "_id": "x"}, new, {**new, "_id": "y"}, {"title": {"deep": 1}}]}
        )
        assert [each["is_new"] for each in checked["documents"]] == [False, True, False]
        assert {each["id"] for each in checked["documents"][0]["in_index"]} == {"4", "copy"}
        assert [each["id"] for each in checked["documents"][2]["earlier"]] == ["1"]
        assert [each["position"] for each in checked["rejected"]] == [3]

        explained = await asked("explain", {"a": "4", "b": "copy"})
        verdict = served.index.explain("4", "copy").verdict
        assert (explained["are_duplicates"], explained["code"]) == (True, "duplicates")
        assert explained["verdict"] == verdict.sentence
        assert "{+x+}" in explained["differences"]
        assert not (await asked("explain", {"a": "4", "b": "5"}))["are_duplicates"]

        groups = await asked("groups", {})
        assert (groups["documents"], groups["groups"], groups["duplicates"]) == (10, 1, 1)
        [group] = groups["largest"]
        assert [member["id"] for member in group["members"]] == ["4", "copy"]
        assert group["members"][0]["document"]["title"] == DOCUMENTS[4]["title"]
        assert len((await asked("groups", {"members": 1}))["largest"][0]["members"]) == 1

        sample = await asked("sample", {})
        assert (sample["drawn"], sample["with_near_duplicates"], sample["documents"]) == (10, 2, 10)
        assert {(pair["a"], pair["b"]) for pair in sample["pairs"]} == {("4", "copy"), ("copy", "4")}
        assert all("x" in pair["differences"] for pair in sample["pairs"])
        assert len((await asked("sample", {"pairs": 1}))["pairs"]) == 1
        assert (await asked("sample", {"filter": {"ids": {"values": ["1", "2"]}}}))["drawn"] == 2

    before = stored(served.index)
    ask(served, questions=questions)
    assert stored(served.index) == before


def stored(index: Index) -> list[Any]:
    """Return all documents of an index."""
    hits = index.search({"query": {"match_all": {}}, "size": 100}, distinct=False)
    return sorted((hit.hit["_id"], hit.hit["_source"]) for hit in hits)


def test_documents_are_added_where_that_is_allowed_and_none_is_replaced(served: Served) -> None:
    async def questions(asked: Asked) -> None:
        new = {"_id": "n", "title": "Bridge", "body": "A new bridge over the river was opened on Sunday."}
        added = await asked("add", {"documents": [new, {**new, "_id": "4"}, {"title": {"deep": 1}, "_id": "z"}]})
        assert added["written"] == 1
        assert [each["id"] for each in added["rejected"]] == ["4", "z"]
        found = await asked("find", {"text": "Bridge\nA new bridge over the river was opened on Sunday!"})
        assert [each["id"] for each in found["matches"]] == ["n"]

    before = stored(served.index)
    ask(served, "--allow-write", questions=questions)
    assert [each for each in stored(served.index) if each[0] != "n"] == before


@pytest.mark.each_server
def test_no_filter_reaches_beyond_the_index(served: Served) -> None:
    """Each query that could is refused before the server sees it, in every tool and at any depth."""
    other = f"{served.index.name}-salaries"
    with Index(other, served.url, fields=["body"]) as secret:
        secret.init(create={"settings": {"number_of_replicas": 0}} if "://" in served.url else None)
        secret.add([{"_id": "1", "body": "No agent may learn of this.", "tags": ["4"], "n": 4}], refresh=True)
    lookup = {"terms": {"n": {"index": other, "id": "1", "path": "n"}}}
    if "://" in served.url:
        # The server itself answers by the other index.
        assert [match.id for match in served.index.find(TEXT, filter=lookup)] == ["4", "copy"]
        none = {"terms": {"n": {"index": other, "id": "2", "path": "n"}}}
        assert not served.index.find(TEXT, filter=none)
    queries = {"its own lookup": lookup, **reaching(other)}

    async def run() -> None:
        async with served.client() as client:
            tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
            filtering = {name for name, schema in tools.items() if "filter" in schema["properties"]}
            assert filtering == {"find", "groups", "sample"}
            for name, query in queries.items():
                for tool, depth in (("find", 0), ("groups", 1), ("sample", 3), ("find", 3)):
                    given = {"text": TEXT} if tool == "find" else {}
                    reply = await client.call_tool(tool, {**given, "filter": wrapped(query, depth)})
                    assert reply.is_error, (name, tool)
                    said = str(reply.content)
                    assert "Use only: " in said or "Correct it." in said or "Give " in said, (name, said)
                    assert "agent may learn" not in said
            deep = await client.call_tool("find", {"text": TEXT, "filter": wrapped({"exists": {"field": "n"}}, 40)})
            assert "more than 8 in one another" in str(deep.content)
            for literal in (
                {"bool": {"must": {"term": {"n": 4}}, "must_not": [{"ids": {"values": ["copy"]}}]}},
                {
                    "bool": {
                        "filter": [{"terms": {"n": [3, 4]}}, {"range": {"n": {"gte": 4}}}, {"ids": {"values": "4"}}]
                    }
                },
                {"bool": {"must": [{"exists": {"field": "n"}}, {"match": {"body": "x"}}]}},
            ):
                reply = await client.call_tool("find", {"text": TEXT, "filter": literal})
                assert not reply.is_error, reply.content
                assert reply.structured_content
                assert len(reply.structured_content["matches"]) == 1

    try:
        asyncio.run(asyncio.wait_for(run(), 240))
    finally:
        Index(other, served.url).engine.perform(DeleteIndex(other))


def test_several_questions_at_once_are_all_answered(served: Served) -> None:
    async def questions(asked: Asked) -> None:
        answers = await asyncio.gather(*(asked("find", {"id": str(n)}) for n in range(9)), asked("groups", {}))
        assert [len(each["matches"]) for each in answers[:9]] == [int(n == 4) for n in range(9)]
        assert answers[9]["groups"] == 1

    ask(served, questions=questions)


def test_the_scope_of_the_index_holds(tmp_path: Path) -> None:
    with Index("news", tmp_path / "db", fields=["body"]) as index:
        index.init(
            create={"mappings": {"properties": {"tenant": {"type": "keyword"}}}},
            policy=Policy(scope=Scope(within=("tenant",))),
        )
        index.add(
            [{"_id": f"{name}{n}", "body": TEXT, "tenant": name} for name in "ab" for n in range(2)], refresh=True
        )

        async def questions(asked: Asked) -> None:
            found = await asked("find", {"text": TEXT, "scope_values": {"tenant": "a"}})
            assert [each["id"] for each in found["matches"]] == ["a0", "a1"]
            with pytest.raises(AssertionError, match="A text has no value in tenant, which the scope needs"):
                await asked("find", {"text": TEXT})
            assert (await asked("groups", {}))["groups"] == 2
            sample = await asked("sample", {})
            assert {(pair["a"][0], pair["b"][0]) for pair in sample["pairs"]} == {("a", "a"), ("b", "b")}

        ask(Served(index, str(tmp_path / "db")), questions=questions)


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Served]:
    with Index("news", tmp_path / "db", fields=["title", "body"]) as index:
        index.init()
        index.add(DOCUMENTS, refresh=True)
        yield Served(index, str(tmp_path / "db"))


def test_an_error_of_ours_is_an_error_of_the_tool_and_the_server_goes_on(embedded: Served) -> None:
    async def run() -> None:
        async with embedded.client() as client:
            reply = await client.call_tool("find", {"id": "no such"})
            assert reply.is_error
            assert "The index 'news' has no document 'no such'. Check the id." in str(reply.content)
            assert (await client.call_tool("add", {"documents": [COPY]})).is_error
            assert not (await client.call_tool("find", {"id": "4"})).is_error

    asyncio.run(asyncio.wait_for(run(), 120))


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}


def started(served: Served, *options: str) -> subprocess.Popen[bytes]:
    """Start the server, and wait for its first answer."""
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*served.command(), *options]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert answer["result"]["serverInfo"]["name"] == "es-simhash"
    assert "'news'" in answer["result"]["instructions"]
    return process


def test_it_ends_with_its_input_having_printed_nothing_but_answers(embedded: Served) -> None:
    out, err = started(embedded).communicate(b"not a message\n", timeout=60)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert err.decode().startswith(f"Using the embedded engine in {embedded.url} (--url).\n")


def test_an_interruption_ends_it_although_the_client_is_silent(embedded: Served) -> None:
    process = started(embedded)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    _, err = process.communicate()
    assert err.decode().endswith("Interrupted.\n")


def test_the_log_of_an_interrupted_server_says_that_it_has_ended(embedded: Served) -> None:
    process = started(embedded, "--log-format", "json")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    events = [json.loads(line) for line in process.communicate()[1].splitlines()]
    assert [each["event"] for each in events[-2:]] == ["interrupted", "finished"]
    assert events[-1]["exit_code"] == 130


def test_without_an_index_it_does_not_start(embedded: Served) -> None:
    command = [*embedded.command()[:4], "nowhere", *embedded.command()[5:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, input=b"", capture_output=True, env=environment, timeout=60, check=False)
    assert done.returncode == 4
    assert b"The index 'nowhere' does not exist" in done.stderr
    assert done.stdout == b""


def test_a_server_whose_client_vanishes_ends_quietly(tmp_path: Path) -> None:
    name, url = new_name(), str(tmp_path / "db")
    with Index(name, url, fields=["title", "body"]) as index:
        index.init()
        index.add(DOCUMENTS, refresh=True)
        command = Served(index, url).command()
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:  # type: ignore[call-overload]

        def send(method: str, **more: Any) -> None:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, **more}).encode() + b"\n")
            process.stdin.flush()

        who = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        send("initialize", id=1, params=who)
        assert b"capabilities" in process.stdout.readline()
        send("notifications/initialized")
        process.stdout.close()
        with suppress(BrokenPipeError):
            for number in range(2, 5):
                send("tools/list", id=number)
        with suppress(BrokenPipeError):
            process.stdin.close()
        said = process.stderr.read().decode()
        assert process.wait() == 0, said
    assert "Error" not in said
    assert "Group" not in said
