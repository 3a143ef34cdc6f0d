"""What plans do when a certain operation fails: which requests are sent again, and what is counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.errors import (
    AccessError,
    EngineError,
    IndexStateError,
    ReaderLostError,
    UnansweredError,
    UnavailableError,
    UnreachableError,
)
from es_simhash.live.sweep.reading import DocumentRef, Reading
from es_simhash.live.sweep.writing import Prepared, Update, write
from es_simhash.plans.bulk import RequestSize, send
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    CloseReader,
    Count,
    GetDocuments,
    HitPage,
    OpenReader,
    Plan,
    Reader,
    ReadPage,
    Refresh,
    retry,
)
from tests.support.scripted import played

# The engine may do it later; of those in the second list it may have done it already.
PASSING = [UnreachableError("away"), UnavailableError("busy"), UnansweredError("a proxy says 502")]
PERHAPS_DONE = [error for error in PASSING if type(error) is not UnavailableError]
LASTING = [AccessError("no right"), IndexStateError("closed"), EngineError("no")]
PATIENCE = 60.0


def sent(actions: Sequence[Action], script: Sequence[Any]) -> tuple[Any, list[Any], dict[int, ActionResult]]:
    found: dict[int, ActionResult] = {}
    plan = send(
        Bulk("news", list(actions)),
        lambda places, results: found.update(zip(places, results, strict=True)),
        RequestSize(),
        PATIENCE,
    )
    result, asked = played(plan, script)
    return result, asked, found


@pytest.mark.parametrize("error", PASSING, ids=lambda error: type(error).__name__)
def test_what_may_pass_is_asked_again(error: EngineError) -> None:
    assert played(retry(Count("news", {}), PATIENCE), [(Count, error), (Count, error), (Count, 3)])[0] == 3


@pytest.mark.parametrize("error", LASTING, ids=lambda error: type(error).__name__)
def test_what_stays_is_raised_at_once(error: EngineError) -> None:
    assert played(retry(Count("news", {}), PATIENCE), [(Count, error)])[0] is error


def test_without_patience_nothing_is_asked_again() -> None:
    assert played(retry(Count("news", {}), 0), [(Count, PASSING[0])])[0] is PASSING[0]


@pytest.mark.parametrize("error", PASSING, ids=lambda error: type(error).__name__)
def test_actions_with_ids_are_sent_again(error: EngineError) -> None:
    actions = [Action("index", id_, {"body": id_}) for id_ in "ab"]
    done = [ActionResult(id_, 200) for id_ in "ab"]
    _, asked, found = sent(actions, [(Bulk, error), (Bulk, done)])
    assert [len(each.actions) for each in asked] == [2, 2]
    assert [found[place].error for place in (0, 1)] == [None, None]


@pytest.mark.parametrize("error", PERHAPS_DONE, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    "once",
    [Action("index", None, {"body": "a"}), Action("update", "c", {"script": {"source": "ctx._source.n += 1"}})],
    ids=["without an id", "a script"],
)
def test_one_action_that_would_be_done_twice_keeps_the_whole_request_from_being_sent_again(
    once: Action, error: EngineError
) -> None:
    for actions in ([once, Action("index", "b", {})], [Action("index", "b", {}), once]):
        result, _, found = sent(actions, [(Bulk, error)])
        assert result is error
        assert found == {}


def test_a_refusal_has_done_nothing_so_all_is_sent_again() -> None:
    done = [ActionResult("x", 201), ActionResult("b", 200)]
    result, asked, _ = sent([Action("index", None, {}), Action("index", "b", {})], [(Bulk, PASSING[1]), (Bulk, done)])
    assert (result, len(asked)) == (2, 2)


def test_a_new_reader_begins_at_the_first_page() -> None:
    first, second = Reader("elasticsearch", "news", "one"), Reader("elasticsearch", "news", "two")
    hit: Json = {"_id": "1", "_source": {"body": "x"}}
    reading = Reading("news", {}, True, None, PATIENCE)
    _, asked = played(reading.next(), [(OpenReader, first), (ReadPage, HitPage([hit], ["after it"], first))])
    assert asked[1].after is None  # type: ignore[attr-defined]
    hits, asked = played(
        reading.next(),
        [
            (ReadPage, ReaderLostError("gone")),
            (Refresh, None),
            (OpenReader, second),
            (ReadPage, HitPage([hit], ["after it"], second)),
        ],
    )
    pages = [(each.reader.id, each.after) for each in asked if isinstance(each, ReadPage)]
    assert (hits, pages) == ([hit], [("one", ["after it"]), ("two", None)])
    last, asked = played(reading.next(), [(ReadPage, HitPage([], None, second)), (CloseReader, None)])
    assert (last, [each.after for each in asked if isinstance(each, ReadPage)]) == ([], [["after it"]])


class Again:
    """Work that writes again whatever of the documents in conflict is still there."""

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        ids = [ref.id for ref, _ in conflicts]
        replies = yield GetDocuments("news", ids, None, [None] * len(ids))
        there = [update for update, reply in zip(conflicts, replies, strict=True) if reply["found"]]
        return Prepared(updates=there, gone=len(conflicts) - len(there))


def test_documents_that_others_delete_are_counted_as_gone_whenever_it_is_noticed() -> None:
    updates = [(DocumentRef("news", id_, None, {}), Action("update", id_, {"doc": {}})) for id_ in "abcd"]
    answers = [200, 404, 409, 409]
    first = [
        ActionResult(id_, status, None if status == 200 else "no") for id_, status in zip("abcd", answers, strict=True)
    ]
    outcome, _ = played(
        write(Again(), Prepared(gone=5, updates=updates), RequestSize(), PATIENCE),
        [(Bulk, first), (GetDocuments, [{"found": True}, {"found": False}]), (Bulk, [ActionResult("c", 200)])],
    )
    assert (outcome.written, outcome.gone, outcome.conflicts) == (2, 5 + 1 + 1, 2)
    assert [ref.id for ref in outcome.missing] == ["b"]
