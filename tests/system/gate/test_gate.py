"""A gate on every engine: of copies it accepts one, and it refuses nothing else."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from es_simhash import Decision, Index, Policy, Scope
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine, run
from es_simhash.errors import (
    AccessError,
    EngineError,
    InputError,
    InUseError,
    StorageError,
    UnavailableError,
    UnreachableError,
)
from es_simhash.gate import Gate, GateOptions, Verdict
from es_simhash.gate.requests import AskedDocument, answers_as_json
from es_simhash.plans.operations import Bulk, GetDocuments, Refresh, Search, is_server
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler, once
from tests.support.whole_indices import servers

TEXTS = corpus(12)


@pytest.fixture
def index(engine: Engine, names: Callable[[], str]) -> Index:
    found = Index(names(), engine, fields=["title", "body"])
    found.init()
    return found


@contextmanager
def gate_of(index: Index, state: Path, engine: Any = None, **options: Any) -> Iterator[Gate]:
    gate = Gate(index.name, engine or index.engine, state=state, options=GateOptions(syncs=False, **options))
    with gate:
        yield gate


def document(id_: str | None, place: int, edits: int = 0, **more: Any) -> Json:
    fields = edited(TEXTS[place], edits, seed=hash_of(id_)) if edits else TEXTS[place]
    return {**({} if id_ is None else {"_id": id_}), **fields, **more}


def hash_of(id_: str | None) -> int:
    return sum(map(ord, id_ or ""))


def kinds(verdicts: list[Verdict]) -> list[str]:
    return [each.kind for each in verdicts]


def ids_in(index: Index) -> set[str]:
    index.refresh()
    reply = index.engine.perform(Search(index.name, {"query": {"match_all": {}}, "size": 1000}))
    return {hit["_id"] for hit in reply["hits"]["hits"]}


def left_by_a_kill(state: Path, tmp_path: Path) -> Path:
    """The files on disk while the gate is open."""
    copy = tmp_path / f"{state.name}-after"
    shutil.copytree(state, copy)
    return copy


def test_every_verdict(index: Index, tmp_path: Path) -> None:
    index.add([document("old", 0)], refresh=True)
    with gate_of(index, tmp_path / "state") as gate:
        found = gate.check(
            [document("same", 0), document("near", 0, 3), document("new", 1), {"_id": "odd", "body": {"a": 1}}]
        )
    assert kinds(found) == ["equal", "near-duplicate", "new", "rejected"]
    assert [each.accepted for each in found] == [False, False, True, False]
    near = answers_as_json([AskedDocument({}, False)], [found[1]], index.name)[0]
    assert near["duplicates"][0]["id"] == "old"
    assert near["duplicates"][0]["index"] == index.name
    assert 0.7 < near["duplicates"][0]["similarity"] < 1
    assert near["duplicates"][0]["clause"] == found[1].duplicates[0].clause
    assert "type dict" in str(found[3].reason)


def test_copies_in_one_request_and_in_the_next_are_seen_before_the_index_shows_them(
    index: Index, tmp_path: Path
) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        assert kinds(gate.check([document("a", 0), document("b", 0), document("c", 1)])) == ["new", "equal", "new"]
        [third] = gate.check([document("d", 1, 2)])
        assert (third.kind, third.duplicates[0].id) == ("near-duplicate", "c")
        assert gate.pending == 2


def test_only_what_was_accepted_counts(index: Index, tmp_path: Path) -> None:
    """A refused document is nowhere, so that nothing is its duplicate."""
    with gate_of(index, tmp_path / "state", find={"similarity": 0.95}) as gate:
        first, far = document("a", 0), document("far", 0, 25)
        between = {
            **first,
            "_id": "between",
            "body": far["body"][: len(far["body"]) // 2] + first["body"][len(far["body"]) // 2 :],
        }
        assert kinds(gate.check([first])) == ["new"]
        assert gate.check([far])[0].kind == "new"
        assert gate.check([between])[0].kind in ("new", "near-duplicate")


def test_a_document_that_comes_again_is_judged_as_people_have_decided(index: Index, tmp_path: Path) -> None:
    index.add([document("old", 0), document("other", 1), document("story", 2), document("series", 3)], refresh=True)
    index.decide(
        [
            Decision.between("again", "old", same=False, who="Mia"),
            Decision.about("lone", "alone"),
            Decision.about("series", "alone"),
            Decision.between("twin", "other", same=True),
            Decision.between("left", "right", same=False),
        ]
    )
    with gate_of(index, tmp_path / "state") as gate:
        given = [document("again", 0), document("lone", 1, 2), document("new", 3), document("twin", 4)]
        assert kinds(gate.check([*given, document("copy", 2)])) == [*["new"] * 3, "near-duplicate", "equal"]
        # Decisions also hold between documents that the index does not show yet.
        assert kinds(gate.check([document("left", 5), document("right", 5), document("middle", 5)])) == [
            *["new", "new", "equal"]
        ]
        assert kinds(gate.check([document("lone", 6)])) == ["new"]
        assert kinds(gate.check([document("copy of it", 6)])) == ["new"]


def test_the_same_id_is_the_same_document(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        assert kinds(gate.add([document("a", 0)])) == ["new"]
        assert kinds(gate.add([document("a", 0)])) == ["new"]
        index.refresh()
        gate.settle()
        assert gate.pending == 0
        assert kinds(gate.add([document("a", 0)])) == ["new"]
    assert ids_in(index) == {"a"}


def test_a_document_that_changes_under_its_id_is_judged_by_its_new_text(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        assert kinds(gate.add([document("a", 0), document("b", 1)])) == ["new", "new"]
        assert kinds(gate.add([document("a", 2)])) == ["new"]
        # What the id had before is free, and what it has now is taken, whatever the index shows.
        assert kinds(gate.check([document("c", 0), document("d", 2)])) == ["new", "equal"]
        [changed] = gate.add([document("b", 2)])
        assert (changed.kind, changed.duplicates[0].id) == ("equal", "a")


def test_a_document_without_an_id_gets_one_that_the_answer_names(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        first, second = gate.add([document(None, 0), document(None, 0)])
        assert (first.kind, second.kind) == ("new", "equal")
        assert second.duplicates[0].id == first.id
    assert ids_in(index) == {first.id}


def test_what_others_write_is_forgotten_once_a_search_finds_it(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        gate.check([document("a", 0), document("b", 1)])
        index.add([document("a", 0)], refresh=True)
        gate.settle()
        assert gate.pending == 1
        # As it was accepted, or not at all.
        index.add([document("b", 2)], refresh=True)
        gate.settle()
        assert gate.pending == 1
        assert kinds(gate.check([document("c", 0), document("d", 1)])) == ["equal", "equal"]


def test_what_nobody_writes_is_forgotten_in_time_and_counted(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state", remember=1e-6) as gate:
        gate.check([document("a", 0)])
        gate.settle()
        assert (gate.pending, gate.expired) == (0, 1)
        assert kinds(gate.check([document("b", 0)])) == ["new"]


def test_a_clock_that_jumps_makes_it_forget_nothing(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        gate.check([document("a", 0)])
        tomorrow = time.time() + 86_400
        monkeypatch.setattr(time, "time", lambda: tomorrow)
        gate.settle()
        assert (gate.pending, gate.expired) == (1, 0)
        assert kinds(gate.check([document("b", 0)])) == ["equal"]


def test_what_it_has_written_is_remembered_until_searches_show_it_however_old(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state", remember=1e-6) as gate:
        gate.add([document("a", 0)])
        gate.settle()
        assert (gate.pending, gate.expired) == (0, 0)
        assert kinds(gate.check([document("b", 0, 1)])) == ["near-duplicate"]


@contextmanager
def killed_before_its_write(index: Index, tmp_path: Path) -> Iterator[Path]:
    """Yield what a gate leaves that is killed before the document ``a``, which it has accepted, reaches the engine."""
    engine, killed = Meddler(index.engine), RuntimeError("killed")

    def kill(_: Bulk) -> None:
        raise killed

    with gate_of(index, tmp_path / "state", engine) as gate:
        engine.before = once(Bulk, kill)
        with pytest.raises(RuntimeError, match="killed"):
            gate.add([document("a", 0)])
        yield left_by_a_kill(tmp_path / "state", tmp_path)


def test_what_it_was_to_write_is_recovered_however_long_ago_that_was(index: Index, tmp_path: Path) -> None:
    """The embedded engine may have lost what was answered; a server has it, or nobody was answered."""
    with killed_before_its_write(index, tmp_path) as left, gate_of(index, left, remember=1e-6):
        is_durable_at_once = run(is_server(), index.engine)
        assert ids_in(index) == (set() if is_durable_at_once else {"a"})


def test_after_a_kill_what_was_accepted_is_remembered(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        gate.check([document("a", 0)])
        gate.add([document("b", 1)])
        left = left_by_a_kill(tmp_path / "state", tmp_path)
        with gate_of(index, left) as after:
            assert after.pending == 2
            found = after.check([document("a", 0), document("c", 0, 2), document("d", 1), document("e", 2)])
            assert kinds(found) == ["new", "near-duplicate", "equal", "new"]
            assert [each.duplicates[0].id for each in found[1:3]] == ["a", "b"]


def test_a_yes_whose_write_never_reached_a_server_is_forgotten_after_a_kill(index: Index, tmp_path: Path) -> None:
    """Nobody was answered, so the first to ask is accepted; the embedded engine's own are written again."""
    with killed_before_its_write(index, tmp_path) as left, gate_of(index, left) as after:
        is_embedded = bool(ids_in(index))
        assert kinds(after.add([document("b", 0)])) == ["equal" if is_embedded else "new"]
        assert kinds(after.add([document("a", 0)])) == ["new" if is_embedded else "equal"]
        assert len(ids_in(index)) == 1


