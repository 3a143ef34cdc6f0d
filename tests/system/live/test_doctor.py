"""What would go wrong with a backfill on a server is found out before anything is written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, TypeVar

import pytest
from opensearchpy import AsyncOpenSearch

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.errors import IndexStateError, MappingError
from es_simhash.index import AsyncIndex, Index
from es_simhash.live.backfill import Backfill, BackfillOptions
from es_simhash.live.doctor.engine import Watermarks
from es_simhash.live.doctor.facts import Finding, Level, cluster_settings
from es_simhash.plans.operations import (
    Action,
    Bulk,
    Count,
    CreateIndex,
    DeleteIndex,
    GetMappings,
    GetResource,
    Operation,
    PutSettings,
    UpdateAliases,
)
from es_simhash.scheme.mapping import merge, number_of_fields
from es_simhash.scheme.scheme import Scheme
from tests.support.findings import levels, the_one
from tests.support.rest_engines import Pair, engine_over, new_name, parametrize_pairs
from tools.nodes import Node

Result = TypeVar("Result")

DOCUMENTS = Documents(Scheme(), ["body"])
BODY: Json = {"properties": {"body": {"type": "text"}}}
# The fields that an index without any gets: those of fingerprints, and those of the note about them.
NEW = number_of_fields(merge("empty", {}, DOCUMENTS.scheme.mapping("dedup", DOCUMENTS.fields)).body)
HELD_UP: tuple[Level, ...] = ("warning", "stop")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_pairs(metafunc)


class Stand:
    """An engine that answers some questions in its own way."""

    def __init__(self, engine: Engine, answer: Callable[[Operation[Any]], Any]) -> None:
        self._engine = engine
        self._answer = answer

    def perform(self, operation: Operation[Result]) -> Result:
        answer: Result | None = self._answer(operation)
        return self._engine.perform(operation) if answer is None else answer

    def close(self) -> None:
        """Leave the engine open."""


@pytest.fixture(scope="module")
def engine(pair: Pair, request: pytest.FixtureRequest) -> Iterator[Engine]:
    with engine_over(pair.client, pair.node(request).url) as engine:
        yield engine


@pytest.fixture(scope="module")
def node(pair: Pair, request: pytest.FixtureRequest) -> Node:
    return pair.node(request)


@pytest.fixture
def made(engine: Engine) -> Iterator[Callable[..., str]]:
    """A maker of indices with ten documents."""
    names: list[str] = []

    def make(name: str = "", mappings: Json | None = None, settings: Json | None = None) -> str:
        names.append(name or new_name())
        settings = {"number_of_replicas": 0, "number_of_shards": 2, "refresh_interval": "-1", **(settings or {})}
        engine.perform(CreateIndex(names[-1], {"settings": settings, "mappings": {**BODY, **(mappings or {})}}))
        actions = [Action("index", str(i), {"body": f"the text {i}", "more": {"x": "y"}}) for i in range(10)]
        engine.perform(Bulk(names[-1], actions, refresh=True))
        return names[-1]

    yield make
    for name in names:
        for block in ("read_only", "write"):
            engine.perform(PutSettings(name, {f"index.blocks.{block}": None}))
        engine.perform(DeleteIndex(name))


def examined(name: str, engine: Engine, **known: Any) -> list[Finding]:
    found = Index(name, engine, **{"fields": ["body"], **known}).doctor()
    levels(found)
    return found


def held_up(found: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(each.code, each.level) for each in found if each.level in HELD_UP]


def test_a_healthy_index_is_all_right(engine: Engine, made: Callable[..., str]) -> None:
    found = examined(made(), engine)
    assert {each.level for each in found} == {"ok"}
    assert {"engine", "writable", "mapping", "total-fields", "source", "text-fields", "disk"} == {
        each.code for each in found
    }


@pytest.mark.parametrize("block", ["read_only", "read_only_allow_delete"])
def test_a_block_stops_a_backfill_before_anything_is_written(
    engine: Engine, made: Callable[..., str], block: str
) -> None:
    name = made()
    index = Index(name, engine, fields=["body"])
    index.init()
    engine.perform(PutSettings(name, {f"index.blocks.{block}": True}))
    assert held_up(examined(name, engine)) == [("read-only", "stop")]
    with pytest.raises(IndexStateError, match=rf"{name}.*index.blocks.{block}.*Do this, then run the command again\.$"):
        index.backfill()
    engine.perform(PutSettings(name, {f"index.blocks.{block}": None}))
    assert index.backfill().written == 10


def test_a_closed_index_is_reported(engine: Engine, made: Callable[..., str], node: Node) -> None:
    name = made()
    Index(name, engine, fields=["body"]).init()
    node.request("POST", f"/{name}/_close")
    found = examined(name, engine)
    assert held_up(found) == [("closed", "stop")]
    assert f"POST {name}/_open" in the_one(found, "closed").remedy
    with pytest.raises(IndexStateError, match=f"The index '{name}' is closed"):
        Index(name, engine, fields=["body"]).backfill()


@pytest.mark.parametrize(
    ("state", "how"), [("closed", "{0}-*"), ("closed", "{0}-a,{0}-b"), ("read-only", "{0}-*")], ids=str
)
def test_of_several_indices_one_that_cannot_be_done_is_left_out_and_reported(
    engine: Engine, made: Callable[..., str], node: Node, state: str, how: str
) -> None:
    stem = new_name()
    good, bad = made(f"{stem}-a"), made(f"{stem}-b")
    Index(f"{stem}-*", engine, fields=["body"]).init()
    if state == "closed":
        node.request("POST", f"/{bad}/_close")
    else:
        engine.perform(PutSettings(bad, {"index.blocks.write": True}))
    backfill = Backfill(engine, how.format(stem), Documents(Scheme(), ["body"]))
    stops = [each for each in backfill.findings if each.level == "stop"]
    assert {(each.code, each.index) for each in stops} == {(state, bad)}
    progress = backfill.run()
    assert (progress.written, progress.total, list(progress.left_out)) == (10, 10, [bad])
    assert Index(good, engine).info().fingerprinted == 10
    again = Backfill(engine, how.format(stem), Documents(Scheme(), ["body"])).survey
    assert again.left_out == [bad]


def test_a_mapping_without_new_fields_takes_ours_first(engine: Engine, made: Callable[..., str]) -> None:
    name = made(mappings={"dynamic": "false"})
    assert the_one(examined(name, engine), "dynamic").level == "note"
    index = Index(name, engine, fields=["body"])
    index.init()
    assert index.backfill().written == 10
    assert index.info().fingerprinted == 10


def test_a_mapping_conflict_stops(engine: Engine, made: Callable[..., str]) -> None:
    name = made(mappings={"properties": {**BODY["properties"], "dedup": {"type": "keyword"}}})
    assert held_up(examined(name, engine)) == [("mapping-conflict", "stop")]
    assert held_up(examined(name, engine, prefix="other")) == []


@pytest.mark.parametrize("room", [NEW - 1, NEW])
def test_fields_fit_just_if_the_server_takes_them(engine: Engine, made: Callable[..., str], room: int) -> None:
    name = made()
    present = number_of_fields(engine.perform(GetMappings(name))[name])
    engine.perform(PutSettings(name, {"index.mapping.total_fields.limit": present + room}))
    found = the_one(examined(name, engine), "total-fields")
    index = Index(name, engine, fields=["body"])
    if room < NEW:
        assert found.level == "stop"
        with pytest.raises(MappingError, match="Limit of total fields"):
            index.init()
    else:
        assert found.level == "warning"
        index.init()
        assert index.backfill().written == 10


@pytest.mark.parametrize(
    ("body", "code", "level"),
    [
        ({"mappings": {"subobjects": False}}, "subobjects", "stop"),
        ({"settings": {"index.mapping.source.mode": "synthetic"}}, "source-synthetic", "warning"),
    ],
    ids=str,
)
def test_what_only_elasticsearch_has_is_reported_there(
    engine: Engine, made: Callable[..., str], node: Node, body: Json, code: str, level: str
) -> None:
    if node.release.engine != "elasticsearch":
        pytest.skip("only Elasticsearch has that")
    assert held_up(examined(made(**body), engine)) == [(code, level)]


def test_nested_documents_are_counted(engine: Engine, made: Callable[..., str]) -> None:
    name = made(mappings={"properties": {**BODY["properties"], "parts": {"type": "nested"}}})
    documents = [Action("index", f"n{i}", {"body": "x", "parts": [{"a": 1}, {"a": 2}, {"a": 3}]}) for i in range(10)]
    engine.perform(Bulk(name, documents, refresh=True))
    assert "1.5 on average" in the_one(examined(name, engine), "nested").message


def test_an_update_loses_what_the_source_leaves_out_and_is_refused_unless_accepted(
    engine: Engine, made: Callable[..., str]
) -> None:
    name = made(mappings={"_source": {"excludes": ["more"]}})
    index = Index(name, engine, fields=["body"])
    index.init()
    query = {"match": {"more.x": "y"}}
    assert engine.perform(Count(name, query)) == 10
    assert held_up(index.doctor()) == [("source-excludes", "stop")]
    with pytest.raises(IndexStateError, match=r"or accept it: --accept source-excludes\.$"):
        index.backfill()
    options = BackfillOptions(accept=frozenset({"source-excludes"}))
    assert held_up(index.doctor(**vars(options))) == [("source-excludes", "warning")]
    assert index.backfill(**vars(options)).written == 10
    index.refresh()
    assert engine.perform(Count(name, query)) == 0


def test_a_source_that_is_not_kept_stops(engine: Engine, made: Callable[..., str]) -> None:
    name = made(mappings={"_source": {"enabled": False}})
    assert ("source-disabled", "stop") in held_up(examined(name, engine))


def test_pipelines_do_not_run_on_the_updates(engine: Engine, made: Callable[..., str], node: Node) -> None:
    for kind in ("default", "final"):
        body = {"processors": [{"set": {"field": f"by_{kind}", "value": True}}]}
        if node.request("PUT", f"/_ingest/pipeline/doctor-{kind}", body).status != HTTPStatus.OK:
            pytest.skip("this server has no processors")
    name = made()
    settings = {f"index.{kind}_pipeline": f"doctor-{kind}" for kind in ("default", "final")}
    engine.perform(PutSettings(name, settings))
    assert the_one(examined(name, engine), "pipeline").level == "note"
    index = Index(name, engine, fields=["body"])
    index.init()
    engine.perform(Bulk(name, [Action("index", "new", {"body": "a new text"})], refresh=True))
    assert index.backfill().written == 11
    index.refresh()
    assert [engine.perform(Count(name, {"exists": {"field": f"by_{kind}"}})) for kind in ("default", "final")] == [1, 1]


def test_a_misspelt_field_is_reported_on_servers_too(engine: Engine, made: Callable[..., str]) -> None:
    found = examined(made(), engine, fields=["body", "bdoy"])
    assert held_up(found) == [("text-fields", "warning")]


DISK: Json = {"threshold_enabled": "true", "watermark": {"high": "100kb", "flood_stage": "10kb"}}


@pytest.mark.parametrize(("free", "level"), [(400, "stop"), (60 << 10, "warning"), (1 << 30, "ok")])
def test_a_disk_without_room_stops(engine: Engine, made: Callable[..., str], free: int, level: str) -> None:
    settings = {"persistent": {"cluster": {"routing": {"allocation": {"disk": DISK}}}}}

    def answer(operation: Operation[Any]) -> Any:
        path = operation.path if isinstance(operation, GetResource) else ""
        if "/_nodes/stats/fs" not in path:
            return settings if "/_cluster/settings" in path else None
        reply = engine.perform(operation)
        for node in reply["nodes"].values():
            assert node["fs"]["total"]["available_in_bytes"] > 0
            node["fs"]["total"]["available_in_bytes"] = free
        return reply

    name = made()
    assert the_one(examined(name, Stand(engine, answer)), "disk").level == level


def test_the_watermarks_of_a_server_are_understood(engine: Engine, node: Node) -> None:
    reported = run(cluster_settings(), engine)["routing"]["allocation"]["disk"]
    assert reported["threshold_enabled"] == "false"
    for total in (10 << 30, 100 << 40):
        marks = Watermarks.of({**reported, "threshold_enabled": "true"}, total)
        assert 0 < marks.flood < marks.high <= total // 10


def test_an_alias_and_its_indices_are_reported(engine: Engine, made: Callable[..., str]) -> None:
    alias, name = new_name(), made()
    engine.perform(UpdateAliases([{"add": {"index": name, "alias": alias}}]))
    assert f"'{alias}' stands for the index {name}." in the_one(examined(alias, engine), "indices").message


def test_data_streams_are_reported_and_done(opensearch_node: Node) -> None:
    stream = f"stream-{new_name()}"
    body = {"index_patterns": [stream], "data_stream": {}, "template": {"settings": {"number_of_replicas": 0}}}
    opensearch_node.request("PUT", f"/_index_template/{stream}", body)
    document = {"@timestamp": "2026-01-01", "body": "a text"}
    opensearch_node.request("POST", f"/{stream}/_doc?refresh=true", document)
    with engine_over("opensearch", opensearch_node.url) as engine:
        index = Index(stream, engine, fields=["body"])
        found = [each for each in index.doctor() if each.code == "indices"]
        assert [f"'{stream}' has data streams ({stream})" in each.message for each in found] == [True, False]
        index.init()
        assert index.backfill().written == 1
    opensearch_node.request("DELETE", f"/_data_stream/{stream}")
    opensearch_node.request("DELETE", f"/_index_template/{stream}")


def test_asynchronous_engines_find_the_same(opensearch_node: Node) -> None:
    name = new_name()
    opensearch_node.request("PUT", f"/{name}", {"settings": {"index.blocks.write": True}})

    async def found() -> list[Finding]:
        async with AsyncOpenSearch(opensearch_node.url) as client:
            return await AsyncIndex(name, client, fields=["body"]).doctor()

    with engine_over("opensearch", opensearch_node.url) as engine:
        assert asyncio.run(found()) == Index(name, engine, fields=["body"]).doctor()
        engine.perform(DeleteIndex(name))
