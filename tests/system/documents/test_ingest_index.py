"""The pipeline of an index: installed, written through, and what it leaves to a backfill; on real nodes."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.stored_scripts import LONGEST_TEXT, name_of
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import EngineError, IndexStateError, InputError, SchemeError
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.operations import Action, Bulk, CreateIndex, DeleteIndex, GetSettings, PutResource, PutSettings
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus
from tests.support.whole_indices import DOCUMENTS, FIELDS, contents, create, fill, servers
from tools.nodes import Node

DEFERRED = {"status": "deferred"}
ORIGINAL, OTHER = corpus(2)
LONG = {"title": "Long", "body": " ".join(random.Random(1).choices(["storm", "coast", "night"], k=LONGEST_TEXT // 5))}


@pytest.fixture
def node(kind: str, request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(f"{kind}_node")
    return node


@pytest.fixture
def index(engine: Engine, names: Callable[[], str]) -> Iterator[Index]:
    """An index with the fields, and without any documents, whose default pipeline is ours."""
    name = names()
    create(engine, name)
    Index(name, engine, fields=FIELDS).init()
    index = Index(name, engine)
    index.pipeline(install=True, default=True)
    yield index
    index.remove_pipeline()


def own(index: Index, *ids: str) -> list[Json | None]:
    """What documents have of a fingerprint."""
    found = contents(index.engine, index.name, list(ids))
    return [found[id_].get("dedup") for id_ in ids]


def bulk(index: Index, *actions: Action) -> None:
    results = index.engine.perform(Bulk(index.name, actions, refresh=True))
    assert [result.error for result in results if result.error] == []


def made_of(index: Index, document: Json) -> Json:
    """What Python makes of a document."""
    fields: Json = index.documents.add_fields(document)["dedup"]
    return fields


@servers
def test_a_pipeline_is_removed_even_where_settings_are_hidden(
    index: Index, node: Node, names: Callable[[], str]
) -> None:
    hidden = names()
    create(index.engine, hidden)
    blocked = node.request("PUT", f"/{hidden}/_settings", {"index.blocks.metadata": True})
    assert blocked.status == 200
    try:
        removed = index.remove_pipeline()
    finally:
        node.request("PUT", f"/{hidden}/_settings", {"index.blocks.metadata": None})
    assert (removed.removed, removed.default_of) == (True, [index.name])


# ---- written through


@servers
def test_documents_of_other_writers_have_the_fields_that_python_gives_them(index: Index) -> None:
    fill(index.engine, index.name, DOCUMENTS)
    stored = contents(index.engine, index.name, list(DOCUMENTS))
    assert stored == {id_: index.documents.add_fields(document) for id_, document in DOCUMENTS.items()}
    found = index.find(id=next(iter(DOCUMENTS)), similarity=0.9)
    assert found.complete
    assert len(found) > 0


@servers
def test_documents_that_get_their_ids_from_the_server_have_them_too(index: Index) -> None:
    bulk(index, Action("index", None, ORIGINAL), Action("create", None, ORIGINAL))
    found = index.find(doc=ORIGINAL, source=True)
    assert [hit.source for hit in found] == [index.documents.add_fields(ORIGINAL)] * 2


@servers
def test_all_that_cannot_be_done_is_deferred_and_done_by_a_backfill(index: Index) -> None:
    half = {"title": 1e300, "body": "A storm"}
    fill(index.engine, index.name, {"long": LONG, "float": half, "plain": ORIGINAL})
    assert own(index, "long", "float") == [DEFERRED, DEFERRED]
    assert index.info().statuses["deferred"] == 2
    assert index.backfill().written == 2
    assert own(index, "long", "float", "plain") == [made_of(index, each) for each in (LONG, half, ORIGINAL)]
    assert index.info().statuses["deferred"] == 0


@servers
def test_no_write_fails_whatever_is_in_the_document(index: Index) -> None:
    create(index.engine, other := f"{index.name}-loose")
    try:
        fields = {"unmapped.deep", "unmapped.list"}
        Index(other, index.engine, fields=sorted(fields)).init()
        loose = Index(other, index.engine)
        loose.pipeline(install=True, default=True)
        values: list[Any] = [None, {}, {"deep": {"an": "object"}}, {"deep": [[[{}]]]}, {"list": [1, "x", {"y": 1}]}]
        fill(loose.engine, other, {str(i): {"unmapped": value, "number": i} for i, value in enumerate(values)})
        stored = contents(loose.engine, other, [str(i) for i in range(len(values))])
        assert [each["dedup"]["status"] for each in stored.values()] == ["empty", "empty", *["deferred"] * 3]
        assert [(each["unmapped"], each["number"]) for each in stored.values()] == [*zip(values, range(5), strict=True)]
    finally:
        loose.remove_pipeline()
        index.engine.perform(DeleteIndex(other))


@servers
def test_where_the_script_fails_the_document_is_deferred_and_the_failure_is_counted(index: Index, node: Node) -> None:
    shown = index.pipeline()
    script = shown.body["processors"][0]["script"]
    broken = {**script, "source": "throw new Exception('broken')"}
    body = {**shown.body, "processors": [{"script": broken}]}
    index.engine.perform(PutResource(f"/_ingest/pipeline/{shown.name}", body))
    fill(index.engine, index.name, {"1": {**ORIGINAL, "dedup": {"simhash": "forged"}}})
    assert contents(index.engine, index.name, ["1"]) == {"1": {**ORIGINAL, "dedup": DEFERRED}}
    [stats] = node.request("GET", "/_nodes/stats/ingest").body["nodes"].values()
    [processor] = stats["ingest"]["pipelines"][shown.name]["processors"]
    assert processor["script:es-simhash"]["stats"]["failed"] == 1


# ---- updates


@servers
def test_a_document_that_is_written_again_is_fingerprinted_again(index: Index) -> None:
    fill(index.engine, index.name, {"1": ORIGINAL})
    fill(index.engine, index.name, {"1": {**OTHER, "dedup": made_of(index, ORIGINAL)}})
    assert own(index, "1") == [made_of(index, OTHER)]


@servers
def test_an_update_of_one_document_is_fingerprinted_as_a_whole_and_keeps_its_group(index: Index, node: Node) -> None:
    fill(index.engine, index.name, {"1": ORIGINAL})
    bulk(index, Action("update", "1", {"doc": {"dedup": {"group": "g"}}}))
    assert node.request("POST", f"/{index.name}/_update/1", {"doc": {"number": 5}}).status == 200
    assert own(index, "1") == [made_of(index, ORIGINAL) | {"group": "g"}]
    assert node.request("POST", f"/{index.name}/_update/1", {"doc": {"body": OTHER["body"]}}).status == 200
    assert own(index, "1") == [made_of(index, {**ORIGINAL, "body": OTHER["body"]})]


@servers
def test_an_update_in_a_bulk_request_passes_by_the_pipeline_and_is_found_by_a_backfill(index: Index) -> None:
    fill(index.engine, index.name, {"1": ORIGINAL})
    bulk(index, Action("update", "1", {"doc": {"body": OTHER["body"]}}))
    assert own(index, "1") == [made_of(index, ORIGINAL)]
    index.backfill(refresh_stale=True)
    assert own(index, "1") == [made_of(index, {**ORIGINAL, "body": OTHER["body"]})]


@servers
def test_what_the_server_itself_writes_again_is_fingerprinted_again(
    index: Index, node: Node, names: Callable[[], str]
) -> None:
    create(index.engine, source := names())
    fill(index.engine, source, {"1": ORIGINAL})
    asked = {"source": {"index": source}, "dest": {"index": index.name}}
    assert node.request("POST", "/_reindex?refresh=true", asked).body["created"] == 1
    assert own(index, "1") == [made_of(index, ORIGINAL)]
    script = {"script": {"source": "ctx._source.body = params.body", "params": {"body": OTHER["body"]}}}
    assert node.request("POST", f"/{index.name}/_update_by_query?refresh=true", script).body["updated"] == 1
    assert own(index, "1") == [made_of(index, {**ORIGINAL, "body": OTHER["body"]})]


@servers
@pytest.mark.parametrize(
    ("part", "status"),
    [
        ({"number": 7}, None),
        ({"body": OTHER["body"]}, "deferred"),
        ({"title": OTHER["title"], "body": OTHER["body"]}, "ok"),
        ({"title": None, "body": []}, "empty"),
    ],
    ids=["without text", "a part of the text", "the whole text", "no text"],
)
def test_a_part_that_is_upserted_is_never_taken_for_the_whole(index: Index, part: Json, status: str | None) -> None:
    fill(index.engine, index.name, {"old": ORIGINAL})
    upsert = {"doc": part, "doc_as_upsert": True}
    bulk(index, Action("update", "old", upsert), Action("update", "new", upsert))
    old, new = ({name: value for name, value in (each or {}).items() if value} for each in own(index, "old", "new"))
    if status is None:
        assert (old, new) == (made_of(index, ORIGINAL), {})
    elif status == "deferred":
        assert old == new == DEFERRED
    else:
        assert old == new == made_of(index, part)
        assert old["status"] == status
    index.backfill()
    merged = {**ORIGINAL, **part}
    assert [{name: value for name, value in (each or {}).items() if value} for each in own(index, "old", "new")] == [
        made_of(index, merged),
        made_of(index, part),
    ]


# ---- installed and removed


@servers
def test_it_is_only_shown_unless_it_is_installed(engine: Engine, names: Callable[[], str]) -> None:
    name = names()
    create(engine, name)
    Index(name, engine, fields=FIELDS).init()
    index = Index(name, engine)
    shown = index.pipeline()
    assert (shown.name, shown.installed, shown.default_of) == (f"es-simhash-{name}", False, [])
    assert not index.remove_pipeline().removed
    assert index.pipeline(install=True) == type(shown)(shown.name, True, [], shown.body)
    fill(engine, name, {"1": ORIGINAL})
    assert own(index, "1") == [None]
    bulk(index, Action("index", "1", ORIGINAL, metadata={"pipeline": shown.name}))
    assert own(index, "1") == [made_of(index, ORIGINAL)]
    assert index.remove_pipeline().removed


@servers
def test_through_an_alias_it_is_the_default_of_all_indices_behind_it(
    index: Index, engine: Engine, names: Callable[[], str]
) -> None:
    alias, first, second = (names() for _ in range(3))
    for name in (first, second):
        engine.perform(CreateIndex(name, {"aliases": {alias: {}}}))
        Index(name, engine, fields=FIELDS).init()
    both = Index(alias, engine)
    assert both.pipeline(install=True, default=True).default_of == sorted([first, second])
    fill(engine, second, {"1": ORIGINAL})
    assert contents(engine, second, ["1"])["1"] == index.documents.add_fields(ORIGINAL)
    engine.perform(PutSettings(index.name, {"index.final_pipeline": name_of(alias)}))
    with pytest.raises(IndexStateError, match=f"is the index.final_pipeline of '{index.name}' too"):
        both.remove_pipeline()
    engine.perform(PutSettings(index.name, {"index.final_pipeline": None}))
    removed = both.remove_pipeline()
    assert (removed.removed, removed.default_of) == (True, sorted([first, second]))
    fill(engine, second, {"2": ORIGINAL})
    assert contents(engine, second, ["2"]) == {"2": ORIGINAL}


@servers
def test_another_default_pipeline_is_left_alone_and_can_call_ours(index: Index, engine: Engine) -> None:
    index.remove_pipeline()
    theirs = f"theirs-{index.name}"
    path = f"/_ingest/pipeline/{theirs}"
    engine.perform(PutResource(path, {"processors": [{"set": {"field": "title", "value": "Theirs"}}]}))
    engine.perform(PutSettings(index.name, {"index.default_pipeline": theirs}))
    with pytest.raises(IndexStateError, match="has the default pipeline") as raised:
        index.pipeline(install=True, default=True)
    call = json.loads(str(raised.value)[str(raised.value).index("{") :])
    index.pipeline(install=True)
    engine.perform(PutResource(path, {"processors": [{"set": {"field": "title", "value": "Theirs"}}, call]}))
    fill(engine, index.name, {"1": ORIGINAL})
    assert contents(engine, index.name, ["1"]) == {"1": index.documents.add_fields({**ORIGINAL, "title": "Theirs"})}
    [settings] = engine.perform(GetSettings(index.name)).values()
    assert settings["index.default_pipeline"] == theirs
    engine.perform(PutSettings(index.name, {"index.default_pipeline": None}))


@servers
def test_the_copy_of_an_index_gets_a_pipeline_of_its_own(
    index: Index, engine: Engine, names: Callable[[], str]
) -> None:
    """A reindex gives the copy the settings of the index, the default pipeline included."""
    fill(engine, index.name, {"1": ORIGINAL})
    Index(index.name, engine, scheme="short").reindex(copy := names())
    of_copy = Index(copy, engine)
    assert of_copy.pipeline(install=True, default=True).default_of == [copy]
    fill(engine, copy, {"2": OTHER})
    assert contents(engine, copy, ["2"]) == {"2": of_copy.documents.add_fields(OTHER)}
    assert of_copy.remove_pipeline().removed


@servers
def test_a_foreign_pipeline_with_our_name_is_left_alone(engine: Engine, names: Callable[[], str], node: Node) -> None:
    name = names()
    create(engine, name)
    Index(name, engine, fields=FIELDS).init()
    path = f"/_ingest/pipeline/{name_of(name)}"
    engine.perform(PutResource(path, {"processors": []}))
    for act in (lambda: Index(name, engine).pipeline(install=True), Index(name, engine).remove_pipeline):
        with pytest.raises(IndexStateError, match="Rename or delete it"):
            act()
    assert node.request("DELETE", path).status == 200


@servers
def test_it_can_be_removed_after_its_index(engine: Engine, names: Callable[[], str]) -> None:
    name = names()
    create(engine, name)
    Index(name, engine, fields=FIELDS).init()
    Index(name, engine).pipeline(install=True, default=True)
    engine.perform(DeleteIndex(name))
    assert Index(name, engine).remove_pipeline().removed


@servers
def test_asynchronously_it_is_the_same(index: Index, node: Node) -> None:
    async def walk() -> tuple[Any, Any, Any]:
        async with AsyncIndex(index.name, node.url) as twin:
            shown = await twin.pipeline()
            return shown, await twin.pipeline(install=True, default=True), await twin.remove_pipeline()

    shown, installed, removed = asyncio.run(walk())
    assert shown == index.pipeline()
    assert (installed.installed, installed.default_of) == (True, [index.name])
    assert (removed.removed, removed.default_of) == (True, [index.name])


@servers
@pytest.mark.parametrize("name", ["a,b", "news-*", "_all"])
def test_several_indices_have_no_pipeline_of_their_own(engine: Engine, name: str) -> None:
    with pytest.raises(IndexStateError, match="Name one index, or an alias"):
        Index(name, engine).remove_pipeline()


def test_the_embedded_engine_has_none(tmp_path: Any) -> None:
    with Index("news", EmbeddedEngine(tmp_path), fields=FIELDS) as index:
        index.init()
        acts: list[Callable[[], object]] = [
            index.pipeline,
            lambda: index.pipeline(install=True),
            index.remove_pipeline,
        ]
        for act in acts:
            with pytest.raises(EngineError, match="has no ingest pipelines"):
                act()


@servers
def test_schemes_and_fields_that_a_script_cannot_do_are_refused(engine: Engine, names: Callable[[], str]) -> None:
    for scheme, fields, error, message in (
        (Scheme.preset("chinese-keywords"), FIELDS, SchemeError, r"\(tokens\).*\(weights\)"),
        (Scheme(), ("_routing", "body"), InputError, "'_routing'"),
    ):
        name = names()
        create(engine, name)
        Index(name, engine, fields=fields, scheme=scheme).init()
        with pytest.raises(error, match=message):
            Index(name, engine).pipeline(install=True)
