"""Copying an index into another with the fields: whatever happens on the way, the copy is whole, and all else stays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import Rejected
from es_simhash.engines.base import Engine
from es_simhash.engines.connect import connect
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import (
    AccessError,
    EngineError,
    IndexStateError,
    InputError,
    MappingError,
    MissingError,
    SchemeMismatchError,
)
from es_simhash.index import AsyncIndex, Index
from es_simhash.live.reindex import Copying, ReindexOptions, copied_settings, settings_left_out
from es_simhash.live.sweep.writing import Progress
from es_simhash.plans.operations import (
    Action,
    Bulk,
    Count,
    CreateIndex,
    DeleteIndex,
    GetAliases,
    GetMappings,
    GetSettings,
    Operation,
    PutSettings,
    ReadPage,
    Refresh,
    Search,
    UpdateAliases,
)
from es_simhash.scheme import mapping
from es_simhash.scheme.scheme import Scheme
from tests.support.meddling import Meddler, StopsEarly, each_at_a_second_try, once
from tests.support.whole_indices import (
    COUNT,
    DOCUMENTS,
    FIELDS,
    MAPPINGS,
    SETTINGS,
    contents,
    create,
    delete,
    fill,
    servers,
)
from tools.nodes import Node


@pytest.fixture
def source(engine: Engine, names: Callable[[], str]) -> str:
    name = names()
    create(engine, name)
    fill(engine, name, DOCUMENTS)
    return name


@pytest.fixture
def copy(names: Callable[[], str]) -> str:
    return names()


@pytest.fixture
def index(meddler: Meddler, source: str) -> Index:
    """The source, without our fields."""
    return Index(source, meddler, fields=FIELDS)


def assert_copied(engine: Engine, name: str, expected: dict[str, Json], routing: str | None = None) -> None:
    """The index holds exactly these, each with the fields of its own text."""
    documents = Index(name, engine).documents
    assert contents(engine, name, list(expected), routing) == {
        id_: documents.add_fields(each) for id_, each in expected.items()
    }
    engine.perform(Refresh(name))
    assert engine.perform(Count(name, {"match_all": {}})) == len(expected)


# --- what a copy is


def test_every_document_is_copied_with_its_fields_and_the_source_stays_as_it_is(
    engine: Engine, index: Index, copy: str
) -> None:
    before = engine.perform(GetMappings(index.name))
    done = index.reindex(copy)
    assert (done.progress.written, done.progress.rejected, done.is_whole) == (COUNT, 0, True)
    assert (done.verified.documents, done.verified.copies, done.verified.compared) == (COUNT, COUNT, COUNT)
    assert_copied(engine, copy, DOCUMENTS)
    assert contents(engine, index.name, list(DOCUMENTS)) == DOCUMENTS
    assert engine.perform(GetMappings(index.name)) == before
    assert "id 33/é" in [match.id for match in Index(copy, engine).find(id="id 3/é", similarity=0.99)]


def test_the_mapping_is_that_of_the_source_with_the_fields(engine: Engine, index: Index, copy: str) -> None:
    index.reindex(copy)
    there, made = (engine.perform(GetMappings(name))[name] for name in (index.name, copy))
    assert made["properties"].pop("dedup")
    assert mapping.only(made, ()) == mapping.only(there, ())
    assert made["_meta"]["owner"] == "somebody"
    assert made["_meta"]["es_simhash"]["dedup"]["fields"] == list(FIELDS)


@pytest.mark.parametrize("slices", [2, 5])
def test_slices_do_it_together(engine: Engine, index: Index, copy: str, slices: int) -> None:
    assert index.reindex(copy, parallel=slices).is_whole
    assert_copied(engine, copy, DOCUMENTS)


def test_routing_values_are_kept(engine: Engine, names: Callable[[], str], copy: str) -> None:
    name = names()
    create(engine, name, number_of_shards=5)
    documents = dict(list(DOCUMENTS.items())[:40])
    fill(engine, name, documents, routing="somewhere else")
    assert Index(name, engine, fields=FIELDS).reindex(copy).is_whole
    assert_copied(engine, copy, documents, "somewhere else")


def test_an_asynchronous_index_does_the_same(engine: Engine, kind: str, request: Any, source: str, copy: str) -> None:
    import asyncio

    if kind == "embedded":
        pytest.skip("the embedded engine is synchronous")
    url = request.getfixturevalue(f"{kind}_node").url

    async def work() -> tuple[int, bool, int]:
        async with AsyncIndex(source, url, fields=FIELDS) as index:
            done = await index.reindex(copy, parallel=2)
        async with AsyncIndex(copy, url) as index:
            removed = await index.remove_fields()
        return done.progress.written, done.is_whole, removed.progress.written

    assert asyncio.run(work()) == (COUNT, True, COUNT)
    assert contents(engine, copy, list(DOCUMENTS)) == DOCUMENTS


def test_another_scheme_takes_the_place_of_that_of_the_source(engine: Engine, index: Index, copy: str) -> None:
    index.init()
    index.backfill()
    assert Index(index.name, engine, scheme="strict").reindex(copy).is_whole
    made = Index(copy, engine)
    assert made.scheme.name == "strict"
    assert made.info().fingerprinted == COUNT
    assert_copied(engine, copy, DOCUMENTS)
    assert "bands" not in engine.perform(GetMappings(copy))[copy]["properties"]["dedup"]["properties"]


def test_the_scheme_of_the_source_is_kept_where_no_other_is_named(engine: Engine, source: str, copy: str) -> None:
    index = Index(source, engine, fields=["title"], scheme="short")
    index.init()
    Index(source, engine).reindex(copy)
    assert Index(copy, engine).scheme.name == "short"


def test_what_else_is_in_our_object_stays(engine: Engine, names: Callable[[], str], copy: str) -> None:
    name = names()
    mappings = {"properties": {"dedup": {"properties": {"own": {"type": "keyword"}}}}}
    engine.perform(CreateIndex(name, {"mappings": mappings}))
    documents = {"1": {"body": "a text", "dedup": {"own": "value"}}}
    fill(engine, name, documents)
    assert Index(name, engine, fields=["body"]).reindex(copy).is_whole
    assert_copied(engine, copy, documents)
    assert engine.perform(Count(copy, {"term": {"dedup.own": "value"}})) == 1


def test_a_document_that_cannot_be_fingerprinted_is_copied_and_reported(
    engine: Engine, names: Callable[[], str], copy: str
) -> None:
    name = names()
    engine.perform(CreateIndex(name, {"mappings": {"properties": {"body": {"type": "object", "enabled": False}}}}))
    documents: dict[str, Json] = {
        str(i): {"body": {"no": "text"}} if i in (0, 5) else {"body": "text"} for i in range(9)
    }
    fill(engine, name, documents)
    reported: list[Rejected] = []
    done = Index(name, engine, fields=["body"]).reindex(copy, on_reject=reported.append)
    assert (done.progress.written, done.progress.unfit, done.is_whole) == (9, 2, True)
    assert sorted(str(each.id) for each in reported) == ["0", "5"]
    assert "without a fingerprint" in reported[0].reason
    there = contents(engine, copy, list(documents))
    assert {id_: each["body"] for id_, each in there.items()} == {id_: each["body"] for id_, each in documents.items()}
    assert [id_ for id_, each in there.items() if "dedup" not in each] == ["0", "5"]


def test_an_old_fingerprint_does_not_stay_with_a_document_that_can_have_none_now() -> None:
    documents = Documents(Scheme(), ["body"])
    old = {"scheme": "0123456789ab", "status": "ok", "bits": "1", "group": 7}
    hits = [
        {"_index": "index", "_id": str(i), "_version": 4, "_routing": "here", "_source": {"body": body, "dedup": old}}
        for i, body in enumerate([{"no": "text"}, "a text"])
    ]
    prepared = Copying(documents, "copy", frozenset({"bits"})).prepare(hits)
    unfit, fit = (action for _, action in prepared.updates)
    assert unfit.body == {"body": {"no": "text"}, "dedup": {"group": 7}}
    assert fit.body == documents.add_fields({"body": "a text", "dedup": {"group": 7}})
    assert fit.metadata == {"version": 4, "version_type": "external", "routing": "here"}
    assert [each.id for each in prepared.unfit] == ["0"]


# --- stopped, changed in the meantime


def stop(progress: Progress) -> None:
    raise RuntimeError("stopped")


def test_a_run_goes_on_where_another_was_stopped(engine: Engine, kind: str, index: Index, copy: str) -> None:
    with pytest.raises(RuntimeError, match="stopped"):
        Index(index.name, StopsEarly(engine), fields=FIELDS).reindex(copy)
    engine.perform(Refresh(copy))
    before = engine.perform(Count(copy, {"match_all": {}}))
    assert 0 < before < COUNT
    done = index.reindex(copy)
    assert done.is_whole
    if kind != "embedded":
        assert (done.progress.written, done.progress.current) == (COUNT - before, before)
    assert_copied(engine, copy, DOCUMENTS)


@servers
def test_a_second_run_reads_only_what_was_changed_since(
    engine: Engine, meddler: Meddler, index: Index, copy: str
) -> None:
    index.reindex(copy)
    meddler.seen.clear()
    assert index.reindex(copy).progress.written == 0
    assert ReadPage not in meddler.kinds()
    changed = {"id 3/é": {"title": "another", "body": "text"}, "new": {"title": "new", "body": "text"}}
    fill(engine, index.name, changed)
    done = index.reindex(copy)
    assert (done.progress.written, done.is_whole) == (2, True)
    assert done.progress.total < COUNT / 2
    assert_copied(engine, copy, DOCUMENTS | changed)


@pytest.mark.usefixtures("waited")
def test_what_cannot_be_done_at_first_is_tried_again(
    engine: Engine, kind: str, meddler: Meddler, index: Index, copy: str
) -> None:
    meddler.before = each_at_a_second_try()
    assert index.reindex(copy, fast=kind != "embedded").is_whole
    assert_copied(engine, copy, DOCUMENTS)


def test_what_is_changed_in_the_meantime_is_caught_up_with(
    engine: Engine, kind: str, meddler: Meddler, index: Index, copy: str
) -> None:
    changed = {id_: {"title": "another", "body": f"text {id_}"} for id_ in [*list(DOCUMENTS)[:9], "new"]}
    meddler.before = once(Bulk, lambda _: fill(engine, index.name, changed), after=1)
    done = index.reindex(copy)
    if kind == "embedded" and not done.is_whole:
        done = index.reindex(copy)
    assert done.is_whole
    assert_copied(engine, copy, DOCUMENTS | changed)


def test_a_document_that_was_written_again_with_a_lower_version_replaces_its_copy(
    engine: Engine, index: Index, copy: str
) -> None:
    id_ = "id 3/é"
    for _ in range(3):
        fill(engine, index.name, {id_: DOCUMENTS[id_]})
    index.reindex(copy)
    # As if it had been deleted so long ago that its versions began again.
    older = [Action("index", id_, {"title": "is newer"}, metadata={"version": 99, "version_type": "external"})]
    engine.perform(Bulk(copy, older, refresh=True)) if "embedded" not in type(engine).__module__ else None
    fill(engine, index.name, {id_: {"title": "another", "body": "text"}})
    assert index.reindex(copy).is_whole
    assert_copied(engine, copy, DOCUMENTS | {id_: {"title": "another", "body": "text"}})


def test_copies_of_documents_that_were_deleted_are_reported(engine: Engine, index: Index, copy: str) -> None:
    index.reindex(copy)
    gone = ["id 3/é", "id 4/é"]
    delete(engine, index.name, *gone)
    reported: list[Rejected] = []
    done = index.reindex(copy, on_reject=reported.append)
    assert (done.is_whole, done.verified.extra, done.verified.missing) == (False, 2, 0)
    assert sorted((each.index, each.id) for each in reported) == [(copy, id_) for id_ in gone]
    delete(engine, copy, *gone)
    assert index.reindex(copy).is_whole
    assert_copied(engine, copy, {id_: each for id_, each in DOCUMENTS.items() if id_ not in gone})


def test_a_copy_that_somebody_has_changed_is_reported_and_corrected_by_the_next_run(
    engine: Engine, index: Index, copy: str
) -> None:
    index.reindex(copy)
    fill(engine, copy, {"id 3/é": {"title": "meddled with"}})
    reported: list[Rejected] = []
    if (done := index.reindex(copy, on_reject=reported.append)).progress.written == 0:
        assert (done.is_whole, [each.id for each in reported]) == (False, ["id 3/é"])
        assert index.reindex(copy).is_whole
    assert_copied(engine, copy, DOCUMENTS)


def test_a_reader_that_is_lost_costs_no_document(engine: Engine, meddler: Meddler, index: Index, copy: str) -> None:
    from es_simhash.plans.operations import CloseReader

    meddler.before = once(ReadPage, lambda page: engine.perform(CloseReader(page.reader)), after=1)
    assert index.reindex(copy).is_whole
    assert_copied(engine, copy, DOCUMENTS)


@servers
def test_a_document_that_the_copy_refuses_is_reported_and_the_copy_is_not_whole(
    engine: Engine, index: Index, names: Callable[[], str]
) -> None:
    other = names()
    mappings = {"properties": {"number": {"type": "byte"}}}
    engine.perform(CreateIndex(other, {"settings": SETTINGS, "mappings": mappings}))
    reported: list[Rejected] = []
    options = ReindexOptions(aliases=(names(),))
    done = index.reindex(other, **vars(options), on_reject=reported.append)
    assert (done.progress.rejected, done.verified.missing, done.is_whole) == (COUNT - 128, COUNT - 128, False)
    assert {each.id for each in reported} >= {f"id {i}/é" for i in range(128, COUNT)}
    assert done.aliases == []
    # As it may be once the reason is gone: nothing that was refused is forgotten.
    assert index.reindex(other).progress.rejected == COUNT - 128


# --- settings


@servers
def test_settings_are_copied_but_for_what_belongs_to_the_source(
    engine: Engine, names: Callable[[], str], copy: str
) -> None:
    name = names()
    chosen = {
        "index.number_of_shards": "3",
        "index.number_of_replicas": "0",
        "index.refresh_interval": "7s",
        "index.mapping.total_fields.limit": "555",
        "index.analysis.analyzer.mine.type": "custom",
        "index.analysis.analyzer.mine.tokenizer": "standard",
        "index.sort.field": "number",
    }
    engine.perform(CreateIndex(name, {"settings": chosen, "mappings": MAPPINGS}))
    engine.perform(PutSettings(name, {"index.blocks.write": True}))
    Index(name, engine, fields=FIELDS).reindex(copy, fast=True)
    there, made = (engine.perform(GetSettings(each))[each] for each in (name, copy))
    assert {each: made.get(each) for each in chosen} == {each: there.get(each) for each in chosen}
    assert set(there) - set(made) == {"index.blocks.write"}
    assert made["index.uuid"] != there["index.uuid"]


@servers
def test_a_fast_copy_has_no_refreshes_and_replicas_in_the_meantime(
    engine: Engine, meddler: Meddler, index: Index, copy: str
) -> None:
    engine.perform(PutSettings(index.name, {"index.refresh_interval": "7s", "index.number_of_replicas": 1}))
    interim: list[Json] = []
    meddler.before = once(Bulk, lambda _: interim.append(engine.perform(GetSettings(copy))[copy]))
    index.reindex(copy, fast=True)
    asked = ("index.refresh_interval", "index.number_of_replicas")
    assert [interim[0][name] for name in asked] == ["-1", "0"]
    assert [engine.perform(GetSettings(copy))[copy][name] for name in asked] == ["7s", "1"]
    assert mapping.names(engine.perform(GetMappings(copy))[copy]) == {"dedup", "_copied_from"}


@servers
def test_settings_that_a_stopped_run_left_are_set_back_by_the_next(engine: Engine, index: Index, copy: str) -> None:
    engine.perform(PutSettings(index.name, {"index.refresh_interval": "7s"}))
    with pytest.raises(RuntimeError):
        index.reindex(copy, fast=True, on_progress=stop)
    assert engine.perform(GetSettings(copy))[copy]["index.refresh_interval"] == "-1"
    index.reindex(copy)
    assert engine.perform(GetSettings(copy))[copy]["index.refresh_interval"] == "7s"


@servers
def test_pipelines_do_not_deal_with_documents_once_more(
    engine: Engine, kind: str, request: pytest.FixtureRequest, names: Callable[[], str], copy: str
) -> None:
    node: Node = request.getfixturevalue(f"{kind}_node")
    for name in ("first", "last"):
        pipeline = {"processors": [{"append": {"field": name, "value": "x"}}]}
        node.request("PUT", f"/_ingest/pipeline/reindex-{name}", pipeline)
    pipelines = {"index.default_pipeline": "reindex-first", "index.final_pipeline": "reindex-last"}
    name = names()
    engine.perform(CreateIndex(name, {"settings": {**SETTINGS, **pipelines}, "mappings": MAPPINGS}))
    fill(engine, name, {"1": {"title": "a", "body": "text"}})
    assert Index(name, engine, fields=FIELDS).reindex(copy).is_whole
    assert_copied(engine, copy, {"1": {"title": "a", "body": "text", "first": ["x"], "last": ["x"]}})
    made = engine.perform(GetSettings(copy))[copy]
    assert {each: made.get(each) for each in pipelines} == pipelines


def test_what_a_server_sets_itself_is_not_a_setting_of_a_copy() -> None:
    kept = {"index.number_of_shards": "1", "index.routing.allocation.include._tier_preference": "data_content"}
    server = {
        "index.uuid": "x",
        "index.creation_date": "1",
        "index.provided_name": "a",
        "index.version.created": "1",
        "index.history.uuid": "x",
        "index.resize.source.name": "b",
        "index.routing.allocation.initial_recovery._id": "x",
    }
    ours = {"index.blocks.write": "true", "index.lifecycle.name": "hot", "index.lifecycle.rollover_alias": "a"}
    assert copied_settings({**kept, **server, **ours}) == kept
    assert settings_left_out({**kept, **server, **ours}) == sorted(ours)


# --- aliases


@servers
def test_an_alias_moves_from_the_source_to_the_copy_as_it_is(
    engine: Engine, index: Index, names: Callable[[], str], copy: str
) -> None:
    alias, new, other = names(), names(), names()
    create(engine, other)
    says = {"filter": {"range": {"number": {"gte": 0}}}, "index_routing": "1", "search_routing": "1"}
    engine.perform(UpdateAliases([{"add": {"index": index.name, "alias": alias, "is_write_index": True, **says}}]))
    engine.perform(UpdateAliases([{"add": {"index": other, "alias": alias}}]))
    before = engine.perform(GetAliases(index.name))[index.name][alias]
    done = index.reindex(copy, aliases=(alias, new))
    assert (done.aliases, done.late) == ([alias, new], 0)
    behind = engine.perform(GetAliases(alias))
    assert set(behind) == {copy, other}
    assert behind[copy] == {alias: before, new: {}}


@servers
def test_readers_of_the_alias_see_the_whole_index_at_every_moment(
    engine: Engine, kind: str, request: pytest.FixtureRequest, index: Index, names: Callable[[], str], copy: str
) -> None:
    alias = names()
    engine.perform(UpdateAliases([{"add": {"index": index.name, "alias": alias}}]))
    seen: set[int] = set()
    is_over = threading.Event()

    def read() -> None:
        other = connect(request.getfixturevalue(f"{kind}_node").url)
        while not is_over.is_set():
            seen.add(other.perform(Search(alias, {"size": 0, "track_total_hits": True}))["hits"]["total"]["value"])
        other.close()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        index.reindex(copy, aliases=(alias,))
    finally:
        is_over.set()
        reader.join()
    assert seen == {COUNT}


@servers
def test_an_alias_stays_where_it_is_unless_the_copy_is_whole(
    engine: Engine, meddler: Meddler, index: Index, names: Callable[[], str], copy: str
) -> None:
    alias = names()
    engine.perform(UpdateAliases([{"add": {"index": index.name, "alias": alias}}]))
    index.reindex(copy)
    fill(engine, copy, {"stranger": {"title": "is not in the source"}})
    done = index.reindex(copy, aliases=(alias,))
    assert (done.is_whole, done.aliases, done.verified.extra) == (False, [], 1)
    behind = engine.perform(GetAliases(alias))
    assert set(behind) == {index.name}


@servers
def test_documents_that_come_into_the_source_while_the_alias_moves_are_reported(
    engine: Engine, meddler: Meddler, index: Index, names: Callable[[], str], copy: str
) -> None:
    late = {"late": {"title": "late", "body": "text"}}
    meddler.before = once(UpdateAliases, lambda _: fill(engine, index.name, late))
    reported: list[Rejected] = []
    done = index.reindex(copy, aliases=(names(),), on_reject=reported.append)
    assert (done.late, done.is_whole, [each.id for each in reported]) == (1, False, ["late"])


@servers
def test_an_alias_that_a_template_gives_does_not_show_half_a_copy(
    engine: Engine, kind: str, request: pytest.FixtureRequest, meddler: Meddler, index: Index, copy: str
) -> None:
    node: Node = request.getfixturevalue(f"{kind}_node")
    template = {"index_patterns": [f"{copy}*"], "template": {"aliases": {f"of-{copy}": {}}}}
    node.request("PUT", f"/_index_template/{copy}", template)
    behind: list[set[str]] = []

    def look(bulk: Bulk) -> None:
        there = engine.perform(GetAliases(copy))
        behind.append(set(there[copy]))

    meddler.before = once(Bulk, look)
    index.reindex(copy)
    node.request("DELETE", f"/_index_template/{copy}")
    assert behind == [set()]


# --- what is refused


def test_nothing_is_done_to_an_index_that_is_not_a_copy(engine: Engine, index: Index, names: Callable[[], str]) -> None:
    other = names()
    create(engine, other)
    with pytest.raises(IndexStateError, match="the index that is to be copied"):
        index.reindex(index.name)
    fill(engine, other, {"1": {"title": "is there"}})
    with pytest.raises(IndexStateError, match="already holds 1 documents"):
        index.reindex(other)
    assert contents(engine, other, ["1"]) == {"1": {"title": "is there"}}


def test_an_empty_index_is_filled(engine: Engine, index: Index, names: Callable[[], str]) -> None:
    other = names()
    create(engine, other)
    with pytest.raises(RuntimeError):
        index.reindex(other, on_progress=stop)
    assert index.reindex(other).is_whole
    assert_copied(engine, other, DOCUMENTS)


def test_an_index_that_another_program_makes_in_the_meantime_is_left_alone(
    engine: Engine, meddler: Meddler, index: Index, copy: str
) -> None:
    meddler.before = once(CreateIndex, lambda _: create(engine, copy))
    with pytest.raises(IndexStateError, match=r"just now\. Run the command again"):
        index.reindex(copy)
    assert "dedup" not in str(engine.perform(GetMappings(copy)))
    assert index.reindex(copy).is_whole


def refusing(copy: str, *kinds: type[Operation[Any]]) -> Callable[[Operation[Any]], None]:
    """An engine that refuses requests of these kinds to the copy, as if the login might not do that."""

    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, kinds) and getattr(operation, "index", "") == copy:
            raise AccessError(f"{type(operation).__name__} refused. Have the privilege granted.")

    return refuse


def is_there(engine: Engine, name: str) -> bool:
    try:
        return bool(engine.perform(GetMappings(name)))
    except MissingError:
        return False


@pytest.mark.parametrize("kind_refused", [Bulk, GetAliases])
def test_a_copy_that_nothing_can_be_written_to_does_not_stay_behind(
    engine: Engine, meddler: Meddler, index: Index, copy: str, kind_refused: type[Operation[Any]]
) -> None:
    meddler.before = refusing(copy, kind_refused)
    with pytest.raises(AccessError, match=rf"{kind_refused.__name__} refused.*'{copy}', made for .* deleted again\.$"):
        index.reindex(copy)
    assert not is_there(engine, copy)
    meddler.before = lambda _: None
    assert index.reindex(copy).is_whole


def test_an_empty_copy_that_cannot_be_deleted_is_named_and_filled_by_the_next_run(
    engine: Engine, meddler: Meddler, index: Index, copy: str
) -> None:
    meddler.before = refusing(copy, Bulk, DeleteIndex)
    refused = r"Bulk refused.*not be deleted again: DeleteIndex refused.*continues with it"
    with pytest.raises(AccessError, match=refused):
        index.reindex(copy)
    assert is_there(engine, copy)
    meddler.before = lambda _: None
    assert index.reindex(copy).is_whole


def test_a_copy_with_documents_stays_whatever_ends_the_run(engine: Engine, index: Index, copy: str) -> None:
    def refuse(_: Progress) -> None:
        raise EngineError("refused")

    with pytest.raises(EngineError, match=r"^refused$"):
        index.reindex(copy, on_progress=refuse)
    assert contents(engine, copy, list(DOCUMENTS))


def test_a_copy_that_was_there_before_is_never_deleted(
    engine: Engine, meddler: Meddler, index: Index, copy: str
) -> None:
    create(engine, copy)
    meddler.before = refusing(copy, Bulk)
    with pytest.raises(AccessError, match=r"granted\.$"):
        index.reindex(copy)
    assert is_there(engine, copy)


def test_a_copy_of_another_index_or_by_another_scheme_is_refused(
    engine: Engine, index: Index, names: Callable[[], str], copy: str
) -> None:
    index.reindex(copy)
    other = names()
    create(engine, other)
    with pytest.raises(IndexStateError, match="is a copy of"):
        Index(other, engine, fields=FIELDS).reindex(copy)
    with pytest.raises(SchemeMismatchError):
        Index(index.name, engine, fields=["title"]).reindex(copy)


@servers
def test_a_copy_that_is_in_use_is_refused(engine: Engine, index: Index, names: Callable[[], str], copy: str) -> None:
    index.reindex(copy, aliases=(names(),))
    with pytest.raises(IndexStateError, match="already in use"):
        index.reindex(copy)


@servers
def test_aliases_that_mean_something_else_are_refused(
    engine: Engine, index: Index, names: Callable[[], str], copy: str
) -> None:
    other, alias = names(), names()
    create(engine, other)
    engine.perform(UpdateAliases([{"add": {"index": other, "alias": alias}}]))
    for wrong in (other, index.name, copy, alias):
        with pytest.raises(InputError):
            index.reindex(copy, aliases=(wrong,))
    with pytest.raises(MissingError):
        engine.perform(GetMappings(copy))


def test_what_cannot_be_copied_is_refused(engine: Engine, kind: str, names: Callable[[], str], copy: str) -> None:
    first, second = names(), names()
    for name in (first, second):
        create(engine, name)
    with pytest.raises(IndexStateError, match="one index is copied at a time"):
        Index(f"{first},{second}", engine, fields=FIELDS).reindex(copy)
    with pytest.raises(MissingError):
        Index(names(), engine, fields=FIELDS).reindex(copy)
    with pytest.raises(MappingError, match="init"):
        Index(first, engine).reindex(copy)
    if kind == "embedded":
        with pytest.raises(InputError, match="no aliases"):
            Index(first, engine, fields=FIELDS).reindex(copy, aliases=("alias",))


@servers
@pytest.mark.parametrize("kept", [{"enabled": False}, {"excludes": ["body"]}, {"includes": ["title"]}])
def test_an_index_that_does_not_keep_its_documents_whole_is_refused(
    engine: Engine, names: Callable[[], str], copy: str, kept: Json
) -> None:
    name = names()
    engine.perform(CreateIndex(name, {"mappings": {"_source": kept}}))
    with pytest.raises(MappingError, match="_source"):
        Index(name, engine, fields=FIELDS).reindex(copy)


@pytest.mark.parametrize("wrong", [{"parallel": 0}, {"max_rate": 0.0}, {"sample": -1}])
def test_options_that_mean_nothing_are_refused(wrong: Json) -> None:
    with pytest.raises(InputError):
        ReindexOptions(**wrong)


def test_an_engine_that_refuses_in_the_end_leaves_the_alias_alone(tmp_path: Path) -> None:
    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, Search | Count) and operation.index == "copy":
            raise EngineError("refused")

    engine = EmbeddedEngine(tmp_path)
    create(engine, "source")
    meddler = Meddler(engine)
    meddler.before = refuse
    with pytest.raises(EngineError, match="refused"):
        Index("source", meddler, fields=FIELDS).reindex("copy")
    assert UpdateAliases not in meddler.kinds()
    engine.close()
