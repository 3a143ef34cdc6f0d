"""What somebody else keeps where our fields go is neither overwritten nor removed, on every engine."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.cli.options.target import is_server
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import Rejected
from es_simhash.engines.base import Engine
from es_simhash.engines.connect import connect
from es_simhash.errors import IndexStateError, MappingError, MissingError
from es_simhash.index import AsyncIndex, Index
from es_simhash.live.reindex import Copying
from es_simhash.plans.operations import (
    Action,
    Bulk,
    Count,
    CreateIndex,
    DeleteIndex,
    GetDocuments,
    GetMappings,
    OpenReader,
)
from es_simhash.plans.text_fields import foreign_in
from es_simhash.scheme.scheme import Scheme
from tests.support.commands import lines, run
from tests.support.meddling import Meddler, once
from tests.support.whole_indices import ENGINES, fill

TEXT = {"body": "The storm has left many houses along the coast without power since Monday night."}
DOCUMENTS = Documents(Scheme(), ["body"])
BODY: Json = {"body": {"type": "text"}}
FIELDS = ("--field", "body")
OPEN: Json = {"status": "open", "group": "theirs"}

# What documents may have there that is not ours, and how it is named.
VALUES: dict[str, tuple[Json, str]] = {
    "text": ({"dedup": "mine"}, "a value of type str"),
    "number": ({"dedup": 7}, "a value of type int"),
    "false": ({"dedup": False}, "a value of type bool"),
    "list": ({"dedup": ["mine", "too"]}, "a value of type list"),
    "list of objects": ({"dedup": [{"status": "open"}]}, "a value of type list"),
    "object": ({"dedup": OPEN}, "group, status of another program"),
    "scheme": ({"dedup": {"scheme": "https", "status": "ok"}}, "scheme, status of another program"),
    "object in a name": ({"dedup": {"group": {"id": 1}}}, "group of another program"),
    "names with dots": ({"dedup.status": "open", "dedup.group": "a"}, "fields with dots in their names, dedup.group, "),
}
each_value = pytest.mark.parametrize(("value", "named"), VALUES.values(), ids=VALUES)


# --- one document


@each_value
def test_what_is_not_ours_is_named(value: Json, named: str) -> None:
    found = foreign_in(DOCUMENTS, {**TEXT, **value})
    assert found
    assert found.startswith(f"has {named}")
    assert "where the fields belong, in the object 'dedup'. Name" in found


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"dedup": None},
        {"dedup": {}},
        {"dedup": []},
        {"dedup": {"note": "of somebody"}, "dedup.note": 1, "dedupe": "x"},
        {"dedup": {"status": None, "group": None, "note": 1}},
        {"dedup": {"status": "deferred"}},
        DOCUMENTS.add_fields(TEXT),
        Documents(Scheme.preset("short"), ["body"]).add_fields({**TEXT, "dedup": {"group": "g", "note": 1}}),
    ],
    ids=str,
)
def test_nothing_is_in_the_way_of_our_fields_but_what_has_their_names(source: Json) -> None:
    assert foreign_in(DOCUMENTS, source) is None


@each_value
def test_a_copy_keeps_it_and_gets_no_fingerprint(value: Json, named: str) -> None:
    source = {**TEXT, **value}
    hits = [{"_index": "index", "_id": id_, "_source": each} for id_, each in (("1", TEXT), ("2", source), ("3", TEXT))]
    bodies, [unfit] = Copying(DOCUMENTS, "copy").bodies(hits)
    assert bodies == [DOCUMENTS.add_fields(TEXT), source, DOCUMENTS.add_fields(TEXT)]
    assert unfit.reason.startswith(f"Copied without a fingerprint: Document '2' has {named}")


# --- whole indices


@pytest.fixture
def name(place: str) -> Iterator[str]:
    """The name of an index; a copy of it has the same and ``-copy``."""
    name = f"foreign-{uuid.uuid4().hex[:10]}"
    yield name
    if is_server(place):
        with_engine(place, partial(_delete, [name, f"{name}-copy"]))


def _delete(names: Sequence[str], engine: Engine) -> None:
    for name in names:
        with suppress(MissingError):
            engine.perform(DeleteIndex(name))


def with_engine(place: str, do: Callable[[Engine], Any]) -> Any:
    """Do something with an engine of its own: commands open the directory of an embedded one as well."""
    engine = connect(place)
    try:
        return do(engine)
    finally:
        engine.close()


def state(place: str, name: str, ids: list[str]) -> Any:
    """The documents, with the numbers of their last changes, and the mapping."""
    return with_engine(
        place, lambda engine: (engine.perform(GetDocuments(name, ids)), engine.perform(GetMappings(name)))
    )


def made(place: str, name: str, mappings: Json, documents: dict[str, Json]) -> None:
    def make(engine: Engine) -> None:
        mapped = {**mappings, "properties": {**BODY, **mappings.get("properties", {})}}
        engine.perform(CreateIndex(name, {"mappings": mapped}))
        fill(engine, name, documents)

    with_engine(place, make)


def refused_everywhere(place: str, name: str, folder: Path, ids: list[str], reported: str) -> None:
    """See every verb that brings fields into an index refuse to, and leave all as it is."""
    before = state(place, name, ids)
    new = folder / "new.jsonl"
    new.write_text(json.dumps({"id": "new", **TEXT}) + "\n", encoding="utf-8")
    writing: list[tuple[str, ...]] = [
        ("init", name, *FIELDS),
        ("init", name, *FIELDS, "--dry-run"),
        ("load", name, str(new), "--id-field", "id", *FIELDS),
        ("backfill", name, *FIELDS),
        ("reindex", name, f"{name}-copy", *FIELDS),
    ]
    for command in writing:
        done = run(*command, cwd=folder, code=4, ES_SIMHASH_URL=place)
        assert reported in done.err, command
        assert "--prefix" in done.err
    for verb, how in (("remove", "--yes"), ("group", "--write")):
        assert "has no fields for fingerprints" in run(verb, name, how, cwd=folder, code=4, ES_SIMHASH_URL=place).err
    assert state(place, name, ids) == before
    with pytest.raises(MissingError):
        state(place, f"{name}-copy", ids)


@each_value
def test_values_that_are_not_mapped_stop_all_before_anything_is_written(
    place: str, name: str, tmp_path: Path, value: Json, named: str
) -> None:
    made(place, name, {"dynamic": False}, {"1": TEXT, "2": {**TEXT, **value}})
    refused_everywhere(place, name, tmp_path, ["1", "2"], f"Document '2' of the index {name!r} has {named}")
    found = lines(run("doctor", name, *FIELDS, "--json", cwd=tmp_path, code=1, ES_SIMHASH_URL=place))
    assert [(each["code"], each["index"]) for each in found if each["level"] == "stop"] == [("foreign-values", name)]
    other = ("--prefix", "near")
    run("backfill", name, *FIELDS, *other, cwd=tmp_path, ES_SIMHASH_URL=place)
    (_, kept), _ = state(place, name, ["1", "2"])
    assert {key: each for key, each in kept["_source"].items() if key != "near"} == {**TEXT, **value}


def test_a_field_of_our_object_s_name_stops_all(place: str, name: str, tmp_path: Path) -> None:
    made(place, name, {"properties": {"dedup": {"type": "keyword"}}}, {"1": TEXT, "2": {**TEXT, "dedup": "mine"}})
    reported = f"The index {name!r} has a field 'dedup' of type keyword, where an object is needed"
    refused_everywhere(place, name, tmp_path, ["1", "2"], reported)


def test_an_object_that_is_not_parsed_stops_all(place: str, name: str, tmp_path: Path) -> None:
    there = {"dedup": {"type": "object", "enabled": False}}
    made(place, name, {"properties": there}, {"1": TEXT, "2": {**TEXT, "dedup": OPEN}, "3": {**TEXT, "dedup": "mine"}})
    reported = f"The index {name!r} does not parse the object 'dedup' (enabled: false)"
    refused_everywhere(place, name, tmp_path, ["1", "2", "3"], reported)


def test_an_object_of_somebody_else_in_the_mapping_stops_all(place: str, name: str, tmp_path: Path) -> None:
    theirs = {"dedup": {"properties": {"status": {"type": "keyword"}, "group": {"type": "keyword"}}}}
    made(place, name, {"properties": theirs}, {"1": TEXT, "2": {**TEXT, "dedup": OPEN}})
    reported = f"The index {name!r} has an object 'dedup' of another program, with the fields group, status"
    refused_everywhere(place, name, tmp_path, ["1", "2"], reported)
    found = lines(run("doctor", name, *FIELDS, "--json", cwd=tmp_path, code=1, ES_SIMHASH_URL=place))
    assert "mapping-conflict" in [each["code"] for each in found if each["level"] == "stop"]
    query = {"term": {"dedup.status": "open"}}
    assert with_engine(place, lambda engine: engine.perform(Count(name, query))) == 1


@pytest.mark.parametrize("place", ["elasticsearch"], indirect=True)
@pytest.mark.parametrize(("value", "field"), [({"dedup": "mine"}, "dedup"), ({"dedup": OPEN}, "dedup.status")])
def test_a_runtime_field_of_our_name_stops_all(place: str, name: str, tmp_path: Path, value: Json, field: str) -> None:
    made(place, name, {"dynamic": "runtime"}, {"1": TEXT, "2": {**TEXT, **value}})
    query = {"exists": {"field": field}}
    assert with_engine(place, lambda engine: engine.perform(Count(name, query))) == 1
    refused_everywhere(place, name, tmp_path, ["1", "2"], f"The index {name!r} has the runtime fields dedup")
    assert with_engine(place, lambda engine: engine.perform(Count(name, query))) == 1


@pytest.mark.parametrize("place", ENGINES[1:], indirect=True)
def test_asynchronous_indices_stop_too(place: str, name: str) -> None:
    made(place, name, {"dynamic": False}, {"1": {**TEXT, "dedup": "mine"}})
    before = state(place, name, ["1"])

    async def do() -> None:
        async with AsyncIndex(name, place, fields=["body"]) as index:
            assert [each.code for each in await index.doctor() if each.level == "stop"] == ["foreign-values"]
            with pytest.raises(MappingError, match=r"'1' .* has a value of type str .*--prefix"):
                await index.init()
            with pytest.raises(MappingError, match=r"'1' .* has a value of type str .*--prefix"):
                await index.reindex(f"{name}-copy")

    asyncio.run(do())
    assert state(place, name, ["1"]) == before


# --- where the fields are there already, and others write as well


@pytest.fixture
def engine(place: str) -> Iterator[Engine]:
    engine = connect(place)
    yield engine
    engine.close()


@pytest.fixture
def index(engine: Engine, name: str) -> Index:
    """An index with our fields: three of its documents have a fingerprint, and one has none yet."""
    engine.perform(CreateIndex(name, {"mappings": {"properties": BODY}}))
    Index(name, engine, fields=["body"]).init()
    done = DOCUMENTS.add_fields(TEXT)
    fill(engine, name, {"1": done, "2": done, "3": done, "due": TEXT})
    return Index(name, engine)


THEIRS: dict[str, Json] = {
    "object": {**TEXT, "dedup": OPEN},
    "dots": {**TEXT, "dedup.status": "open", "dedup.group": "theirs"},
}


def of(engine: Engine, name: str, *ids: str) -> list[Json]:
    return engine.perform(GetDocuments(name, list(ids)))


def test_a_backfill_stops_and_once_that_is_accepted_leaves_such_documents_alone(engine: Engine, index: Index) -> None:
    fill(engine, index.name, THEIRS)
    before = of(engine, index.name, *THEIRS, "due")
    with pytest.raises(
        IndexStateError, match=r"foreign-values: .* of another program .*or accept it: --accept foreign-va"
    ):
        index.backfill()
    assert of(engine, index.name, *THEIRS, "due") == before
    reported: list[Rejected] = []
    done = index.backfill(accept=frozenset({"foreign-values"}), on_reject=reported.append)
    assert (done.written, done.rejected, {each.id for each in reported}) == (1, 2, set(THEIRS))
    assert all("where the fields belong" in each.reason and "--prefix" in each.reason for each in reported)
    assert of(engine, index.name, *THEIRS) == before[:2]


def test_one_mapped_value_among_many_documents_is_found(engine: Engine, index: Index) -> None:
    fill(engine, index.name, {f"due {i}": TEXT for i in range(150)})
    fill(engine, index.name, {"theirs": THEIRS["object"]})
    assert [each.code for each in index.doctor() if each.level == "stop"] == ["foreign-values"]


def test_of_several_indices_none_gets_the_fields_where_one_has_such_values(engine: Engine, name: str) -> None:
    mappings = {"dynamic": False, "properties": BODY}
    both = [name, f"{name}-copy"]
    for each in both:
        engine.perform(CreateIndex(each, {"mappings": mappings}))
    fill(engine, both[1], {"1": {**TEXT, "dedup": "mine"}})
    with pytest.raises(MappingError, match=rf"'{both[1]}' has a value of type str"):
        Index(",".join(both), engine, fields=["body"]).init()
    assert all("dedup" not in engine.perform(GetMappings(each))[each]["properties"] for each in both)


def test_what_comes_while_a_backfill_runs_is_left_alone_too(engine: Engine, index: Index) -> None:
    meddler = Meddler(engine)
    meddler.before = once(OpenReader, lambda _: fill(engine, index.name, THEIRS))
    reported: list[Rejected] = []
    done = Index(index.name, meddler).backfill(on_reject=reported.append)
    assert (done.written, {each.id for each in reported}) == (1, set(THEIRS))
    assert [each["_source"] for each in of(engine, index.name, *THEIRS)] == list(THEIRS.values())


def test_a_removal_takes_ours_out_and_leaves_theirs(engine: Engine, place: str, index: Index, tmp_path: Path) -> None:
    fill(engine, index.name, THEIRS)
    before = of(engine, index.name, *THEIRS)
    engine.close()
    done = run("remove", index.name, "--yes", cwd=tmp_path, code=1, ES_SIMHASH_URL=place)
    assert "fingerprints removed from 3 documents, 2 rejected, 2 left" in done.out
    rejects = [json.loads(line) for line in (tmp_path / "rejected.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {each["id"] for each in rejects} == set(THEIRS)
    documents, _ = state(place, index.name, ["1", "2", "3", "due", *THEIRS])
    assert [each["_source"] for each in documents[:4]] == [TEXT] * 4
    assert documents[4:] == before


def test_a_document_that_becomes_theirs_before_its_group_is_written_keeps_what_it_has(
    engine: Engine, index: Index
) -> None:
    meddler = Meddler(engine)
    meddler.before = once(Bulk, lambda _: fill(engine, index.name, {"2": THEIRS["object"]}))
    with index.group() as grouped:
        done = Index(index.name, meddler).write_groups(grouped)
    assert (done.lost, done.rejected) == (1, [])
    first, theirs, third = of(engine, index.name, "1", "2", "3")
    assert theirs["_source"] == THEIRS["object"]
    assert first["_source"]["dedup"]["group"] == third["_source"]["dedup"]["group"]


@pytest.mark.parametrize("place", ENGINES[1:], indirect=True)
def test_a_pipeline_is_not_put_where_it_would_replace_such_values(engine: Engine, index: Index) -> None:
    fill(engine, index.name, THEIRS)
    with pytest.raises(MappingError, match=r"of another program .*--prefix|dots in their names.*--prefix"):
        index.pipeline(install=True)
    engine.perform(Bulk(index.name, [Action("delete", id_, None) for id_ in THEIRS], refresh=True))
    assert index.pipeline(install=True).installed
    index.remove_pipeline()