@servers
def test_while_it_is_unknown_whether_a_document_was_written_nothing_is_decided_by_it(
    index: Index, tmp_path: Path
) -> None:
    engine = Meddler(index.engine)

    def away(_: object) -> None:
        raise UnreachableError("It is away. Wait.")

    with gate_of(index, tmp_path / "state", engine, patience=0.0) as gate:
        engine.before = lambda operation: away(operation) if isinstance(operation, Bulk) else None
        with pytest.raises(UnreachableError):
            gate.add([document("a", 0)])
        # The copy neither passes nor is refused while the index cannot be asked.
        engine.before = lambda operation: away(operation) if isinstance(operation, GetDocuments) else None
        with pytest.raises(UnreachableError):
            gate.check([document("b", 0)])
        engine.before = lambda operation: None
        assert kinds(gate.check([document("b", 0)])) == ["new"]
        assert kinds(gate.add([document("a", 0)])) == ["equal"]


@servers
def test_a_reply_that_was_lost_does_not_lose_the_document(index: Index, tmp_path: Path) -> None:
    engine = Meddler(index.engine)

    def lost(operation: object, result: Any) -> Any:
        if isinstance(operation, Bulk):
            raise UnreachableError("The reply was lost. Try again.")
        return result

    with gate_of(index, tmp_path / "state", engine, patience=0.0) as gate:
        engine.after = lost
        with pytest.raises(UnreachableError):
            gate.add([document("a", 0)])
        engine.after = lambda operation, result: result
        assert kinds(gate.add([document("b", 0), document("a", 0)])) == ["equal", "new"]
    assert ids_in(index) == {"a"}


