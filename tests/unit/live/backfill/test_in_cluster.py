"""An update by a server's own task, without any server: how it is followed, begun again, and ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from es_simhash._core.json_paths import Json
from es_simhash._core.prefetch import Stop
from es_simhash.documents.documents import Documents
from es_simhash.documents.painless.ingest_pipeline import backfill_name, backfill_pipeline, name_of
from es_simhash.engines.base import StoppableEngine, run
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import (
    AccessError,
    EngineError,
    IndexStateError,
    InputError,
    MissingError,
    SchemeError,
    UnavailableError,
    UnreachableError,
)
from es_simhash.live.backfill.in_cluster import ClusterUpdate, check_cluster, check_final_pipeline
from es_simhash.live.backfill.options import BackfillOptions
from es_simhash.live.sweep.writing import Outcome
from es_simhash.plans.operations import (
    ActionResult,
    CancelTask,
    Count,
    DeleteResource,
    FindTask,
    GetSettings,
    GetTask,
    Operation,
    PutResource,
    Task,
    UpdateByQuery,
)
from es_simhash.scheme.scheme import Scheme
from es_simhash.text.tokens.kinds import Words

DOCUMENTS = Documents(Scheme(), ["body"])
QUERY: Json = {"match_all": {}}
DEFERRED: Json = {"term": {"dedup.status": "deferred"}}
PIPELINE = "/_ingest/pipeline/es-simhash_backfill-dedup.articles"
MARK = "es-simhash_backfill-dedup.articles"
BUSY = ActionResult("1", 429, "the queue is full")
DONE = Task(True, 10, 0)


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, which takes no time here."""
    seconds: list[float] = []
    monkeypatch.setattr(Stop, "sleep", lambda stop, wait: seconds.append(wait))
    return seconds


@dataclass
class Cluster:
    """A server whose tasks go as is written: what each looks like, time after time.

    A task ``running`` already has an id by its mark. ``left`` documents are due; the pipeline has ``deferred`` some.
    """

    tasks: list[list[Task | Exception]]
    running: dict[str, str] = field(default_factory=dict)
    left: int = 3
    deferred: int = 0
    lost_beginnings: int = 0
    seen: list[Operation[Any]] = field(default_factory=list)
    resources: dict[str, Json] = field(default_factory=dict)
    _looks: Iterator[Task | Exception] = field(init=False)

    def __post_init__(self) -> None:
        self._looks = iter(self.tasks.pop(0) if self.running else ())

    def perform(self, operation: Operation[Any]) -> Any:
        self.seen.append(operation)
        match operation:
            case PutResource(path, body):
                self.resources[path] = body
            case DeleteResource(path):
                if self.resources.pop(path, None) is None:
                    raise MissingError(f"There is no {path}.")
            case FindTask(mark):
                return self.running.get(mark)
            case Count(_, query):
                return self.deferred if DEFERRED in query.get("bool", {}).get("filter", ()) else self.left
            case UpdateByQuery(mark=mark):
                return self._begun(mark)
            case GetTask():
                return self._look()
        return None

    def close(self) -> None: ...

    def _begun(self, mark: str) -> str:
        self._looks = iter(self.tasks.pop(0))
        if self.lost_beginnings:
            self.lost_beginnings -= 1
            self.running[mark] = "node:7"
            raise UnreachableError("The answer was lost.")
        return "node:7"

    def _look(self) -> Task:
        found = next(self._looks)
        if isinstance(found, Exception):
            raise found
        if found.is_over:
            self.running.clear()
        return found

    def seen_kinds(self, kind: type[Operation[Any]]) -> list[Any]:
        return [operation for operation in self.seen if isinstance(operation, kind)]


def updated(cluster: Any, **options: Any) -> list[Outcome]:
    """Update an index; return what was counted on the way."""
    counted: list[Outcome] = []
    chosen = BackfillOptions(in_cluster=True, **options)
    update = ClusterUpdate("articles", QUERY, DOCUMENTS, chosen, counted.append)
    run(update.run(), StoppableEngine(cluster))
    return counted


# --- a task that does its work


