"""What a gate has answered: shares of duplicates, of all documents and of bounded numbers of sources.

A gate before an alias or a data stream: clients ask again, it rolls over, and nothing is there twice.
"""

from __future__ import annotations

import gc
import random
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import UnreachableError
from es_simhash.gate import Gate, GateOptions
from es_simhash.gate.gate import Answered
from es_simhash.gate.judging import Verdict
from es_simhash.gate.remembering import rounds
from es_simhash.gate.requests import AskedDocument
from es_simhash.groups.loss_counts import Loss
from es_simhash.plans.operations import Action, Bulk, Refresh, Search
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus
from tests.support.meddling import Meddler
from tests.support.rolling import Rolling, rolling

NEW, EQUAL = Verdict("1", "new", accepted=True), Verdict("2", "equal")


def sent(count: int, seed: int = 1) -> Iterator[tuple[dict[str, Any], Verdict]]:
    """Yield documents of two sites in any order; one of them sends nothing but duplicates."""
    chosen = random.Random(seed)
    for number in range(count):
        is_bad = bool(chosen.randrange(2))
        site = "bad.example" if is_bad else "good.example"
        yield {"site": site, "body": f"Text {number} of a site."}, EQUAL if is_bad else NEW


def answered(count: int, at_once: int = 1) -> Answered:
    found, rows = Answered(), list(sent(count))
    for start in range(0, count, at_once):
        some = rows[start : start + at_once]
        found.add([AskedDocument(document) for document, _ in some], [verdict for _, verdict in some])
    return found


@pytest.mark.parametrize("at_once", [1, 7, 1_000])
@pytest.mark.parametrize("count", [60, 199, 200, 201, 1_000])
def test_sources_are_counted_however_documents_come(count: int, at_once: int) -> None:
    found = answered(count, at_once)
    bad = sum(verdict is EQUAL for _, verdict in sent(count))
    assert (found.documents, found.duplicates) == (count, bad)
    assert found.warnings == [f"100% of site 'bad.example' were duplicates ({bad:,} of {bad:,}). Look at some of them."]
    # Metrics keep the names of sources, so the field must be sure.
    assert found.measured() == ([Loss("bad.example", bad, bad)] if count >= 200 else [])


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_a_few_documents_raise_no_alarm(count: int) -> None:
    found = answered(count)
    assert (found.documents, found.warnings, found.measured()) == (count, [], [])


def test_a_measured_source_stays_when_it_gets_better() -> None:
    found = answered(400)
    [bad] = found.measured()
    for _ in range(400):
        found.add([AskedDocument({"site": "bad.example", "body": "New."})], [NEW])
    [better] = found.measured()
    assert (better.value, better.share < 0.5 < bad.share) == ("bad.example", True)
    assert found.warnings == []


def test_sources_are_bounded_in_number_and_in_what_is_measured() -> None:
    found = answered(200)
    for number in range(2_000):
        found.add([AskedDocument({"site": f"{number}" * 500})] * 20, [EQUAL] * 20)
    assert len(found.measured()) == 20
    assert len(found.warnings) == 3
    assert len(found._by_source()[1]) == 1_000
    assert max(map(len, found._by_source()[1])) == 100


@given(st.lists(st.dictionaries(st.text(), st.none() | st.integers() | st.floats() | st.text() | st.lists(st.text()))))
def test_any_documents_are_counted(documents: list[Any]) -> None:
    found = Answered()
    found.add([AskedDocument(each) for each in documents], [EQUAL] * len(documents))
    assert found.duplicates == len(documents)
    assert all(isinstance(each, str) for each in found.warnings)


def test_names_of_sources_are_text_that_can_be_written() -> None:
    found = answered(200)
    found.add([AskedDocument({"site": "\ud800"})] * 20, [EQUAL] * 20)
    assert {each.value for each in found.measured()} == {"bad.example", "?"}


TEXTS = corpus(8)
DOCUMENTS = Documents(Scheme.preset("default"), ["title", "body"])


