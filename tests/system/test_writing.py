"""Whatever an engine does, each document that is added is written, or named with the reason why it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import EngineError, IndexStateError, TooLargeError, UnavailableError, UnreachableError
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.add import WriteCounts
from es_simhash.plans.operations import Bulk, Operation
from tests.support.meddling import Meddler, Overloaded, once
from tests.support.whole_indices import FIELDS, contents

COUNT = 1_100
BODIES = {f"id{i}": {"title": f"number {i}", "body": f"a text of its own: {i * i}"} for i in range(COUNT)}


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, which takes no time here."""
    seconds: list[float] = []
    monkeypatch.setattr("es_simhash.engines.base.time", SimpleNamespace(sleep=seconds.append))
    return seconds


@pytest.fixture
def name(engine: Engine, names: Callable[[], str]) -> str:
    name = names()
    Index(name, engine, fields=FIELDS).init()
    return name


def actions(**more: str) -> list[Json]:
    return [{"_id": id_, **more, "_source": body} for id_, body in BODIES.items()]


def written_to(engine: Engine, name: str) -> dict[str, Json]:
    """The documents that are there, without their fingerprints."""
    found = contents(engine, name, list(BODIES))
    return {id_: {each: source[each] for each in ("title", "body")} for id_, source in found.items()}


def fail(error: type[EngineError], times: int) -> Callable[[Operation[Any]], None]:
    """An engine that fails at the first requests to write."""
    left = iter(range(times))

    def before(operation: Operation[Any]) -> None:
        if isinstance(operation, Bulk) and next(left, None) is not None:
            raise error("not now")

    return before


@pytest.mark.parametrize("status", [429, 503])
def test_documents_that_are_refused_for_now_are_sent_again(
    engine: Engine, name: str, waited: list[float], status: int
) -> None:
    """As Elasticsearch and OpenSearch refuse: some documents of a request, while others of it are written."""
    times = iter(range(5))
    busy = Overloaded(engine, lambda bulk, place: place % 3 > 0 or next(times, None) is None, status)
    done = Index(name, busy).add(actions())
    assert (done.done, done.refused, done.rejected) == (COUNT, 0, [])
    assert waited
    assert written_to(engine, name) == BODIES


def test_a_busy_engine_gets_smaller_requests(engine: Engine, name: str) -> None:
    busy = Overloaded(engine, lambda bulk, _: len(bulk.actions) <= 40)
    assert Index(name, busy).add(actions()).done == COUNT
    assert written_to(engine, name) == BODIES


@pytest.mark.parametrize("error", [UnavailableError, UnreachableError])
def test_an_engine_that_is_away_or_overloaded_is_waited_for(
    engine: Engine, meddler: Meddler, name: str, waited: list[float], error: type[EngineError]
) -> None:
    meddler.before = fail(error, 4)
    assert Index(name, meddler).add(actions()).done == COUNT
    assert len(waited) == 4
    assert waited[0] < waited[-1]
    assert written_to(engine, name) == BODIES


def test_asynchronous_writes_wait_as_well(engine: Engine, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Awaited(Overloaded):
        async def perform(self, operation: Any) -> Any:  # type: ignore[override]
            return super().perform(operation)

    seconds: list[float] = []

    async def sleep(delay: float) -> None:
        seconds.append(delay)

    monkeypatch.setattr("asyncio.sleep", sleep)
    times = iter(range(3))
    busy: Any = Awaited(engine, lambda bulk, place: next(times, None) is None)
    assert asyncio.run(AsyncIndex(name, busy).add(actions())).done == COUNT
    assert seconds
    assert written_to(engine, name) == BODIES


def test_what_is_refused_again_and_again_is_named_and_the_rest_is_written(
    engine: Engine, name: str, waited: list[float]
) -> None:
    never = ("id3", "id700")
    busy = Overloaded(engine, lambda bulk, place: bulk.actions[place].id not in never)
    done = Index(name, busy).add(actions(), patience=60)
    assert (done.done, done.refused) == (COUNT - 2, 2)
    assert [(each.id, each.position) for each in done.rejected] == [("id3", 3), ("id700", 700)]
    assert all("again and again" in each.reason and "queue is full" in each.reason for each in done.rejected)
    assert 120 <= sum(waited) < 240
    assert written_to(engine, name).keys() == BODIES.keys() - set(never)


def test_a_document_whose_request_is_always_refused_whole_is_named_too(engine: Engine, name: str) -> None:
    """As where it alone is more than a node keeps in memory for indexing."""

    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, Bulk) and any(action.id == "id3" for action in operation.actions):
            raise UnavailableError("coordinating operation bytes")

    meddler = Meddler(engine)
    meddler.before = refuse
    done = Index(name, meddler).add(actions(), patience=600)
    assert [(each.id, each.position) for each in done.rejected] == [("id3", 3)]
    assert done.done == COUNT - 1


