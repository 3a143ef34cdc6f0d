"""Several who prepare the same index at the same time: each finds it as it asked for, or is refused."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.engines.base import run as run_plan
from es_simhash.engines.connect import connect
from es_simhash.errors import EngineError, IndexStateError, SchemeMismatchError
from es_simhash.index import Index
from es_simhash.plans.open_index import note, noted
from es_simhash.plans.operations import CreateIndex, DeleteIndex, GetMappings, PutMapping
from es_simhash.scheme.mapping import entries
from tests.support.commands import Run, run_alone
from tests.support.meddling import Meddler, once
from tests.support.whole_indices import COUNT, DOCUMENTS, FIELDS, create, fill

AT_ONCE = 4


def all_at_once(engine: Engine, name: str, *schemes: str) -> list[Any]:
    """Call init several times at the same moment; return what each did, or why it was refused."""
    barrier = Barrier(len(schemes))

    def init(scheme: str) -> Any:
        index = Index(name, engine, fields=FIELDS, scheme=scheme)
        barrier.wait()
        try:
            return index.init()
        except EngineError as error:
            return error

    with ThreadPoolExecutor(len(schemes)) as threads:
        return list(threads.map(init, schemes))


def entry(engine: Engine, name: str, prefix: str = "dedup") -> Json:
    noted: Json = engine.perform(GetMappings(name))[name]["_meta"]["es_simhash"][prefix]
    return noted


def test_all_who_ask_for_the_same_new_index_get_it(engine: Engine, names: Callable[[], str]) -> None:
    for _ in range(3):
        name = names()
        done = all_at_once(engine, name, *["default"] * AT_ONCE)
        assert [each.created for each in done].count(True) == 1, done
        assert entry(engine, name)["fields"] == list(FIELDS)


def test_of_those_who_ask_for_different_schemes_one_gets_the_index(engine: Engine, names: Callable[[], str]) -> None:
    for _ in range(3):
        name = names()
        done = all_at_once(engine, name, "default", "short", "strict")
        assert [type(each) for each in done].count(SchemeMismatchError) == 2, done
        [(scheme, _)] = [
            (scheme, each)
            for scheme, each in zip(("default", "short", "strict"), done, strict=True)
            if not isinstance(each, EngineError)
        ]
        assert Index(name, engine, scheme=scheme).documents.fields == FIELDS


def test_all_who_ask_for_the_same_in_an_index_that_is_there_get_it(engine: Engine, names: Callable[[], str]) -> None:
    name = names()
    create(engine, name)
    done = all_at_once(engine, name, *["default"] * AT_ONCE)
    assert [each for each in done if isinstance(each, EngineError)] == []
    assert Index(name, engine).documents.fields == FIELDS


def test_one_that_was_made_in_the_meantime_is_used_as_it_is(
    engine: Engine, meddler: Meddler, names: Callable[[], str]
) -> None:
    name = names()
    meddler.before = once(CreateIndex, lambda _: Index(name, engine, fields=FIELDS).init())
    assert not Index(name, meddler, fields=FIELDS).init().created
    other = names()
    meddler.before = once(CreateIndex, lambda _: Index(other, engine, fields=FIELDS, prefix="other").init())
    added = Index(other, meddler, fields=FIELDS).init().added[other]
    assert added
    assert all(path.startswith("dedup.") for path in added)
    assert {Index(other, engine, prefix=prefix).documents.prefix for prefix in ("dedup", "other")} == {"dedup", "other"}
    refused = names()
    meddler.before = once(CreateIndex, lambda _: Index(refused, engine, fields=FIELDS, scheme="short").init())
    with pytest.raises(SchemeMismatchError, match="Use the scheme that is there"):
        Index(refused, meddler, fields=FIELDS).init()


PREFIXES = ("titles", "dedup", "near", "a-1", "b_2", "c", "d", "e")


@pytest.mark.parametrize("many", [2, 8])
def test_all_who_ask_for_a_prefix_of_their_own_get_it(engine: Engine, names: Callable[[], str], many: int) -> None:
    for _ in range(10):
        name, barrier = names(), Barrier(many + 1)
        create(engine, name)
        jobs: list[Callable[[], Any]] = [
            partial(Index(name, engine, fields=FIELDS, prefix=prefix).init) for prefix in PREFIXES[:many]
        ]
        jobs.append(partial(run_plan, note(name, "_settings_before_backfill", {"a": "5s"}), engine))

        def do(job: Callable[[], Any], barrier: Barrier = barrier) -> Any:
            barrier.wait()
            return job()

        with ThreadPoolExecutor(many + 1) as threads:
            list(threads.map(do, jobs))
        there = engine.perform(GetMappings(name))
        assert {prefix for prefix in PREFIXES if entries(there, prefix)[name]} == set(PREFIXES[:many])
        assert noted(there[name], "_settings_before_backfill") == {"a": "5s"}
        assert set(there[name]["_meta"]["es_simhash"]) == set(PREFIXES[:many])


def test_processes_that_prepare_prefixes_of_their_own_all_keep_them(tmp_path: Path, place: str) -> None:
    if not place.startswith("http"):
        pytest.skip("one process at a time writes to the embedded engine")
    name, line = f"at-once-{uuid.uuid4().hex[:10]}", ("--field", "title", "--prefix")
    with closing(connect(place)) as engine, ThreadPoolExecutor(3) as threads:
        create(engine, name)

        def start(prefix: str) -> Run:
            return run_alone("init", name, *line, prefix, cwd=tmp_path, ES_SIMHASH_URL=place)

        assert [each.code for each in threads.map(start, PREFIXES[:3])] == [0] * 3
        there = engine.perform(GetMappings(name))
        assert {prefix for prefix in PREFIXES if entries(there, prefix)[name]} == set(PREFIXES[:3])
        engine.perform(DeleteIndex(name))


def test_a_meta_that_another_program_replaces_takes_no_scheme_with_it(engine: Engine, names: Callable[[], str]) -> None:
    name = names()
    create(engine, name)
    Index(name, engine, fields=FIELDS, scheme="short").init()
    engine.perform(PutMapping(name, {"_meta": {"owner": "another"}}))
    opened = Index(name, engine)
    assert (opened.scheme.name, opened.documents.fields) == ("short", FIELDS)
    assert Index(name, engine, fields=FIELDS, scheme="short").init().added == {name: []}
    assert entry(engine, name)["id"] == opened.scheme.id


def test_a_note_that_was_replaced_in_the_meantime_is_put_again(
    engine: Engine, meddler: Meddler, names: Callable[[], str]
) -> None:
    name = names()
    create(engine, name)
    before = engine.perform(GetMappings(name))[name]
    losing = once(PutMapping, lambda _: setattr(meddler, "after", lose_note))

    def lose_note(operation: Any, result: Any) -> Any:
        if isinstance(operation, PutMapping):
            meddler.after = lambda _, same: same
            engine.perform(PutMapping(name, {"_meta": before["_meta"]}))
        return result

    meddler.before = losing
    Index(name, meddler, fields=FIELDS).init()
    assert entry(engine, name)["fields"] == list(FIELDS)


def test_a_scheme_that_another_has_put_in_the_meantime_is_seen(
    engine: Engine, meddler: Meddler, names: Callable[[], str]
) -> None:
    name, wanted = names(), names()
    create(engine, name)
    Index(wanted, engine, fields=FIELDS, scheme="short").init()
    theirs = engine.perform(GetMappings(wanted))[wanted]

    def come_first(operation: Any) -> Any:
        if isinstance(operation, PutMapping):
            engine.perform(PutMapping(name, {"_meta": theirs["_meta"], "properties": theirs["properties"]}))

    meddler.before = come_first
    with pytest.raises(SchemeMismatchError, match="Use the scheme that is there"):
        Index(name, meddler, fields=FIELDS).init()


def test_a_copy_that_the_same_reindexing_has_made_in_the_meantime_is_filled_by_both(
    engine: Engine, meddler: Meddler, names: Callable[[], str]
) -> None:
    name, copy = names(), names()
    create(engine, name)
    fill(engine, name, DOCUMENTS)
    meddler.before = once(CreateIndex, lambda _: Index(name, engine, fields=FIELDS).reindex(copy))
    done = Index(name, meddler, fields=FIELDS).reindex(copy)
    assert done.is_whole
    assert done.verified.copies == COUNT


def test_an_index_that_others_have_made_in_the_meantime_is_not_a_copy(
    engine: Engine, meddler: Meddler, names: Callable[[], str]
) -> None:
    name, copy = names(), names()
    create(engine, name)
    fill(engine, name, dict(list(DOCUMENTS.items())[:3]))
    meddler.before = once(CreateIndex, lambda _: create(engine, copy))
    with pytest.raises(IndexStateError, match="just now"):
        Index(name, meddler, fields=FIELDS).reindex(copy)


@pytest.mark.parametrize("command", ["init", "load", "backfill"])
def test_processes_that_make_the_same_index_all_end_well(tmp_path: Path, place: str, command: str) -> None:
    if command != "init" and not place.startswith("http"):
        pytest.skip("one process at a time writes to the embedded engine")
    name = f"at-once-{uuid.uuid4().hex[:10]}"
    (tmp_path / "news.jsonl").write_text('{"id": "1", "title": "A title"}\n', encoding="utf-8")
    if command == "backfill":
        with closing(connect(place)) as engine:
            create(engine, name)
            fill(engine, name, dict(list(DOCUMENTS.items())[:3]))
    given = ["news.jsonl"] if command == "load" else []

    def start(_: int) -> Run:
        return run_alone(command, name, *given, "--field", "title", cwd=tmp_path, ES_SIMHASH_URL=place)

    with ThreadPoolExecutor(2) as threads:
        assert [each.code for each in threads.map(start, range(2))] == [0, 0]
    with closing(connect(place)) as engine:
        assert entry(engine, name)["fields"] == ["title"]
        engine.perform(DeleteIndex(name))