@pytest.fixture(params=[False, True], ids=["alias", "stream"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rolling]:
    made = rolling(tmp_path / "engine", DOCUMENTS.scheme.mapping("dedup", ["title", "body"]), request.param)
    yield made
    made.close()


@contextmanager
def gate_of(server: Any, state: Path, **options: Any) -> Iterator[Gate]:
    with Gate("news", server, state=state, options=GateOptions(syncs=False, **options)) as gate:
        yield gate


def document(id_: str, place: int, **more: Any) -> Json:
    return {"_id": id_, **TEXTS[place], **more}


def source_of(server: Rolling, id_: str) -> Json:
    [name] = server.places()[id_]
    [hit] = server.engine.perform(Search(name, {"query": {"ids": {"values": [id_]}}}))["hits"]["hits"]
    source: Json = hit["_source"]
    return source


@pytest.mark.parametrize("is_shown", [False, True])
def test_who_asks_again_after_a_rollover_is_answered_and_nothing_is_written(
    server: Rolling, tmp_path: Path, is_shown: bool
) -> None:
    with gate_of(server, tmp_path / "state") as gate:
        [first] = gate.add([document("a", 0)])
        if is_shown:
            server.perform(Refresh("news"))
            gate.settle()
        server.roll_over()
        [again] = gate.add([document("a", 0)])
        assert (first.kind, again.kind, again.written_to) == ("new", "new", "news")
    assert server.places() == {"a": server.generations[:1]}


def test_a_document_that_changes_is_replaced_where_it_is(server: Rolling, tmp_path: Path) -> None:
    with gate_of(server, tmp_path / "state") as gate:
        gate.add([document("a", 0, number=1)])
        server.roll_over()
        # Another field, then another text.
        for changed in (document("a", 0, number=2), document("a", 1, number=2)):
            [verdict] = gate.add([changed])
            assert (verdict.kind, verdict.accepted, verdict.reason) == ("new", True, None)
            wanted = DOCUMENTS.add_fields({name: value for name, value in changed.items() if name != "_id"})
            assert source_of(server, "a") == wanted
    assert server.places() == {"a": server.generations[:1]}


def test_the_same_id_twice_in_a_request_is_one_document(server: Rolling, tmp_path: Path) -> None:
    with gate_of(server, tmp_path / "state") as gate:
        found = gate.add([document("a", 0), document("b", 1), document("a", 2)])
        assert [each.accepted for each in found] == [True, True, True]
    assert source_of(server, "a")["body"] == TEXTS[2]["body"]
    assert server.places().keys() == {"a", "b"}


def test_ids_that_no_client_knows_are_not_looked_up(server: Rolling, tmp_path: Path) -> None:
    engine = Meddler(server)
    with gate_of(engine, tmp_path / "state") as gate:
        before = len(engine.seen)
        [verdict] = gate.add([{**TEXTS[0]}])
        asked = [each for each in engine.seen[before:] if isinstance(each, Search)]
        assert not [each for each in asked if "ids" in each.body["query"]]
    assert server.places() == {str(verdict.id): server.generations}


def test_of_several_documents_with_its_id_none_is_replaced(server: Rolling, tmp_path: Path) -> None:
    for place in (3, 4):
        server.perform(Bulk("news", [Action("create", "a", DOCUMENTS.add_fields(TEXTS[place]))]))
        server.roll_over()
    server.perform(Refresh("news"))
    with gate_of(server, tmp_path / "state") as gate:
        found = gate.add([document("a", 0), document("b", 1)])
        assert [each.kind for each in found] == ["rejected", "new"]
        first, second, _ = server.generations
        assert f"documents with this id in '{first}' and in '{second}'. Delete all but one" in str(found[0].reason)
        assert gate.pending == 1
    assert server.places()["a"] == [first, second]


@pytest.mark.parametrize("is_written", [False, True])
def test_after_a_lost_reply_and_a_rollover_the_journal_is_believed_as_far_as_the_indices_are(
    server: Rolling, tmp_path: Path, is_written: bool
) -> None:
    """Searches do not show documents written a moment ago; so the indices are refreshed first."""
    engine = Meddler(server)

    def lost(operation: object, *_: object) -> Any:
        if isinstance(operation, Bulk):
            raise UnreachableError("The reply was lost. Try again.")
        return _[0] if _ else None

    with gate_of(engine, tmp_path / "state", patience=0.0) as gate:
        setattr(engine, "after" if is_written else "before", lost)
        with pytest.raises(UnreachableError):
            gate.add([document("a", 0)])
        engine.before, engine.after = (lambda operation: None), (lambda operation, result: result)
        shutil.copytree(tmp_path / "state", tmp_path / "left")
        server.roll_over()
        # A copy is refused if, and only if, the document is there.
        assert gate.check([document("b", 0)])[0].kind == ("equal" if is_written else "new")
        assert gate.add([document("c", 1), document("a", 0)])[1].kind == ("new" if is_written else "equal")
    places = server.places()
    assert places["c"] == server.generations[1:]
    assert places.get("a") == (server.generations[:1] if is_written else None)
    with gate_of(server, tmp_path / "left") as after:
        assert after.add([document("a", 0)])[0].kind == "new"
    assert len(server.places()["a"]) == 1


def test_a_reply_that_is_lost_in_a_rollover_writes_nothing_twice(
    server: Rolling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("es_simhash.engines.base.time.sleep", lambda _: None)
    engine, lost = Meddler(server), iter([True])

    def after(operation: object, result: Any) -> Any:
        if isinstance(operation, Bulk) and next(lost, False):
            server.roll_over()
            raise UnreachableError("The reply was lost. Try again.")
        return result

    engine.after = after
    with gate_of(engine, tmp_path / "state") as gate:
        assert [each.written_to for each in gate.add([document("a", 0), document("b", 1)])] == ["news", "news"]
    assert server.places() == {"a": server.generations[:1], "b": server.generations[:1]}


def test_a_gate_that_cannot_be_opened_leaves_no_file_open(server: Rolling, tmp_path: Path) -> None:
    engine = Meddler(server)

    def away(operation: object) -> None:
        if isinstance(operation, Refresh):
            raise UnreachableError("It is away. Wait.")

    with gate_of(server, tmp_path / "state") as gate:
        gate.add([document("a", 0)])
        shutil.copytree(tmp_path / "state", tmp_path / "left")
    engine.before = away
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(UnreachableError), gate_of(engine, tmp_path / "left"):
            pass
        gc.collect()
    assert not [each for each in caught if each.category is ResourceWarning]


def test_rounds_keep_the_order_of_each_id() -> None:
    assert list(rounds([{"_id": id_} for id_ in "abacab"])) == [[0, 1, 3], [2, 5], [4]]
    assert list(rounds([])) == []
