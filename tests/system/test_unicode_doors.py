"""Through every door, a document of any Unicode is written as it is, or rejected by name, and takes no other with it.

Each history ends with a restart: the index is opened again, and what it was said to hold is there, and is found.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import elasticsearch.helpers
import opensearchpy.helpers
import pytest
from hypothesis import HealthCheck, example, given, settings

from es_simhash import Index, Policy, Scope
from es_simhash._core.json_codec import Json
from es_simhash.documents.sources import Rejected
from es_simhash.engines.opensearch import OpenSearchEngine
from es_simhash.errors import DocumentError
from es_simhash.plans.operations import DeleteIndex, Search
from tests import ROOT
from tests.support import commands
from tests.support.fuzzing import examples
from tests.support.rest_engines import new_name
from tests.support.unicode_documents import WORDS, body_of, documents, is_unicode, must_be_taken
from tools.nodes import Node

MAPPED = {"tenant": {"type": "keyword"}, "more": {"type": "object"}}
SCOPE = Scope(("tenant",))
# Each example has an index of its own.
each_in_its_index = settings(
    examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture(params=["embedded", "elasticsearch", "opensearch"])
def url(request: pytest.FixtureRequest) -> str | None:
    """Return the URL of a server; None for directories."""
    if request.param == "embedded":
        return None
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node.url


@contextmanager
def place(url: str | None, folder: Path) -> Iterator[tuple[str, str]]:
    """Make an index, and yield its name and where it is; remove it in the end."""
    name = new_name()
    target = url or str(folder / name)
    with Index(name, target, fields=["body"]) as index:
        create: Json = {"mappings": {"properties": MAPPED}}
        if url:
            create["settings"] = {"number_of_shards": 1, "number_of_replicas": 0}
        index.init(create=create, policy=Policy(SCOPE))
    try:
        yield name, target
    finally:
        if url:
            with Index(name, target) as index:
                index.engine.perform(DeleteIndex(name))


def held(name: str, target: str) -> dict[str, Json]:
    """Return what an index that is opened again holds, having looked for each document in it."""
    with Index(name, target) as index:
        index.refresh()
        body = {"query": {"match_all": {}}, "size": 1000}
        hits = list(index.engine.perform(Search(name, body))["hits"]["hits"])
        found = {hit["_id"]: hit["_source"] for hit in hits}
        assert all(each.pop(index.documents.prefix)["scheme"] for each in found.values())
        for id_, each in found.items():
            [matches] = index.find_many(ids=[id_], size=1000)
            near = {match.id for match in matches}
            assert near <= {other for other in found if found[other]["tenant"] == each["tenant"]} - {id_}
            [checked] = index.check([{**each, "_id": id_}])
            assert {match.id for match in checked.in_index} == near
        return found


def check_written(given_documents: list[Json], rejected: list[Any], there: dict[str, Json]) -> None:
    """Check that each document is there as it was given, or was rejected by its id."""
    by_id = {each["_id"]: body_of(each) for each in given_documents}
    assert {id_: by_id[id_] for id_ in there} == there
    assert sorted(map(str, [*there, *rejected])) == sorted(map(str, by_id))
    for each in given_documents:
        assert each["_id"] in there or not must_be_taken(each), each
        assert each["_id"] not in there or is_unicode(each)


@given(found=documents())
@example(
    found=[{"_id": "0", "body": WORDS, "tenant": "", "_routing": "\ud800"}, {"_id": "1", "body": WORDS, "tenant": ""}]
)
@each_in_its_index
def test_added_documents_are_there_or_rejected_each_by_itself(
    url: str | None, tmp_path: Path, found: list[Json]
) -> None:
    with place(url, tmp_path) as (name, target):
        rejected: list[Rejected] = []
        with Index(name, target) as index:
            written = index.add(found, on_reject=rejected.append)
        assert written.done + len(rejected) == len(found)
        assert [found[each.position]["_id"] for each in rejected] == [each.id or "" for each in rejected]
        assert all(each.reason.endswith(".") for each in rejected)
        check_written(found, [each.id or "" for each in rejected], held(name, target))


@given(found=documents())
@each_in_its_index
def test_loaded_files_are_there_or_rejected_each_by_itself(url: str | None, tmp_path: Path, found: list[Json]) -> None:
    with place(url, tmp_path) as (name, target):
        file, rejects = tmp_path / f"{name}.jsonl", tmp_path / f"{name}-rejects.jsonl"
        flat = [{"id": each["_id"], **body_of(each)} for each in found]
        file.write_text("".join(f"{json.dumps(each)}\n" for each in flat))
        line = ("load", name, str(file), "--id-field", "id", "--rejects", str(rejects), "--url", target)
        run = commands.run(*line, code=None)
        assert run.code in (0, 1), run.err
        assert "Traceback" not in run.err
        # Not by `str.splitlines`: a line may have U+2028.
        left = rejects.read_text().removesuffix("\n").split("\n") if rejects.exists() else []
        there = held(name, target)
        assert len(there) + len(left) == len(flat)
        assert (run.code == 1) == bool(left)
        with_ids = [{"_id": each["id"], **each} for each in flat]
        missing = [each["_id"] for each in with_ids if each["_id"] not in there]
        check_written(with_ids, missing, there)


@given(found=documents())
@each_in_its_index
def test_checking_answers_for_each_document_and_writes_nothing(
    url: str | None, tmp_path: Path, found: list[Json]
) -> None:
    with place(url, tmp_path) as (name, target):
        rejected: list[Rejected] = []
        with Index(name, target) as index:
            index.add([{"_id": "there", "body": WORDS, "tenant": "a"}], refresh=True)
            checked = list(index.check(found, on_reject=rejected.append))
        assert sorted([*(each.position for each in checked), *(each.position for each in rejected)]) == list(
            range(len(found))
        )
        assert all(not is_unicode(found[each.position]["body"]) for each in rejected)
        for each in checked:
            own = found[each.position]
            assert [match.id for match in each.in_index] == ["there"] * (own["tenant"] == "a" and own["_id"] != "there")
            assert {match.id for match in each.earlier} <= {
                before["_id"] for before in found[: each.position] if before["tenant"] == own["tenant"]
            }
        assert held(name, target).keys() == {"there"}


@given(found=documents())
@each_in_its_index
def test_bulk_helpers_write_what_can_be_sent(url: str | None, tmp_path: Path, found: list[Json]) -> None:
    if url is None:
        pytest.skip("Bulk helpers are for servers.")
    with place(url, tmp_path) as (name, target):
        rejected: list[Rejected] = []
        with Index(name, target) as index:
            actions = list(index.documents.actions([{**each, "_index": name} for each in found], rejected.append))
            assert all(not is_unicode(each["body"]) for each in found if each["_id"] in {one.id for one in rejected})
            sendable = [each for each in actions if is_unicode(each) and must_be_taken(each)]
            helpers, client = bulk_helpers(index, url)
            with client:
                done, errors = helpers.bulk(client, sendable, raise_on_error=False)
        assert (done, errors) == (len(sendable), [])
        there = held(name, target)
        assert there == {each["_id"]: body_of(each) for each in found if each["_id"] in there}
        assert there.keys() == {each["_id"] for each in sendable}


@pytest.mark.parametrize("count", [1, 30, 1200])
def test_a_bulk_helper_writes_nothing_if_no_document_has_the_text(url: str | None, tmp_path: Path, count: int) -> None:
    if url is None:
        pytest.skip("Bulk helpers are for servers.")
    with place(url, tmp_path) as (name, target):
        wrong = [{"_index": name, "_id": str(i), "_source": {"bodi": WORDS, "tenant": "a"}} for i in range(count)]
        right = {"_index": name, "_id": "right", "_source": {"body": WORDS, "tenant": "a"}}
        with Index(name, target) as index:
            helpers, client = bulk_helpers(index, url)
            with client:
                with pytest.raises(
                    DocumentError, match=r"has the field body.*They have: bodi, tenant\. Did you mean 'bodi'"
                ):
                    helpers.bulk(client, index.documents.actions(wrong))
                assert held(name, target) == {}
                done, errors = helpers.bulk(client, index.documents.actions([*wrong[:500], right]))
        assert (done, errors) == (min(count, 500) + 1, [])


def bulk_helpers(index: Index, url: str) -> tuple[Any, Any]:
    if isinstance(index.engine, OpenSearchEngine):
        return opensearchpy.helpers, opensearchpy.OpenSearch(url)
    return elasticsearch.helpers, elasticsearch.Elasticsearch(url)


def test_agents_add_documents_that_are_there_or_rejected_each_by_itself(url: str | None, tmp_path: Path) -> None:
    from tests.support.frameworks import needs

    needs("mcp")
    from mcp import Client, StdioServerParameters, stdio_client

    batches: list[list[Json]] = []

    @given(found=documents())
    @settings(examples(12), database=None)
    def draw(found: list[Json]) -> None:
        # A message is UTF-8, so a client cannot send half of a surrogate pair.
        named = [{**each, "_id": f"{len(batches)} {each['_id']}"} for each in found]
        batches.append([{"_id": each["_id"], **body_of(each)} for each in named if is_unicode(each)])

    draw()
    with place(url, tmp_path) as (name, target):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        line = ["-m", "es_simhash", "mcp", name, "--url", target, "--allow-write"]
        server = StdioServerParameters(command=sys.executable, args=line, env=environment)
        rejected: list[str] = []

        async def ask() -> None:
            async with Client(stdio_client(server)) as client:
                for batch in filter(None, batches):
                    answer = await client.call_tool("check", {"documents": batch})
                    assert not answer.is_error, answer.content
                    added = await client.call_tool("add", {"documents": batch})
                    assert not added.is_error, added.content
                    assert added.structured_content
                    rejected.extend(batch[each["position"]]["_id"] for each in added.structured_content["rejected"])
                for each in (each for batch in batches for each in batch[:2]):
                    scope = {"tenant": each["tenant"]}
                    reply = await client.call_tool("find", {"text": WORDS, "scope_values": scope, "fields": ["more"]})
                    assert not reply.is_error, reply.content

        asyncio.run(asyncio.wait_for(ask(), 240))
        check_written([each for batch in batches for each in batch], rejected, held(name, target))
