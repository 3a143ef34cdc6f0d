"""What only the embedded engine does: files, locks, crashes, and what it refuses to do."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.engines.embedded import index as store
from es_simhash.errors import EngineError, IndexStateError, InputError, InUseError, MissingError
from es_simhash.index import Index
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    CheckFiles,
    Count,
    CreateIndex,
    DeleteIndex,
    GetDocuments,
    GetInfo,
    GetMappings,
    Operation,
    OpType,
    PutMapping,
    Refresh,
    Search,
)
from tests.support.meddling import Meddler, once
from tests.support.operations import OPERATIONS

ALL: Json = {"match_all": {}}


@contextmanager
def opened(directory: Path) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(directory)
    try:
        yield engine
    finally:
        engine.close()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    with opened(tmp_path) as engine:
        yield engine


def put(engine: EmbeddedEngine, documents: dict[str, Json], refresh: bool = True, index: str = "a") -> None:
    actions = [Action("index", id_, document) for id_, document in documents.items()]
    results = engine.perform(Bulk(index, actions, refresh))
    assert [result.error for result in results if result.error] == []


def act(engine: EmbeddedEngine, op_type: OpType, body: Any, id_: str | None = "1", **metadata: Any) -> ActionResult:
    [result] = engine.perform(Bulk("a", [Action(op_type, id_, body, metadata=metadata or None)]))
    return result


def count(engine: EmbeddedEngine, query: Json = ALL) -> int:
    return engine.perform(Count("a", query))


class Other:
    """A second process, which runs Python lines that are sent to it and answers each by a line."""

    def __init__(self, directory: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-c", _OTHER, str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def do(self, line: str) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


_OTHER = """
import sys
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import *
engine = EmbeddedEngine(sys.argv[1])
do = engine.perform
for line in sys.stdin:
    try:
        print(eval(line))
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Other]:
    process = Other(tmp_path)
    yield process
    process.kill()


def test_importing_the_package_does_not_import_the_library() -> None:
    subprocess.run([sys.executable, "-c", "import es_simhash, sys; assert 'tantivy' not in sys.modules"], check=True)


def test_every_operation_can_be_carried_out(engine: EmbeddedEngine) -> None:
    assert set(engine._performers) == OPERATIONS


def test_the_version_is_the_library_s(engine: EmbeddedEngine) -> None:
    info = engine.perform(GetInfo())
    assert info.distribution == "embedded"
    assert info.version >= (0, 27)


# --- on disk


def test_an_index_is_opened_again_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        engine.perform(CreateIndex("a", {"mappings": {"_meta": {"x": 1}}}))
        put(engine, {"1": {"tag": "x", "n": 5}}, refresh=False)
        mapping = engine.perform(GetMappings("a"))
    with opened(tmp_path) as engine:
        assert engine.perform(GetMappings("a")) == mapping
        assert count(engine, {"term": {"tag": "x"}}) == 1
        put(engine, {"1": {"tag": "y"}})
        assert count(engine, {"term": {"tag": "x"}}) == 0
        assert count(engine) == 1


def test_a_directory_that_is_not_there_has_no_indices(tmp_path: Path) -> None:
    with opened(tmp_path / "none" / "yet") as engine:
        with pytest.raises(MissingError, match="yet"):
            engine.perform(GetMappings("a"))
        with pytest.raises(MissingError):
            engine.perform(GetMappings("*"))
        assert not (tmp_path / "none").exists()
        put(engine, {"1": {}})
        assert count(engine) == 1


