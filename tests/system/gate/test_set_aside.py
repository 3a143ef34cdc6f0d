"""What a gate cannot use of its journal is set aside, with the reason, and the gate goes on."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from es_simhash import Index, Scope
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import EngineError, EsSimhashError, StorageError, UnavailableError, UnreachableError
from es_simhash.gate import Gate, GateOptions, Verdict
from es_simhash.gate.requests import AskedDocument
from es_simhash.gate.state import Journal
from es_simhash.plans.operations import Action, Bulk, GetDocuments, Operation, Search
from tests.support.commands import run as run_command
from tests.support.corpus import corpus
from tests.support.fuzzing import check_message, damaged, damaged_bytes, examples, json_values
from tests.support.gate_process import GateProcess, made_index
from tests.support.meddling import Meddler
from tests.support.whole_indices import servers

TEXTS = corpus(12)
OPTIONS = GateOptions(syncs=False)


@pytest.fixture
def index(engine: Engine, names: Callable[[], str]) -> Index:
    found = Index(names(), engine, fields=["title", "body"])
    found.init()
    return found


def document(id_: str, place: int) -> Json:
    return {"_id": id_, **TEXTS[place]}


def event(id_: str, place: int, **more: Any) -> Json:
    """What a journal says of a document that was accepted, and that others write."""
    action = {"_id": id_, "_source": dict(TEXTS[place])}
    return {"to": "", "at": 4e9, "writes": False, "action": action | more.pop("action", {}), **more}


def journal_of(state: Path, *records: list[Any]) -> Path:
    """Write the journal of a gate that was killed."""
    state.mkdir(exist_ok=True)
    journal = Journal(state / "journal", syncs=False)
    for events in records:
        journal.append(events)
    journal.close()
    return state


def check_refusal(error: EsSimhashError, part: str) -> None:
    """Check that a message says what cannot be read, or what to do."""
    check_message(error)
    assert part in str(error)


def set_aside_in(state: Path) -> list[Any]:
    file = state / "rejected.jsonl"
    return [json.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []


def test_a_gate_with_a_journal_of_an_older_version_starts_and_says_what_it_set_aside(
    place: str, tmp_path: Path
) -> None:
    """Halves of surrogate pairs, ids that are too long, and odd routings were once noted."""
    older = [
        event("\ud800", 1),
        event("x" * 513, 2),
        event("routed", 3, action={"_routing": {"a": 1}}),
        event("halved", 4, action={"_source": {"title": "\udfff", "body": "of a text"}}),
    ]
    state = journal_of(tmp_path / "state", [event("kept", 0), *older])
    with made_index(place) as name:
        gate = GateProcess(name, "--url", place, "--state", "state", cwd=tmp_path)
        for _ in range(2):
            gate.start()
            host, port = gate.address
            with urlopen(f"http://{host}:{port}/health", timeout=60) as reply:
                assert json.load(reply)["set_aside"] == 4
            with urlopen(f"http://{host}:{port}/metrics", timeout=60) as reply:
                assert f'gate_set_aside_records{{index="{name}",verb="gate"}} 4.0' in reply.read().decode()
            status, answer = gate.ask("/check", document("copy", 0))
            assert (status, answer["verdict"], answer["duplicates"][0]["id"]) == (200, "equal", "kept")
            assert gate.stop() == 0
        done = run_command("gate", name, "--url", place, "--state", "state", "--stdin", cwd=tmp_path)
        assert "4 records of the journal could not be used" in done.err
        assert "rejected.jsonl" in done.err
    found = set_aside_in(state)
    assert [each.get("id") for each in found] == [None, "x" * 513, "routed", None]
    for each, reason in zip(found, ["surrogate", "1 to 512 bytes", "is a string", "surrogate"], strict=True):
        assert reason in each["reason"]
    assert json.loads(found[0]["record"]) == older[0]
    assert found[2]["record"] == older[2]


class Refusing(Meddler):
    """An engine that refuses every request about one id, with an error, as long as it has one."""

    def __init__(self, engine: Engine, id_: str, error: EngineError) -> None:
        super().__init__(engine)
        self.error: EngineError | None = error
        self.id = id_
        self.before = self._refuse

    def _refuse(self, operation: Operation[Any]) -> None:
        asked = operation.ids if isinstance(operation, GetDocuments) else ()
        if isinstance(operation, Search):
            asked = operation.body["query"].get("ids", {}).get("values", ())
        if self.error and self.id in asked:
            raise self.error


def of_request() -> EngineError:
    error = EngineError("Reading failed: no such id. Correct what the engine names, then try again.")
    error.is_of_request = True
    return error


def test_what_a_journal_has_for_another_index_is_set_aside_with_its_name(index: Index, tmp_path: Path) -> None:
    """Gates once wrote duplicates to an index of their own."""
    state = journal_of(
        tmp_path / "state", [event("a", 1), {**event("b", 2), "to": "copies"}], [{"gone": [["copies", "a"]]}]
    )
    with Gate(index.name, index.engine, state=state, options=OPTIONS) as gate:
        assert (gate.pending, gate.set_aside) == (1, 1)
    [aside] = set_aside_in(state)
    assert aside["record"]["action"]["_id"] == "b"
    assert aside["reason"] == "It is for 'copies', to which no gate writes any more. Write it there."


def test_a_document_that_the_engine_refuses_for_good_is_set_aside_at_the_start(index: Index, tmp_path: Path) -> None:
    state = journal_of(tmp_path / "state", [event(str(place), place) for place in range(9)])
    with Gate(index.name, Refusing(index.engine, "4", of_request()), state=state, options=OPTIONS) as gate:
        assert gate.set_aside == 1
        assert gate.pending == 8
        assert [each.kind for each in gate.check([document("a", 3), document("b", 4)])] == ["equal", "new"]
    assert [(each["id"], "no such id" in each["reason"]) for each in set_aside_in(state)] == [("4", True)]
    with Gate(index.name, index.engine, state=state, options=OPTIONS) as gate:
        assert (gate.set_aside, gate.pending) == (1, 9)


def test_a_document_that_the_engine_refuses_for_good_is_set_aside_while_settling(index: Index, tmp_path: Path) -> None:
    engine = Refusing(index.engine, "4", of_request())
    with Gate(index.name, engine, state=tmp_path / "state", options=OPTIONS) as gate:
        gate.check([document(str(place), place) for place in range(9)])
        gate.settle()
        assert (gate.set_aside, gate.pending) == (1, 8)
        gate.settle()
        assert (gate.set_aside, gate.pending) == (1, 8)
    assert [each["record"]["action"]["_id"] for each in set_aside_in(tmp_path / "state")] == ["4"]


@pytest.mark.parametrize(
    "error",
    [
        UnreachableError("Nothing answers. Start the engine."),
        UnavailableError("It is overloaded. Try later."),
        EngineError("Reading failed: 500. Look at the engine's log, and try again."),
    ],
)
def test_nothing_is_set_aside_for_an_engine_that_is_away(index: Index, tmp_path: Path, error: EngineError) -> None:
    state = journal_of(tmp_path / "state", [event(str(place), place) for place in range(9)])
    engine = Refusing(index.engine, "4", error)
    with pytest.raises(type(error)):
        Gate(index.name, engine, state=state, options=OPTIONS)
    assert set_aside_in(state) == []
    engine.error = None
    with Gate(index.name, engine, state=state, options=OPTIONS) as gate:
        assert (gate.set_aside, gate.pending) == (0, 9)
        engine.error = error
        with pytest.raises(type(error)):
            gate.settle()
        assert (gate.set_aside, gate.pending) == (0, 9)
        engine.error = None


def test_an_engine_that_refuses_all_ids_is_not_a_reason_either(index: Index, tmp_path: Path) -> None:
    state = journal_of(tmp_path / "state", [event("a", 0)])
    engine = Meddler(index.engine)

    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, GetDocuments):
            raise of_request()

    engine.before = refuse
    with pytest.raises(EngineError, match="no such id"):
        Gate(index.name, engine, state=state, options=OPTIONS)
    assert set_aside_in(state) == []


@pytest.mark.parametrize("kind", ["embedded"], indirect=True)
def test_a_document_that_an_index_takes_no_more_is_not_lost(
    engine: Engine, names: Callable[[], str], tmp_path: Path
) -> None:
    """It was accepted to be written, the process was killed, and the field is of another type now."""
    index = Index(names(), engine, fields=["title", "body"])
    index.init(create={"mappings": {"properties": {"number": {"type": "long"}}}})
    lost = event("lost", 0, writes=True, action={"_source": {**TEXTS[0], "number": "many"}})
    state = journal_of(tmp_path / "state", [lost, event("other", 1, writes=True)])
    with Gate(index.name, engine, state=state, options=OPTIONS) as gate:
        assert (gate.set_aside, gate.pending) == (1, 1)
    [found] = set_aside_in(state)
    assert (found["id"], found["record"]) == ("lost", lost)
    assert "number" in found["reason"]


def test_something_of_others_where_our_fields_belong_does_not_stop_a_gate(index: Index, tmp_path: Path) -> None:
    """A list of objects is an object to a server's mapping, and is found by the keys in it."""
    index.add([document("whole", 1)], refresh=True)
    [own] = index.engine.perform(GetDocuments(index.name, ["whole"], ["dedup"]))
    with Gate(index.name, index.engine, state=tmp_path / "state", options=OPTIONS) as gate:
        assert gate.check([document("a", 0)])[0].accepted
        for id_, place, odd in (("a", 0, {"content": "x"}), ("whole", 1, own["_source"]["dedup"])):
            action = Action("index", id_, {**TEXTS[place], "dedup": [odd]})
            [done] = index.engine.perform(Bulk(index.name, [action], True))
            assert done.error is None
        gate.settle()
        assert gate.pending == 1
        assert [each.kind for each in gate.check([document("b", 0), document("c", 1)])] == ["equal", "new"]
    with Gate(index.name, index.engine, state=tmp_path / "state", options=OPTIONS) as gate:
        assert [each.kind for each in gate.check([document("b", 0), document("d", 1)])] == ["equal", "equal"]