def test_a_task_is_followed_until_it_is_over_and_seldom_if_it_takes_long(waited: list[float]) -> None:
    steps: list[Task | Exception] = [Task(False, min(i, 40), i // 50) for i in range(60)]
    cluster = Cluster([[*steps, Task(True, 40, 2)]])
    counted = updated(cluster)
    assert (sum(each.written for each in counted), sum(each.conflicts for each in counted)) == (40, 2)
    assert waited == sorted(waited)
    assert 0 < waited[0] < 0.1
    assert waited[-1] == 2


def test_the_task_has_the_options_of_the_run_and_throttled_ones_take_a_second_at_a_time() -> None:
    cluster = Cluster([[DONE]])
    updated(cluster, parallel=2, max_rate=100)
    [asked] = cluster.seen_kinds(UpdateByQuery)
    assert (asked.index, asked.pipeline, asked.mark) == ("articles", MARK, MARK)
    assert (asked.parallel, asked.max_rate, asked.size) == (2, 100, 50)
    assert asked.query == {"bool": {"filter": [QUERY], "must_not": []}}


@pytest.mark.parametrize(("rate", "size"), [(None, 1_000), (0.5, 1), (10_000, 1_000)])
def test_a_task_takes_neither_too_few_nor_too_many_documents_at_a_time(rate: float | None, size: int) -> None:
    cluster = Cluster([[DONE]])
    updated(cluster, max_rate=rate)
    assert cluster.seen_kinds(UpdateByQuery)[0].size == size


def test_the_pipeline_is_there_for_the_run_only() -> None:
    cluster = Cluster([[DONE]])
    updated(cluster)
    assert cluster.resources == {}
    [put] = cluster.seen_kinds(PutResource)
    assert (put.path, put.body) == (PIPELINE, backfill_pipeline("articles", DOCUMENTS))
    assert cluster.seen.index(put) < cluster.seen.index(cluster.seen_kinds(UpdateByQuery)[0])


def test_no_task_is_begun_where_nothing_is_due() -> None:
    cluster = Cluster([], left=0)
    assert [each.written for each in updated(cluster)] == [0]
    assert not cluster.seen_kinds(UpdateByQuery)
    assert not cluster.seen_kinds(PutResource)


def test_what_the_pipeline_has_deferred_is_counted_apart() -> None:
    counted = updated(Cluster([[DONE]], deferred=4))
    assert (sum(each.written for each in counted), sum(each.deferred for each in counted)) == (6, 4)


# --- a task that is there already


def test_the_task_of_a_killed_run_is_followed_and_only_what_it_does_from_now_on_is_counted() -> None:
    looks: list[Task | Exception] = [Task(False, 100, 5), Task(False, 130, 5), Task(True, 140, 6)]
    cluster = Cluster([looks, [DONE]], {MARK: "node:7"})
    counted = updated(cluster)
    assert cluster.seen_kinds(GetTask)[0].id == "node:7"
    # Its query may have been another, so what is still due is done by one of this run.
    assert (sum(each.written for each in counted), sum(each.conflicts for each in counted)) == (50, 1)
    assert len(cluster.seen_kinds(UpdateByQuery)) == 1


def test_a_task_whose_beginning_was_not_confirmed_is_found() -> None:
    cluster = Cluster([[Task(False, 3, 0), DONE], [Task(True, 0, 0)]], lost_beginnings=1)
    updated(cluster)
    [lost, last] = [cluster.seen.index(each) for each in cluster.seen_kinds(UpdateByQuery)]
    assert [type(each) for each in cluster.seen[lost:last]].count(GetTask) == 2


# --- a task that fails


def test_documents_that_the_server_refuses_are_left_out_of_the_next_task() -> None:
    refused = (ActionResult("4", 400, "no number"), ActionResult("9", 400, "no number"))
    cluster = Cluster([[Task(True, 8, 0, refused=refused)], [Task(True, 2, 0)]])
    counted = updated(cluster)
    [_, again] = cluster.seen_kinds(UpdateByQuery)
    assert again.query["bool"]["must_not"] == [{"ids": {"values": ["4", "9"]}}, DEFERRED]
    assert sum(each.written for each in counted) == 10


def test_where_too_many_documents_are_refused_the_rest_is_left_to_the_client() -> None:
    refused = tuple(ActionResult(str(i), 400, "no number") for i in range(3_000))
    cluster = Cluster([[Task(True, 0, 0, refused=refused)]] * 9)
    updated(cluster)
    assert len(cluster.seen_kinds(UpdateByQuery)) == 2
    assert cluster.resources == {}


@pytest.mark.parametrize("busy", [{"refused": (BUSY,)}, {"error": UnavailableError("short of memory")}])
def test_a_busy_server_is_given_time_and_less_at_once(waited: list[float], busy: Json) -> None:
    cluster = Cluster([[Task(True, 0, 0, **busy)], [Task(True, 0, 0, **busy)], [DONE]])
    updated(cluster)
    assert [each.size for each in cluster.seen_kinds(UpdateByQuery)] == [1_000, 500, 250]
    assert "ids" not in str(cluster.seen_kinds(UpdateByQuery)[-1].query)
    assert len(waited) == 2


def test_a_server_that_stays_busy_ends_the_run(waited: list[float]) -> None:
    cluster = Cluster([[Task(True, 0, 0, refused=(BUSY,))]] * 99)
    with pytest.raises(UnavailableError, match="the queue is full"):
        updated(cluster, patience=60)
    assert 60 <= sum(waited) < 90


def test_the_patience_begins_anew_with_each_task_that_does_something(waited: list[float]) -> None:
    busy: list[list[Task | Exception]] = [[Task(True, 5, 0, refused=(BUSY,))]] * 50
    updated(Cluster([*busy, [DONE]]), patience=3)
    assert len(waited) == 50


def test_a_task_that_is_gone_with_its_node_is_begun_again() -> None:
    cluster = Cluster([[Task(False, 5, 0), MissingError("task [node:7] isn't running")], [DONE]])
    assert sum(each.written for each in updated(cluster)) == 15
    assert len(cluster.seen_kinds(UpdateByQuery)) == 2


def test_a_task_goes_on_while_the_server_cannot_be_reached() -> None:
    cluster = Cluster([[UnreachableError("away"), UnavailableError("overloaded"), DONE]])
    assert sum(each.written for each in updated(cluster)) == 10
    assert len(cluster.seen_kinds(UpdateByQuery)) == 1


@pytest.mark.parametrize(
    "failed",
    [
        {"error": MissingError("The index is gone.")},
        {"error": EngineError("strange")},
        {"refused": (ActionResult("1", 403, "blocked", IndexStateError("blocked")),)},
        {"refused": (ActionResult("1", 403, "denied", AccessError("denied")),)},
        {"is_cancelled": True},
    ],
)
def test_what_would_end_every_task_ends_the_run(failed: Json) -> None:
    cluster = Cluster([[Task(True, 0, 0, **failed)]])
    with pytest.raises(EngineError):
        updated(cluster)


def test_a_task_that_somebody_has_cancelled_is_not_begun_again() -> None:
    with pytest.raises(IndexStateError, match="Somebody has cancelled the update of 'articles'"):
        updated(Cluster([[Task(True, 5, 0, is_cancelled=True)]]))


# --- the end


def test_a_run_that_ends_early_cancels_its_task_and_removes_the_pipeline() -> None:
    cluster = Cluster([[Task(False, 5, 0), Task(False, 5, 0), DONE]])

    def stop(outcome: Outcome) -> None:
        raise KeyboardInterrupt

    update = ClusterUpdate("articles", QUERY, DOCUMENTS, BackfillOptions(in_cluster=True), stop)
    with pytest.raises(KeyboardInterrupt):
        run(update.run(), StoppableEngine(cluster))
    assert update.task == "node:7"
    run(update.cancel(), StoppableEngine(cluster))
    assert [each.id for each in cluster.seen_kinds(CancelTask)] == ["node:7"]
    # It is waited for, since the pipeline must be there until then.
    assert cluster.seen_kinds(GetTask)[-1] == cluster.seen[-2]
    assert update.task is None
    assert cluster.resources == {}


def test_a_task_whose_beginning_was_not_confirmed_is_cancelled_too() -> None:
    cluster = Cluster([[DONE]], lost_beginnings=1)
    update = ClusterUpdate("articles", QUERY, DOCUMENTS, BackfillOptions(in_cluster=True, patience=0), print)
    with pytest.raises(UnreachableError):
        run(update.run(), StoppableEngine(cluster))
    run(update.cancel(), StoppableEngine(cluster))
    assert [each.id for each in cluster.seen_kinds(CancelTask)] == ["node:7"]


# --- what is refused


def test_the_embedded_engine_is_refused(tmp_path: Any) -> None:
    with pytest.raises(EngineError, match="embedded engine has no cluster"):
        run(check_cluster("articles", DOCUMENTS), EmbeddedEngine(tmp_path))


def test_a_scheme_that_the_pipeline_cannot_compute_is_refused_with_the_reason() -> None:
    documents = Documents(Scheme(tokens=Words()), ["body"])
    with pytest.raises(SchemeError, match=r"cannot compute the scheme .*'words'.*without --in-cluster"):
        backfill_pipeline("articles", documents)


@pytest.mark.parametrize("options", [{"refresh_stale": True}, {"shard": (0, 2)}])
def test_options_that_the_cluster_cannot_follow_are_refused(options: Json) -> None:
    with pytest.raises(InputError, match=r"in-cluster|Run one command"):
        BackfillOptions(in_cluster=True, **options)


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        ({"index.final_pipeline": "final"}, [("pipeline", "stop")]),
        ({"index.final_pipeline": "_none"}, []),
        ({"index.default_pipeline": "default"}, []),
    ],
)
def test_an_index_with_a_final_pipeline_is_refused(settings: Json, codes: list[tuple[str, str]]) -> None:
    class Settings:
        def perform(self, operation: Operation[Any]) -> Any:
            assert isinstance(operation, GetSettings)
            return {"articles": settings}

        def close(self) -> None: ...

    findings = run(check_final_pipeline("articles"), Settings())
    assert [(each.code, each.level) for each in findings] == codes


def test_no_pipeline_of_an_index_has_the_name_of_one_for_a_backfill() -> None:
    names = [backfill_name(index, prefix) for index in ("a", "a.b", "dedup.a") for prefix in ("dedup", "dedup2")]
    assert len(set(names)) == len(names)
    assert not any(name.startswith(name_of("")) for name in names)