def test_a_document_that_the_engine_refuses_is_rejected_and_forgotten(
    engine: Engine, names: Callable[[], str], tmp_path: Path
) -> None:
    index = Index(names(), engine, fields=["title", "body"])
    index.init(create={"mappings": {"properties": {"number": {"type": "long"}}}})
    with gate_of(index, tmp_path / "state") as gate:
        found = gate.add([document("odd", 0, number="seven"), document("b", 1)])
        assert [(each.kind, each.accepted, each.written_to) for each in found] == [
            ("rejected", False, None),
            ("new", True, index.name),
        ]
        assert "number" in str(found[0].reason)
        assert kinds(gate.add([document("a", 0)])) == ["new"]
        assert gate.pending == 2
    assert ids_in(index) == {"a", "b"}


@servers
def test_a_request_that_is_refused_for_one_document_is_sent_without_it(index: Index, tmp_path: Path) -> None:
    engine = Meddler(index.engine)

    def refuse(operation: Any) -> None:
        if isinstance(operation, Bulk) and any(action.id == "odd" for action in operation.actions):
            raise EngineError("Something about it is odd. Correct it.")

    engine.before = refuse
    with gate_of(index, tmp_path / "state", engine) as gate:
        found = gate.add([document(id_, place) for place, id_ in enumerate(["a", "b", "odd", "c", "d"])])
    assert kinds(found) == ["new", "new", "rejected", "new", "new"]
    assert found[2].reason == "Something about it is odd. Correct it."
    assert ids_in(index) == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ([1], "not list"),
        ({"_op_type": "delete", "_id": "1"}, "Leave _op_type out"),
        ({"_index": "other", "_id": "1"}, "Leave _index out"),
        ({"_id": "1", "_source": 5}, "Send them in _source"),
        ({"_id": "1", "title": {"a": 1}}, "source field 'title'"),
        ({"_id": "x" * 600, **TEXTS[0]}, "1 to 512 bytes, not 600"),
        ({"_id": "", **TEXTS[0]}, "1 to 512 bytes, not 0"),
    ],
)
def test_what_is_not_a_document_is_rejected_with_the_reason(
    index: Index, tmp_path: Path, sent: Any, reason: str
) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        found = gate.add([sent, document("a", 0)])
    assert kinds(found) == ["rejected", "new"]
    assert reason in str(found[0].reason)


