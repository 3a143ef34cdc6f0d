"""What becomes of actions whose reply was lost, by the name of an alias or a data stream that may have rolled over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import run
from es_simhash.errors import AccessError, EngineError, UnansweredError, UnavailableError, UnreachableError
from es_simhash.plans import bulk
from es_simhash.plans.bulk import holds, look_up
from es_simhash.plans.operations import Action, ActionResult, Bulk, Operation, Refresh, Search

Result = TypeVar("Result")

LOST = UnreachableError("The reply was lost. Try again.")


@pytest.fixture(autouse=True)
def _no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("es_simhash.engines.base.time.sleep", lambda _: None)


class Server:
    """A server with an alias of ``generations``, where the last gets what is new; some replies are lost."""

    def __init__(self, *replies: str) -> None:
        self.generations: list[dict[str, Json]] = [{}]
        # What happens to the bulks in turn: nothing, its reply is lost, or it is lost on the way.
        self.replies = list(replies)
        self.asked: list[Operation[Any]] = []
        self.refusal: EngineError | None = None

    def name(self, number: int) -> str:
        return f"news-{number + 1}"

    def perform(self, operation: Operation[Result]) -> Result:
        done: Result = self.answer(operation)
        return done

    def close(self) -> None:
        """Leave it as it is."""

    def answer(self, operation: Operation[Any]) -> Any:
        self.asked.append(operation)
        if isinstance(operation, Bulk):
            fate = self.replies.pop(0) if self.replies else ""
            results = [] if fate == "lost" else [self.do(action) for action in operation.actions]
            if fate:
                self.generations.append({})
                raise LOST
            return results
        if self.refusal:
            raise self.refusal
        if isinstance(operation, Search):
            ids = operation.body["query"]["ids"]["values"]
            return {"hits": {"hits": [hit for id_ in ids for hit in self.hits(id_)]}}
        assert isinstance(operation, Refresh)
        return None

    def hits(self, id_: str) -> list[Json]:
        return [
            {"_index": self.name(number), "_id": id_, "_source": there[id_]}
            for number, there in enumerate(self.generations)
            if id_ in there
        ]

    def do(self, action: Action) -> ActionResult:
        names = [self.name(number) for number in range(len(self.generations))]
        there = self.generations[names.index(action.index) if action.index in names else -1]
        id_, body = str(action.id), action.body or {}
        if action.op_type == "create" and id_ in there:
            return ActionResult(id_, 409, "there already.")
        if action.op_type in ("update", "delete") and id_ not in there:
            return ActionResult(id_, 404, "not_found.")
        if action.op_type == "delete":
            del there[id_]
        else:
            there[id_] = {**there[id_], **body["doc"]} if action.op_type == "update" else body
        return ActionResult(id_, 200)


def send(server: Server, actions: Sequence[Action], rolls: bool = True) -> dict[int, ActionResult]:
    found: dict[int, ActionResult] = {}

    def take(places: Sequence[int], results: Sequence[ActionResult]) -> None:
        found.update(zip(places, results, strict=True))

    run(bulk.send(Bulk("news", actions, rolls=rolls), take, bulk.RequestSize(), 60), server)
    return found


def kinds(server: Server) -> list[str]:
    return [type(each).__name__ for each in server.asked]


@pytest.mark.parametrize("op_type", ["index", "create"])
@pytest.mark.parametrize("fate", ["done", "lost"])
def test_nothing_is_written_twice(op_type: Literal["index", "create"], fate: str) -> None:
    server = Server(fate)
    found = send(server, [Action(op_type, id_, {"n": id_}) for id_ in "ab"])
    assert [each.error for each in found.values()] == [None, None]
    assert [len(server.hits(id_)) for id_ in "ab"] == [1, 1]
    assert [hit["_source"] for id_ in "ab" for hit in server.hits(id_)] == [{"n": "a"}, {"n": "b"}]


def test_nothing_more_is_asked_where_no_reply_is_lost() -> None:
    server = Server()
    send(server, [Action("index", "a", {})])
    assert kinds(server) == ["Bulk"]


def test_an_index_by_its_own_name_is_written_to_again_at_once() -> None:
    server = Server("done")
    send(server, [Action("index", "a", {})], rolls=False)
    assert kinds(server) == ["Bulk", "Bulk"]


def test_documents_are_looked_up_each_time_that_a_reply_is_lost() -> None:
    server = Server("lost", "done")
    send(server, [Action("create", "a", {"n": 1})])
    assert kinds(server) == ["Bulk", "Refresh", "Search", "Bulk", "Refresh", "Search", "Search"]
    assert len(server.hits("a")) == 1


@pytest.mark.parametrize("op_type", ["index", "update"])
def test_the_one_document_is_replaced_or_changed_where_it_is(op_type: Literal["index", "update"]) -> None:
    server = Server("lost")
    server.generations[0]["a"] = {"n": 0, "m": 0}
    body = {"n": 1} if op_type == "index" else {"doc": {"n": 1}}
    [result] = send(server, [Action(op_type, "a", body, metadata={"require_alias": True, "routing": "r"})]).values()
    assert result.error is None
    [hit] = server.hits("a")
    assert (hit["_index"], hit["_source"]) == ("news-1", {"n": 1} if op_type == "index" else {"n": 1, "m": 0})
    [*_, last] = [each for each in server.asked if isinstance(each, Bulk)]
    assert last.actions[0].metadata == {"routing": "r"}


def test_another_document_is_not_created_over() -> None:
    server = Server("lost")
    server.generations[0]["a"] = {"n": 0}
    [result] = send(server, [Action("create", "a", {"n": 1})]).values()
    assert "there is another document with this id in 'news-1'. An earlier attempt" in str(result.error)
    assert [hit["_source"] for hit in server.hits("a")] == [{"n": 0}]


def test_of_several_documents_none_is_changed() -> None:
    server = Server("lost")
    server.generations = [{"a": {"n": 0}}, {"a": {"n": 2}}]
    [result] = send(server, [Action("index", "a", {"n": 1})]).values()
    assert "in 'news-1' and in 'news-2'" in str(result.error)
    assert [hit["_source"] for hit in server.hits("a")] == [{"n": 0}, {"n": 2}]


def test_a_delete_that_was_done_says_that_it_may_have_been() -> None:
    server = Server("done")
    server.generations[0]["a"] = {}
    [result] = send(server, [Action("delete", "a", None)]).values()
    assert str(result.error).startswith("not_found. An earlier attempt, whose reply was lost, may have done it")


def test_a_login_that_may_not_look_learns_that_nobody_knows() -> None:
    server = Server("done")
    server.refusal = AccessError("Refreshing is refused. Have the privilege granted.")
    [result] = send(server, [Action("index", "a", {})]).values()
    assert "Refreshing is refused" in str(result.error)
    assert "may have done it: look at the document." in str(result.error)
    assert len(server.hits("a")) == 1


@pytest.mark.parametrize("error", [UnavailableError("It is busy. Wait."), LOST])
def test_an_engine_that_is_away_when_it_is_asked_is_asked_again(error: EngineError) -> None:
    server = Server("done")
    server.refusal = error
    answer = server.answer

    def later(operation: Operation[Any]) -> Any:
        if kinds(server).count("Refresh") == 3:
            server.refusal = None
        return answer(operation)

    server.answer = later  # type: ignore[method-assign]
    send(server, [Action("index", "a", {})])
    assert kinds(server) == ["Bulk", "Refresh", "Refresh", "Refresh", "Refresh", "Search", "Search"]


@pytest.mark.parametrize("error", [UnavailableError("It is busy. Wait."), LOST])
def test_an_engine_that_stays_away_when_it_is_asked_is_an_error(error: EngineError) -> None:
    server = Server("done")
    server.refusal = error
    with pytest.raises(type(error)):
        send(server, [Action("index", "a", {})])
    assert kinds(server).count("Bulk") == 1


def test_a_shard_that_fails_for_now_may_have_done_it() -> None:
    """As where a node has the document of another one that is lost, and becomes the next primary."""
    server = Server()
    do, times = server.do, iter([True])

    def failing(action: Action) -> ActionResult:
        done = do(action)
        if next(times, False):
            server.generations.append({})
            return ActionResult(done.id, 503, "unavailable_shards_exception")
        return done

    server.do = failing  # type: ignore[method-assign]
    [result] = send(server, [Action("create", "a", {"n": 1})]).values()
    assert result.error is None
    assert len(server.hits("a")) == 1


def test_actions_that_name_their_index_are_looked_up_in_it() -> None:
    server, actions = Server(), {3: Action("index", "a", {}, "other"), 5: Action("index", "a", {})}
    assert run(look_up("news", actions), server) == actions
    assert [getattr(each, "index", "") for each in server.asked] == ["other", "other", "news", "news"]


@pytest.mark.parametrize(
    ("there", "given", "is_held"),
    [
        ({"a": 1, "b": {"c": [1, 2], "more": 0}}, {"b": {"c": (1, 2)}}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({"a": [1, 2]}, {"a": [1]}, False),
        ({"a": {"b": 1}}, {"a": 1}, False),
        ({"a": 1}, {"a": {"b": 1}}, False),
        (None, {}, False),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}]}, True),
    ],
)
def test_a_document_is_there_if_it_has_all_that_was_given(there: Any, given: Json, is_held: bool) -> None:
    assert holds(there, given) is is_held


def test_a_proxy_without_an_answer_has_lost_a_reply() -> None:
    server = Server("done")
    answer = server.answer

    def through_a_proxy(operation: Operation[Any]) -> Any:
        try:
            return answer(operation)
        except UnreachableError:
            raise UnansweredError("The proxy has no answer. Look at its log.") from None

    server.answer = through_a_proxy  # type: ignore[method-assign]
    [result] = send(server, [Action("create", "a", {"n": 1})]).values()
    assert result.error is None
    assert len(server.hits("a")) == 1
    server.replies = ["done"]
    with pytest.raises(UnansweredError):
        send(server, [Action("index", None, {"n": 1})])
    assert len(server.hits("None")) == 1