@servers
@pytest.mark.each_server
def test_documents_next_to_one_that_no_search_can_be_made_of_are_answered(index: Index, tmp_path: Path) -> None:
    """It has more values in the field of the scope than a server takes in a query."""
    options = GateOptions(syncs=False, find={"scope": Scope(across=("authors",))})
    index.add([{"_id": "first", "authors": ["a"], **TEXTS[11]}], refresh=True)
    many = {**document("many", 0), "authors": [f"{n}" for n in range(70_000)]}
    with Gate(index.name, index.engine, state=tmp_path / "state", options=options) as gate:
        asked = [{**document("a", 1), "authors": "a"}, many, {**document("b", 2), "authors": ["b"]}]
        first, odd, last = gate.answer([AskedDocument(each) for each in asked])
        assert [each.kind for each in (first, last) if isinstance(each, Verdict)] == ["new", "new"]
        assert isinstance(odd, EngineError)
        assert "number of terms" in str(odd)
        # A client that sends it alone learns the same.
        with pytest.raises(EngineError, match="number of terms"):
            gate.check([many])


fuzzed = settings(examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
GOOD = event("good", 0)
GONE = {"gone": [["", "good"]]}
odd_events = damaged(GOOD, json_values()) | damaged(GONE, json_values()) | json_values(["to", "at", "gone", "action"])


@fuzzed
@given(
    odd=st.lists(odd_events, max_size=4),
    payloads=st.lists(st.binary(max_size=30), max_size=2),
    tail=st.binary(max_size=20),
)
def test_a_journal_with_anything_in_it_is_read_and_what_is_not_an_event_is_set_aside(
    embedded_index: Index, tmp_path_factory: pytest.TempPathFactory, odd: list[Any], payloads: list[bytes], tail: bytes
) -> None:
    state = tmp_path_factory.mktemp("state")
    records = [zlib.compress(json.dumps(odd).encode()), *payloads, zlib.compress(json.dumps([GOOD]).encode())]
    journal = b"".join(struct.pack("<II", len(each), zlib.crc32(each)) + each for each in records if each)
    (state / "journal").write_bytes(journal + tail)
    for _ in range(2):
        try:
            gate = Gate(embedded_index.name, embedded_index.engine, state=state, options=OPTIONS)
        except StorageError as error:
            check_refusal(error, "move it away")
            return
        with gate:
            assert gate.check([document("copy", 0)])[0].duplicates[0].id == "good"
            lines = set_aside_in(state)
            assert len(lines) == gate.set_aside >= len([each for each in payloads if each])
            assert all(each["reason"] and "record" in each for each in lines)
        assert len(set_aside_in(state)) == len(lines)


@fuzzed
@given(data=st.data())
def test_a_folder_with_damaged_files_is_used_or_refused_by_name(
    embedded_index: Index, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    state = journal_of(tmp_path_factory.mktemp("state"), *([event(str(place), place)] for place in range(3)))
    (state / "gate.json").write_text(json.dumps({"index": embedded_index.name}))
    (state / "rejected.jsonl").write_text('{"reason": "x"}\n')
    name = data.draw(st.sampled_from(["journal", "gate.json", "rejected.jsonl", "lock"]))
    file = state / name
    content = file.read_bytes() if file.exists() else b""
    if data.draw(st.booleans()):
        file.write_bytes(data.draw(damaged_bytes(content) | st.binary(max_size=40) | st.just(b"[" * 100_000)))
    else:
        file.unlink(missing_ok=True)
        if data.draw(st.booleans()):
            file.mkdir()
    try:
        gate = Gate(embedded_index.name, embedded_index.engine, state=state, options=OPTIONS)
    except EsSimhashError as error:
        check_refusal(error, str(state))
        return
    with gate:
        assert gate.check([document("new", 5)])[0].kind == "new"


@pytest.fixture
def embedded_index(tmp_path_factory: pytest.TempPathFactory) -> Any:
    engine = EmbeddedEngine(tmp_path_factory.mktemp("engine"))
    index = Index("news", engine, fields=["title", "body"])
    index.init()
    yield index
    engine.close()