@pytest.mark.parametrize("error", [UnavailableError, UnreachableError])
def test_an_engine_that_stays_away_is_an_error_once_patience_is_spent(
    engine: Engine, meddler: Meddler, name: str, waited: list[float], error: type[EngineError]
) -> None:
    heard: list[WriteCounts] = []
    meddler.before = once(Bulk, lambda _: setattr(meddler, "before", fail(error, 1_000)), after=1)
    with pytest.raises(error, match="not now"):
        Index(name, meddler).add(actions(), patience=60, on_progress=heard.append)
    assert 60 <= sum(waited) < 120
    assert heard[-1].done == len(written_to(engine, name)) == 1_000


def test_what_was_written_of_a_batch_is_counted_however_it_ends(engine: Engine, meddler: Meddler, name: str) -> None:
    documents: list[Json] = [{"_id": str(i), "title": str(i), "body": "x" * (3 << 20)} for i in range(3)]
    documents.insert(1, {"_id": "bad", "title": {"no": "text"}, "body": ""})
    heard: list[WriteCounts] = []

    def stop(_: Bulk) -> None:
        raise IndexStateError("blocked")

    meddler.before = once(Bulk, stop, after=2)
    with pytest.raises(IndexStateError):
        Index(name, meddler).add(documents, on_progress=heard.append)
    assert [(batch.done, batch.refused) for batch in heard] == [(2, 1)]
    assert sorted(contents(engine, name, [str(i) for i in range(3)])) == ["0", "1"]


def test_a_request_that_is_too_large_is_split_and_a_document_too_large_for_any_is_named(
    engine: Engine, meddler: Meddler, name: str
) -> None:
    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, Bulk) and (
            len(operation.actions) > 20 or any(action.id == "id5" for action in operation.actions)
        ):
            raise TooLargeError("413")

    meddler.before = refuse
    done = Index(name, meddler).add(actions())
    assert done.done == COUNT - 1
    assert [(each.id, each.position) for each in done.rejected] == [("id5", 5)]
    assert "too large, even alone: 413" in done.rejected[0].reason
    assert written_to(engine, name).keys() == BODIES.keys() - {"id5"}


def test_results_are_in_order_although_refused_documents_are_sent_last(engine: Engine, name: str) -> None:
    documents = [*actions()[:4], {"_id": "bad", "title": {"no": "text"}, "body": "x"}, *actions()[4:8]]
    refused_once = iter([True])
    busy = Overloaded(engine, lambda bulk, place: bulk.actions[place].id != "id2" or not next(refused_once, False))
    index = Index(name, busy)
    index.add(actions(_op_type="create")[:8])
    done = index.add([{**each, "_op_type": "create"} for each in documents])
    assert [each.position for each in done.rejected] == list(range(9))


def test_actions_on_one_document_are_done_in_their_order_whatever_is_refused(engine: Engine, name: str) -> None:
    """A request that is sent again must not put an earlier state in the place of a later one."""
    refused_once = iter([True])
    busy = Overloaded(engine, lambda bulk, place: place > 0 or not next(refused_once, False))
    last = {"title": "last", "body": "the last of the texts"}
    own = [*actions()[:3], *({"_id": "id0", "_source": {**last, "body": f"text {i}"}} for i in range(3))]
    done = Index(name, busy).add([*own, {"_id": "id0", "_source": last}, {"_id": "id1", "_op_type": "delete"}])
    assert (done.done, done.rejected) == (len(own) + 2, [])
    assert written_to(engine, name) == {"id0": last, "id2": BODIES["id2"]}


# --- replies that are lost


def lose(kind: type[Operation[Any]], times: int = 1) -> Callable[[Operation[Any], Any], Any]:
    """The engine does what it is asked, and its reply does not come."""
    left = iter(range(times))

    def after(operation: Operation[Any], result: Any) -> Any:
        if isinstance(operation, kind) and next(left, None) is not None:
            raise UnreachableError("the reply was lost")
        return result

    return after


def test_documents_are_indexed_again_where_a_reply_was_lost(engine: Engine, meddler: Meddler, name: str) -> None:
    meddler.after = lose(Bulk)
    done = Index(name, meddler).add(actions())
    assert (done.done, done.rejected) == (COUNT, [])
    assert written_to(engine, name) == BODIES


@pytest.mark.parametrize("op_type", ["create", "delete"])
def test_what_may_have_been_done_before_a_reply_was_lost_is_said(
    engine: Engine, meddler: Meddler, name: str, op_type: str
) -> None:
    if op_type == "delete":
        Index(name, engine).add(actions()[:1])
    meddler.after = lose(Bulk)
    made = {"_op_type": "create", **actions()[0]} if op_type == "create" else {"_op_type": "delete", "_id": "id0"}
    [rejected] = Index(name, meddler).add([made]).rejected
    assert "earlier attempt, whose reply was lost, may have done it" in rejected.reason


def test_a_document_without_an_id_is_not_written_twice(engine: Engine, meddler: Meddler, name: str) -> None:
    meddler.after = lose(Bulk)
    index = Index(name, meddler)
    with pytest.raises(UnreachableError, match="lost"):
        index.add([{"title": "a", "body": "text without an id"}])
    index.refresh()
    assert index.info().documents == 1