def test_other_files_in_the_directory_are_not_indices(engine: EmbeddedEngine, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("x")
    (tmp_path / "folder").mkdir()
    put(engine, {"1": {}})
    assert engine.perform(GetMappings("*")).keys() == {"a"}
    for name in ("notes", "folder"):
        with pytest.raises(MissingError):
            engine.perform(GetMappings(name))


def test_an_index_cannot_replace_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with opened(tmp_path / "file") as engine, pytest.raises(EngineError, match="file"):
        engine.perform(CreateIndex("a", {}))


def test_a_deleted_index_leaves_nothing_behind(engine: EmbeddedEngine, tmp_path: Path) -> None:
    put(engine, {"1": {"t": "x"}})
    put(engine, {"2": {"t": "x"}}, refresh=False)
    engine.perform(DeleteIndex("a"))
    assert list(tmp_path.iterdir()) == []


def test_damaged_files_are_named(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        put(engine, {"1": {}})
    (tmp_path / "a" / "meta.json").write_text("{")
    with opened(tmp_path) as engine, pytest.raises(IndexStateError, match=r"meta\.json.*damaged"):
        count(engine)


def test_many_pending_writes_are_committed(engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MAX_PENDING", 10)
    for first in range(0, 25, 5):
        put(engine, {str(i): {"n": i} for i in range(first, first + 5)}, refresh=False)
    assert count(engine) == 15
    assert len(engine.perform(GetDocuments("a", [str(i) for i in range(25)]))) == 25
    engine.perform(Refresh("a"))
    assert count(engine) == 25


def test_many_pending_deletions_are_committed(engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    put(engine, {str(i): {"n": i} for i in range(25)})
    monkeypatch.setattr(store, "_MAX_PENDING", 10)
    for first in range(0, 25, 5):
        engine.perform(Bulk("a", [Action("delete", str(i), None) for i in range(first, first + 5)]))
    assert count(engine) == 10


def test_a_closed_engine_does_nothing_more(tmp_path: Path) -> None:
    engine = EmbeddedEngine(tmp_path)
    put(engine, {"1": {}})
    engine.close()
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        count(engine)


def test_threads_can_share_an_engine(engine: EmbeddedEngine) -> None:
    def write(first: int) -> None:
        for i in range(first, first + 50):
            put(engine, {str(i): {"n": i}}, refresh=i % 10 == 0)

    threads = [Thread(target=write, args=(first,)) for first in (0, 50, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.perform(Refresh("a"))
    assert count(engine) == 150


def test_neither_searches_nor_look_ups_wait_for_a_commit(
    engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(engine, {"1": {}})
    committing, looked = Event(), Event()
    commit = store.Store.commit

    def slow(of: store.Store) -> None:
        committing.set()
        assert looked.wait(60)
        commit(of)

    monkeypatch.setattr(store.Store, "commit", slow)
    writer = Thread(target=put, args=(engine, {"2": {}}))
    writer.start()
    assert committing.wait(60)
    assert count(engine) == 1
    assert [each["found"] for each in engine.perform(GetDocuments("a", ["1", "2"]))] == [True, True]
    looked.set()
    writer.join()
    assert count(engine) == 2


def test_documents_are_found_by_id_while_another_thread_commits_them(engine: EmbeddedEngine) -> None:
    put(engine, {"0": {}})
    written, ended = ["0"], Event()

    def write() -> None:
        for i in range(1, 60):
            put(engine, {str(i): {}}, refresh=i % 3 == 0)
            written.append(str(i))
        ended.set()

    writer = Thread(target=write)
    writer.start()
    while not ended.is_set():
        newest = written[-1]
        [reply] = engine.perform(GetDocuments("a", [newest]))
        assert reply["found"], newest
        assert count(engine) <= len(written) + 1
    writer.join()
    engine.perform(Refresh("a"))
    assert count(engine) == 60


# --- several processes


def test_only_one_process_writes_and_the_others_are_refused(
    engine: EmbeddedEngine, other: Other, tmp_path: Path
) -> None:
    assert "201" in other.do("do(Bulk('a', [Action('index', '1', {'t': 'x'})], refresh=True))")
    new_field = PutMapping("a", {"properties": {"k": {"type": "keyword"}}})
    operations: list[Operation[Any]] = [Bulk("a", [Action("index", "2", {})]), new_field, DeleteIndex("a")]
    for operation in operations:
        with pytest.raises(InUseError) as caught:
            engine.perform(operation)
        assert str(tmp_path / "a") in str(caught.value)
    assert other.do("engine.close()") == "None"
    put(engine, {"2": {"t": "y"}})
    assert count(engine) == 2


def test_two_engines_of_one_process_do_not_write_both(engine: EmbeddedEngine, tmp_path: Path) -> None:
    put(engine, {"1": {}})
    with opened(tmp_path) as second, pytest.raises(InUseError):
        put(second, {"2": {}})


def test_a_reader_sees_what_another_process_commits(engine: EmbeddedEngine, other: Other) -> None:
    other.do("do(CreateIndex('a', {}))")
    assert count(engine) == 0
    other.do("do(Bulk('a', [Action('index', '1', {'t': 'x'})]))")
    assert count(engine) == 0
    other.do("do(Refresh('a'))")
    assert count(engine, {"term": {"t": "x"}}) == 1
    other.do("do(Bulk('a', [Action('update', '1', {'doc': {'new': 7}})], refresh=True))")
    assert count(engine, {"term": {"new": 7}}) == 1
    assert engine.perform(GetMappings("a"))["a"]["properties"]["new"] == {"type": "long"}
    other.do("do(DeleteIndex('a'))")
    with pytest.raises(MissingError):
        count(engine)
    other.do("do(Bulk('a', [Action('index', '1', {'t': 'y'})], refresh=True))")
    assert count(engine, {"term": {"t": "x"}}) == 0
    assert count(engine, {"term": {"t": "y"}}) == 1


def test_a_writer_takes_up_the_mapping_that_another_process_left(engine: EmbeddedEngine, other: Other) -> None:
    engine.perform(CreateIndex("a", {}))
    other.do("do(PutMapping('a', {'properties': {'k': {'type': 'keyword'}}}))")
    other.do("engine.close()")
    put(engine, {"1": {"k": "As It Is", "n": 1}})
    assert count(engine, {"term": {"k": "As It Is"}}) == 1
    assert set(engine.perform(GetMappings("a"))["a"]["properties"]) == {"k", "n"}


def test_a_killed_writer_loses_only_what_was_not_refreshed(engine: EmbeddedEngine, other: Other) -> None:
    other.do("do(Bulk('a', [Action('index', str(i), {'n': i}) for i in range(100)], refresh=True))")
    assert "201" in other.do("do(Bulk('a', [Action('index', str(i), {'m': i}) for i in range(100, 2000)]))")
    other.kill()
    assert count(engine) == 100
    put(engine, {"after": {"n": 100}})
    assert count(engine) == 101
    assert count(engine, {"range": {"n": {"gte": 0}}}) == 101


def test_a_writer_killed_at_any_moment_leaves_an_index_that_opens(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Semaphore(0)
    writer = context.Process(target=_write_without_end, args=(tmp_path, ready))
    writer.start()
    for _ in range(12):
        ready.acquire()
    writer.kill()
    writer.join()
    with opened(tmp_path) as engine:
        assert engine.perform(CheckFiles("a")).damaged == []
        found = count(engine)
        assert found >= 12 * 7
        assert found % 7 == 0
        assert count(engine, {"exists": {"field": "f11"}}) == 7


def _write_without_end(directory: Path, ready: Any) -> None:
    engine = EmbeddedEngine(directory)
    for i in range(900):
        put(engine, {f"{i}-{j}": {f"f{i}": j} for j in range(7)})
        ready.release()


# --- what is refused


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "A", "-a", "_a", "+a", "a b", "a\\b", "a/b", "../a", 'a"b', "a<b", "a|b", "a:b", "a?", "ä" * 128],
)  # fmt: skip
def test_names_that_a_file_system_could_misread_are_refused(engine: EmbeddedEngine, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="lower case"):
        engine.perform(CreateIndex(name, {}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a", "近似", "a.b", ".hidden", "a-b_c+d", "é" * 127, "%2e", "a@b"])
def test_other_names_are_taken_as_they_are(engine: EmbeddedEngine, name: str) -> None:
    put(engine, {"1": {}}, index=name)
    assert engine.perform(Count(name, ALL)) == 1
    engine.perform(DeleteIndex(name))


def test_a_pattern_finds_no_hidden_index_unless_it_says_so(engine: EmbeddedEngine) -> None:
    for name in ("a", "b", ".h"):
        put(engine, {"1": {}}, index=name)
    assert engine.perform(GetMappings("*")).keys() == engine.perform(GetMappings("_all")).keys() == {"a", "b"}
    assert engine.perform(GetMappings(".*")).keys() == {".h"}
    with pytest.raises(IndexStateError, match="Name one"):
        engine.perform(DeleteIndex("a*"))
    with pytest.raises(IndexStateError, match="different indices"):
        engine.perform(GetDocuments("a,b", ["1"]))


@pytest.mark.parametrize(
    "body", [{"aliases": {}}, {"settings": {"analysis": {}}}, {"settings": {"index": {"analysis": {}}}}]
)
def test_unsupported_settings_of_a_new_index_are_refused(engine: EmbeddedEngine, body: Json) -> None:
    with pytest.raises(EngineError, match="Leave it out"):
        engine.perform(CreateIndex("a", body))


@pytest.mark.parametrize(
    ("op_type", "body", "id_", "metadata"),
    [
        ("index", {}, "", {}),
        ("index", {}, "x" * 513, {}),
        ("index", {}, "\ud800", {}),
        ("index", {"a": "\ud800"}, "1", {}),
        ("index", {"a": float("nan")}, "1", {}),
        ("index", {"a": {1, 2}}, "1", {}),
        ("index", None, "1", {}),
        ("index", ["a"], "1", {}),
        ("index", {}, "1", {"pipeline": "p"}),
        ("update", {"script": {"source": "x"}}, "1", {}),
        ("update", {"doc": {}, "scripted_upsert": True}, "1", {}),
        ("update", {}, "1", {}),
        ("update", {"doc": {}}, None, {}),
        ("delete", None, None, {}),
        ("upsert", {}, "1", {}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_an_impossible_action_has_its_reason(
    engine: EmbeddedEngine, op_type: Any, body: Any, id_: str | None, metadata: Json
) -> None:
    engine.perform(CreateIndex("a", {}))
    result = act(engine, op_type, body, id_, **metadata)
    assert result.status == 400
    assert result.error
    engine.perform(Refresh("a"))
    assert count(engine) == 0


def test_a_condition_holds_while_a_document_is_unchanged(engine: EmbeddedEngine) -> None:
    put(engine, {"1": {"k": "x"}, "2": {"k": "x"}})
    read, other = engine.perform(GetDocuments("a", ["1", "2"], []))
    condition = {"if_seq_no": read["_seq_no"], "if_primary_term": read["_primary_term"]}
    assert read["_seq_no"] == other["_seq_no"]
    assert act(engine, "update", {"doc": {"n": 1}}, **condition).status == 200
    others: list[tuple[OpType, Any]] = [("update", {"doc": {"n": 2}}), ("index", {"n": 2}), ("delete", None)]
    for op_type, body in others:
        result = act(engine, op_type, body, **condition)
        assert (result.status, result.error and "was changed since it was read" in result.error) == (409, True)
    assert act(engine, "index", {}, "new", **condition).status == 409
    assert act(engine, "update", {"doc": {}}, "new", **condition).status == 404
    assert engine.perform(GetDocuments("a", ["1"]))[0]["_source"] == {"k": "x", "n": 1}


def test_a_text_that_another_process_changes_before_the_first_update_of_a_backfill_is_read_again(
    engine: EmbeddedEngine, tmp_path: Path
) -> None:
    put(engine, {str(number): {"body": f"the text of document {number}"} for number in range(20)})
    Index("a", engine, fields=["body"]).init()
    engine.close()

    def change(bulk: Bulk) -> None:
        with opened(tmp_path) as another:
            another.perform(Bulk("a", [Action("update", "7", {"doc": {"body": "another text"}})]))

    with opened(tmp_path) as reopened:
        meddler = Meddler(reopened)
        meddler.before = once(Bulk, change)
        index = Index("a", meddler)
        progress = index.backfill()
        assert (progress.conflicts, progress.written) == (1, 20)
        [source] = [found["_source"] for found in reopened.perform(GetDocuments("a", ["7"]))]
        assert source == index.documents.add_fields({"body": "another text"})


def test_invalid_unicode_is_refused(engine: EmbeddedEngine) -> None:
    engine.perform(CreateIndex("a", {"mappings": {"properties": {"k": {"type": "keyword"}}}}))
    operations: list[Operation[Any]] = [
        GetDocuments("a", ["\ud800"]),
        Search("a", {"query": {"term": {"k": "\ud800"}}}),
        Search("a", {"query": {"wildcard": {"k": "\ud800"}}}),
        Search("a", {"query": {"ids": {"values": ["\ud800"]}}}),
        CreateIndex("\ud800", {}),
    ]
    for operation in operations:
        with pytest.raises((InputError, EngineError), match=r"Unicode|utf-8"):
            engine.perform(operation)


def test_a_term_of_any_length_can_be_asked_for(engine: EmbeddedEngine) -> None:
    put(engine, {"1": {"k": "x" * 300, "t": "y" * 100_000}})
    assert count(engine, {"term": {"k": "z" * 100_000}}) == 0
    assert count(engine, {"ids": {"values": ["z" * 100_000]}}) == 0
    assert count(engine, {"match": {"t": "y" * 255}}) == 1
    assert engine.perform(GetDocuments("a", ["z" * 100_000]))[0]["found"] is False


def test_deeply_nested_objects_are_refused(engine: EmbeddedEngine) -> None:
    deep: Json = {}
    for _ in range(sys.getrecursionlimit()):
        deep = {"a": deep}
    assert act(engine, "index", deep).status == 400


def test_routing_is_accepted_without_effect(engine: EmbeddedEngine) -> None:
    assert act(engine, "index", {"a": 1}, routing="r").status == 201
    assert act(engine, "update", {"doc": {"a": 2}}, routing="s", retry_on_conflict=3).status == 200


def test_a_routing_that_no_server_takes_is_refused(engine: EmbeddedEngine) -> None:
    result = act(engine, "index", {"a": 1}, routing="a\ud800")
    assert (result.status, result.error) == (
        400,
        "The routing 'a\\ud800' is not Unicode text. Decode it again, with the right encoding.",
    )
    assert act(engine, "update", {"doc": {"a": 2}}).status == 404


def test_deleting_from_a_missing_index_does_not_make_it(engine: EmbeddedEngine) -> None:
    assert act(engine, "delete", None).status == 404
    with pytest.raises(MissingError):
        engine.perform(GetMappings("a"))


def test_an_action_on_a_wrong_name_is_refused_alone(engine: EmbeddedEngine) -> None:
    results = engine.perform(Bulk("a", [Action("index", "1", {}, index="No"), Action("index", "1", {})]))
    assert [result.status for result in results] == [400, 201]


TERMS: list[Json] = [
    {},
    {"k": {"valu": 1}},
    {"k": {"value": "a", "case_insensitive": True}},
    {"n": "x"},
    {"unindexed": "a"},
]
LISTS_OF_TERMS: list[Json] = [{"k": "a"}, {"k": {"index": "i", "id": "1", "path": "p"}}, {"k": [], "n": []}]
LIKES: list[Json] = [
    {"like": "a"},
    {"fields": ["t"]},
    {"fields": [["t"]], "like": "a"},
    {"fields": ["t"], "like": "a", "unlike": "b"},
    {"fields": ["t"], "like": [{"_index": "a"}]},
    {"fields": ["t"], "like": "a", "min_doc_freq": "2"},
    {"fields": ["t"], "like": {"doc": {"t": {"x": 1}}, "routing": "r"}},
]


@pytest.mark.parametrize(
    "body",
    [
        {"aggs": {}},
        {"search_after": [1]},
        {"size": -1},
        {"size": "10"},
        {"from": -1},
        {"sort": "tag"},
        {"sort": ["_doc", "_score"]},
        {"sort": {"_score": "asc"}},
        {"_source": 5},
        {"_source": {"include": "a"}},
        {"_source": [1]},
        {"query": []},
        {"query": None},
        {"query": {"term": {"k": "a"}, "match_all": {}}},
        {"query": {"knn": {}}},
        *({"query": {"term": body}} for body in TERMS),
        *({"query": {"terms": body}} for body in LISTS_OF_TERMS),
        {"query": {"bool": []}},
        {"query": {"bool": {"shoud": []}}},
        {"query": {"bool": {"should": [ALL], "minimum_should_match": "2<75%"}}},
        {"query": {"constant_score": {}}},
        {"query": {"ids": {}}},
        {"query": {"exists": {"field": "k", "x": 1}}},
        {"query": {"exists": {"field": ["k"]}}},
        {"query": {"exists": {"field": "nested.inner"}}},
        {"query": {"term": {"nested.inner": "a"}}},
        {"query": {"wildcard": {"k": "*?" * 4000}}},
        {"query": {"match_all": {"boost": -1}}},
        {"query": {"range": {"k": {"gte": "a"}}}},
        {"query": {"range": {"n": {"from": 1}}}},
        {"query": {"range": {"n": {"gte": "x"}}}},
        {"query": {"prefix": {"n": "1"}}},
        {"query": {"match": {"t": ["a"]}}},
        *({"query": {"more_like_this": body}} for body in LIKES),
    ],
    ids=str,
)
def test_an_unsupported_search_is_an_error(engine: EmbeddedEngine, body: Json) -> None:
    unindexed = {"type": "keyword", "index": False}
    properties = {"k": {"type": "keyword"}, "n": {"type": "long"}, "t": {"type": "text"}, "unindexed": unindexed}
    properties["nested"] = {"type": "nested"}
    engine.perform(CreateIndex("a", {"mappings": {"properties": properties}}))
    with pytest.raises(EngineError) as caught:
        engine.perform(Search("a", body))
    assert str(caught.value).count(". ") >= 1


FORKED = """
import os, sys
from es_simhash import Index
from es_simhash.errors import EngineError

TEXTS = [{"_id": "1", "body": "a text that is long enough to be found again"}]
index = Index("news", sys.argv[1], fields=["body"])
index.init()
index.add(TEXTS, refresh=True)
if not (child := os.fork()):
    try:
        index.add(TEXTS, refresh=True)
    except EngineError as error:
        print(error, flush=True)
    with Index("news", sys.argv[1]) as own:
        print(len(own.find(text=TEXTS[0]["body"])), flush=True)
    index.close()
    os._exit(0)
print(os.waitpid(child, 0)[1])
index.add([{**TEXTS[0], "_id": "2"}], refresh=True)
print(len(index.find(text=TEXTS[0]["body"])))
index.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
def test_a_fork_is_refused_and_leaves_the_index_to_its_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(tmp_path / "data")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said, in_child, code, in_parent = done.stdout.splitlines()
    assert "is a fork. Open the directory again here" in said
    assert (in_child, code, in_parent) == ("1", "0", "2")
    assert not done.stderr