def test_fields_named_like_metadata_are_fields(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        gate.add([document("a", 0, version=7, routing="x"), {"_id": "b", "_source": {**TEXTS[1], "pipeline": "y"}}])
    replies = index.engine.perform(GetDocuments(index.name, ["a", "b"]))
    assert [reply["_source"].get(name) for reply, name in zip(replies, ("version", "pipeline"), strict=True)] == [
        7,
        "y",
    ]


# --- modes ---


def stored(index: Index, name: str | None = None, *ids: str) -> list[Json]:
    replies = index.engine.perform(GetDocuments(name or index.name, ids))
    return [reply.get("_source") or {} for reply in replies]


def test_refused_duplicates_are_not_written(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        found = gate.add([document("a", 0), document("b", 0)])
    assert [each.written_to for each in found] == [index.name, None]
    assert ids_in(index) == {"a"}


def test_advice_does_not_keep_a_document_out(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state", mode="advise") as gate:
        assert [each.accepted for each in gate.check([document("a", 0), document("b", 0)])] == [True, False]
        found = gate.add([document("a", 0), document("b", 0, 2)])
        assert kinds(found) == ["new", "near-duplicate"]
        assert kinds(gate.add([document("b", 0, 2)])) == ["near-duplicate"]
    assert ids_in(index) == {"a", "b"}


@pytest.mark.parametrize("options", [{"mode": "keep"}, {"remember": 0}, {"find": {"size": 3}}])
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        GateOptions(**options)


# --- scopes and online groups ---


@pytest.fixture
def scoped(engine: Engine, names: Callable[[], str]) -> Index:
    """An index of tenants whose documents are in groups from the first on."""
    mappings = {"properties": {"tenant": {"type": "keyword"}}}
    found = Index(names(), engine, fields=["title", "body"])
    found.init(create={"mappings": mappings}, policy=Policy(Scope.of(within="tenant"), "online"))
    return found


def test_the_scope_and_the_groups_of_the_index_apply(scoped: Index, tmp_path: Path) -> None:
    with gate_of(scoped, tmp_path / "state", mode="advise") as gate:
        found = gate.add(
            [
                document("a", 0, tenant="one"),
                document("b", 0, tenant="two"),
                document("c", 0, tenant="one"),
                document("d", 0),
            ]
        )
        assert kinds(found) == ["new", "new", "equal", "out of scope"]
        assert found[3].missing == ("tenant",)
        assert found[3].accepted
        left = left_by_a_kill(tmp_path / "state", tmp_path)
    a, b, c, d = (each["dedup"]["group"] for each in stored(scoped, None, "a", "b", "c", "d"))
    assert a == c
    assert len({a, b, d}) == 3
    with gate_of(scoped, left) as after:
        assert kinds(after.check([document("e", 0, tenant="two"), document("f", 0, tenant="three")])) == [
            "equal",
            "new",
        ]


def test_the_same_text_in_another_scope_is_judged_again(scoped: Index, tmp_path: Path) -> None:
    with gate_of(scoped, tmp_path / "state") as gate:
        assert kinds(gate.check([document("a", 0, tenant="one"), document("b", 0, tenant="two")])) == ["new", "new"]
        assert kinds(gate.check([document("a", 0, tenant="two")])) == ["equal"]


def test_a_scope_may_be_narrowed(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state", find={"scope": Scope.of(across="site")}) as gate:
        found = gate.check([document("a", 0, site="x"), document("b", 0, site="x"), document("c", 0, site="y")])
    assert kinds(found) == ["new", "new", "equal"]


# --- bounds ---


def test_no_more_is_remembered_than_allowed(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state", most_pending=2) as gate:
        gate.check([document("a", 0), document("b", 1)])
        with pytest.raises(UnavailableError, match="does not show 2 accepted documents"):
            gate.check([document("c", 2)])
        # Written documents need no refresh by others.
        index.add([document("a", 0)])
        assert kinds(gate.check([document("c", 2)])) == ["new"]


def test_the_journal_keeps_what_is_remembered_and_nothing_else(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("es_simhash.gate.state._SMALL", 0)
    journal = tmp_path / "state" / "journal"
    with gate_of(index, tmp_path / "state") as gate:
        gate.check([document("kept", 11)])
        size = journal.stat().st_size
        for place in range(10):
            gate.add([document(str(place), place)])
            index.refresh()
            gate.settle()
            assert journal.stat().st_size < 6 * size
    with gate_of(index, tmp_path / "state") as gate:
        assert gate.pending == 1
        assert kinds(gate.check([document("copy", 11)])) == ["equal"]


def test_the_journal_is_empty_once_the_index_shows_all(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state") as gate:
        gate.add([document("a", 0), document("b", 1)])
        assert gate.journal_bytes > 0
        index.refresh()
        gate.settle()
        assert (gate.pending, gate.journal_bytes) == (0, 0)
        gate.add([document("c", 2)])
        left = left_by_a_kill(tmp_path / "state", tmp_path)
        with gate_of(index, left) as after:
            assert after.pending == 1
            assert kinds(after.check([document("d", 2)])) == ["equal"]


def test_a_journal_that_cannot_be_written_accepts_nothing(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gate_of(index, tmp_path / "state", mode="refuse") as gate:
        gate.check([document("a", 0)])

        def full(*_: object) -> None:
            raise StorageError("It is full. Make room.")

        with monkeypatch.context() as patched:
            patched.setattr(type(gate._journal), "append", full)
            with pytest.raises(StorageError):
                gate.check([document("b", 1)])
        assert kinds(gate.check([document("c", 1), document("d", 0)])) == ["new", "equal"]


def test_a_gate_that_ends_while_its_engine_is_away_keeps_what_it_remembers(index: Index, tmp_path: Path) -> None:
    engine = Meddler(index.engine)

    def away(operation: object) -> None:
        raise UnreachableError("It is away. Wait.")

    with gate_of(index, tmp_path / "state", engine, patience=0.0) as gate:
        gate.check([document("a", 0)])
        gate.add([document("b", 1)])
        # All that is remembered is in doubt, and cannot be read again.
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(type(gate._journal), "append", lambda *_, **__: 1 // 0)
            with pytest.raises(ZeroDivisionError):
                gate.check([document("c", 2)])
        engine.before = away
    with gate_of(index, tmp_path / "state") as gate:
        assert kinds(gate.check([document("d", 0), document("e", 1), document("f", 2)])) == ["equal", "equal", "new"]


def test_one_gate_at_a_time_has_the_state(index: Index, tmp_path: Path) -> None:
    with gate_of(index, tmp_path / "state"), pytest.raises(InUseError), gate_of(index, tmp_path / "state"):
        pass
    with gate_of(index, tmp_path / "state"):
        pass


def test_clients_at_the_same_time_get_one_yes_for_each_text(index: Index, tmp_path: Path) -> None:
    found: list[Verdict] = []
    with gate_of(index, tmp_path / "state") as gate:

        def ask(client: int) -> None:
            for place in range(8):
                found.extend(gate.add([document(f"{client}-{place}", place, client)]))

        threads = [Thread(target=ask, args=(client,)) for client in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    accepted = [str(each.id) for each in found if each.accepted]
    assert sorted(id_.split("-")[1] for id_ in accepted) == [str(place) for place in range(8)]
    assert ids_in(index) == set(accepted)


def test_the_verdict_is_that_of_find_once_the_index_shows_all(index: Index, tmp_path: Path) -> None:
    """Remembered or in the index: a document is as near."""
    asked = [document(f"q{place}", place, edits) for place in range(6) for edits in (1, 8)]
    index.add([document(f"r{place}", place) for place in range(6, 12)], refresh=True)
    index.learn()
    with gate_of(index, tmp_path / "state", mode="advise") as gate:
        gate.add([document(f"t{place}", place) for place in range(6)])
        before = [gate.check([each])[0] for each in asked]
        index.refresh()
    found = list(index.find_many(docs=asked))
    assert [[(match.id, match.similarity, match.distance) for match in each.duplicates] for each in before] == [
        [(match.id, match.similarity, match.distance) for match in each] for each in found
    ]


@servers
@pytest.mark.parametrize(("error", "pending"), [(UnreachableError, 1), (AccessError, 0)])
def test_it_forgets_what_one_copy_shows_after_all_copies_were_refreshed(
    index: Index, tmp_path: Path, error: type[EngineError], pending: int
) -> None:
    """Unless it may not refresh: the next search may ask another copy of the shard."""
    engine = Meddler(index.engine)

    def away(_: object) -> None:
        raise error("It is not done.")

    with gate_of(index, tmp_path / "state", engine) as gate:
        gate.add([document("a", 0)])
        index.refresh()
        engine.before = once(Refresh, away)
        with pytest.raises(error) if pending else nullcontext():
            gate.settle()
        assert gate.pending == pending
        gate.settle()
        assert gate.pending == 0


def test_a_refresh_in_between_changes_no_answer(index: Index, tmp_path: Path) -> None:
    engine = Meddler(index.engine)
    with gate_of(index, tmp_path / "state", engine) as gate:
        gate.add([document("a", 0)])
        engine.before = once(Search, lambda _: index.engine.perform(Refresh(index.name)))
        [again] = gate.check([document("b", 0)])
        assert [match.id for match in again.duplicates] == ["a"]
        assert replace(again, duplicates=()).kind == "equal"
