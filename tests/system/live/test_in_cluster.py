"""Backfills by the server itself: whatever happens meanwhile, all is as if the client had done them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from http import HTTPStatus
from threading import enumerate as enumerate_threads
from typing import Any
from urllib.request import Request, urlopen

import pytest

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import Rejected
from es_simhash.engines.base import Engine
from es_simhash.errors import IndexStateError, UnreachableError
from es_simhash.index import AsyncIndex, Index
from es_simhash.live.backfill.options import BackfillOptions
from es_simhash.live.sweep.progress import Progress
from es_simhash.plans.operations import (
    Action,
    Bulk,
    CancelTask,
    CreateIndex,
    DeleteIndex,
    DeleteResource,
    GetDocuments,
    GetMappings,
    GetResource,
    GetTask,
    OpenReader,
    Operation,
    PutMapping,
    PutResource,
    PutSettings,
    UpdateByQuery,
)
from es_simhash.scheme import notes
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout
from tests.support.backfill_suite import without_nulls
from tests.support.meddling import Meddler, once
from tests.support.rest_engines import Pair, engine_over, new_name, parametrize_pairs

COUNT = 300
DOCUMENTS: dict[str, Json] = {
    f"id{i}": {"body": f"the text of document {i}, which is like no other {i * i}", "deep": {"number": i / 7}}
    for i in range(COUNT)
}
# Several looks see the task at work.
SLOWLY = 100.0
# So slowly that the task is at work until a test hurries it or ends it, on the slowest machine, too: for minutes, or,
# where the client does the rest at this rate, for a while.
STANDING, STROLLING = 0.5, 20.0


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_pairs(metafunc)


@pytest.fixture(scope="module")
def url(pair: Pair, request: pytest.FixtureRequest) -> str:
    return pair.node(request).url


@pytest.fixture(scope="module")
def engine(pair: Pair, url: str) -> Iterator[Engine]:
    with engine_over(pair.client, url) as engine:
        yield engine


@pytest.fixture
def meddler(engine: Engine) -> Meddler:
    return Meddler(engine)


@pytest.fixture
def index(engine: Engine, meddler: Meddler) -> Iterator[Index]:
    name = new_name()
    settings = {"number_of_shards": 2, "number_of_replicas": 0, "refresh_interval": "-1"}
    mappings = {"dynamic": False, "properties": {"body": {"type": "text"}}}
    engine.perform(CreateIndex(name, {"settings": settings, "mappings": mappings}))
    write(engine, name, DOCUMENTS)
    index = Index(name, meddler, fields=["body"])
    index.init()
    yield index
    engine.perform(DeleteIndex(name))


def write(engine: Engine, name: str, documents: dict[str, Json]) -> None:
    results = engine.perform(Bulk(name, [Action("index", id_, each) for id_, each in documents.items()], refresh=True))
    assert [result.error for result in results if result.error] == []


def change(engine: Engine, index: Index, ids: list[str]) -> dict[str, Json]:
    """Change texts as somebody does who knows nothing of fingerprints."""
    changed = {id_: {**DOCUMENTS[id_], "body": f"another text, of {id_} alone"} for id_ in ids}
    actions = [Action("update", id_, {"doc": {"body": each["body"]}}) for id_, each in changed.items()]
    assert not any(result.error for result in engine.perform(Bulk(index.name, actions)))
    return changed


def backfill(index: Index, **more: Any) -> Progress:
    calls = {name: more.pop(name) for name in ("on_progress", "on_reject") if name in more}
    return index.backfill(BackfillOptions(in_cluster=True, **more), **calls)


def stored(engine: Engine, index: Index, ids: list[str]) -> dict[str, Json]:
    found = engine.perform(GetDocuments(index.name, ids))
    return {each["_id"]: without_nulls(each["_source"]) for each in found}


def assert_right(engine: Engine, index: Index, changed: dict[str, Json] | None = None) -> None:
    expected = {**DOCUMENTS, **(changed or {})}
    assert stored(engine, index, list(expected)) == {
        id_: index.documents.add_fields(each) for id_, each in expected.items()
    }


def assert_nothing_is_left(engine: Engine, index: Index) -> None:
    """See that no note, task or pipeline of ours is left."""
    assert [name for name in notes.names(engine.perform(GetMappings(index.name))[index.name]) if name[0] == "_"] == []
    assert tasks(engine, index) == []
    assert engine.perform(GetResource(pipeline(index))) == {}


def pipeline(index: Index) -> str:
    return f"/_ingest/pipeline/es-simhash_backfill-dedup.{index.name}"


def tasks(engine: Engine, index: Index) -> list[str]:
    found = engine.perform(GetResource("/_tasks?actions=indices:data/write/update/byquery&group_by=parents"))
    return [id_ for id_, task in found["tasks"].items() if index.name in str(task["headers"])]


def hurry(url: str, task: str) -> None:
    """Have the server do the rest of a task as fast as it can."""
    asked = Request(f"{url}/_update_by_query/{task}/_rethrottle?requests_per_second=-1", method="POST")
    with urlopen(asked) as reply:
        assert reply.status == HTTPStatus.OK


def await_cleaning() -> None:
    """Wait for what an interrupted run leaves to a thread: a slow server does it a little later."""
    for thread in [each for each in enumerate_threads() if each.name == "es-simhash"]:
        thread.join()


def when_some_are_done(do: Callable[[], Any]) -> Callable[[Operation[Any], Any], Any]:
    """Something that happens once, when the task has done some documents and not all."""
    is_done = False

    def after(operation: Operation[Any], result: Any) -> Any:
        nonlocal is_done
        if isinstance(operation, GetTask) and 0 < result.updated < COUNT and not is_done:
            is_done = True
            do()
        return result

    return after


def when_followed(do: Callable[[], Any]) -> Callable[[Operation[Any], Any], Any]:
    """Something that happens once, when a run has looked at a task."""
    looks = iter([do])

    def after(operation: Operation[Any], result: Any) -> Any:
        if isinstance(operation, GetTask) and (first := next(looks, None)):
            first()
        return result

    return after


# --- others write as well


def test_the_server_does_it_all_and_the_client_reads_nothing(engine: Engine, meddler: Meddler, index: Index) -> None:
    progress = backfill(index, parallel=2)
    assert (progress.written, progress.deferred, progress.conflicts, progress.rejected) == (COUNT, 0, 0, 0)
    assert not meddler.kinds() & {OpenReader, Bulk}
    assert_right(engine, index)
    assert_nothing_is_left(engine, index)


def test_asynchronous_programs_can_have_it_done_too(engine: Engine, index: Index, url: str) -> None:
    async def backfilled() -> Progress:
        async with AsyncIndex(index.name, url) as there:
            return await there.backfill(BackfillOptions(in_cluster=True))

    assert asyncio.run(backfilled()).written == COUNT
    assert_right(engine, index)
    assert_nothing_is_left(engine, index)


def test_texts_that_others_change_meanwhile_are_conflicts_or_done_again(
    engine: Engine, meddler: Meddler, index: Index, url: str
) -> None:
    changed: dict[str, Json] = {}

    def change_all() -> None:
        changed.update(change(engine, index, list(DOCUMENTS)))
        hurry(url, *tasks(engine, index))

    meddler.after = when_some_are_done(change_all)
    progress = backfill(index, max_rate=STROLLING)
    assert 0 < progress.conflicts < COUNT
    # Those done before are written again; each conflict is due still.
    assert progress.written == 2 * COUNT - progress.conflicts
    assert_right(engine, index, changed)
    assert_nothing_is_left(engine, index)


def test_new_documents_that_come_meanwhile_are_done_too(engine: Engine, meddler: Meddler, index: Index) -> None:
    new = {"new": {"body": "a text that came late"}}
    meddler.before = once(GetTask, lambda _: write(engine, index.name, new))
    assert backfill(index).written == COUNT + 1
    assert_right(engine, index, new)


def test_documents_that_are_deleted_meanwhile_are_no_failures(
    engine: Engine, meddler: Meddler, index: Index, url: str
) -> None:
    def delete_all() -> None:
        engine.perform(Bulk(index.name, [Action("delete", id_, None) for id_ in DOCUMENTS], refresh=True))
        hurry(url, *tasks(engine, index))

    meddler.after = when_some_are_done(delete_all)
    progress = backfill(index, max_rate=STROLLING)
    assert (progress.rejected, progress.written + progress.conflicts) == (0, COUNT)


# --- the end comes early


def test_an_interruption_cancels_the_task_and_the_next_run_does_the_rest(engine: Engine, index: Index) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.written:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backfill(index, on_progress=interrupt, max_rate=STANDING)
    await_cleaning()
    assert tasks(engine, index) == []
    assert engine.perform(GetResource(pipeline(index))) == {}
    assert 0 < backfill(index).written < COUNT
    assert_right(engine, index)
    assert_nothing_is_left(engine, index)


def test_the_task_of_a_killed_run_goes_on_and_is_followed_by_the_next(
    engine: Engine, meddler: Meddler, index: Index, url: str
) -> None:
    class Killed(Meddler):
        def perform(self, operation: Operation[Any]) -> Any:
            if CancelTask in self.kinds():
                raise SystemExit
            return super().perform(operation)

    def die() -> None:
        killed.seen.append(CancelTask(""))
        raise SystemExit

    killed = Killed(engine)
    killed.after = when_some_are_done(die)
    with pytest.raises(SystemExit):
        backfill(Index(index.name, killed), max_rate=STANDING)
    [task] = tasks(engine, index)
    meddler.after = when_followed(lambda: hurry(url, task))
    progress = backfill(index)
    assert next(each.id for each in meddler.seen if isinstance(each, GetTask)) == task
    assert UpdateByQuery not in meddler.kinds()
    assert 0 < progress.written < COUNT
    assert_right(engine, index)
    assert_nothing_is_left(engine, index)


@pytest.mark.parametrize("by", ["backfill", "remove"])
def test_the_pipeline_of_a_run_that_was_killed_when_all_was_done_is_removed(
    engine: Engine, index: Index, by: str
) -> None:
    class Killed(Meddler):
        def perform(self, operation: Operation[Any]) -> Any:
            if isinstance(operation, DeleteResource):
                raise SystemExit
            return super().perform(operation)

    with pytest.raises(SystemExit):
        backfill(Index(index.name, Killed(engine)))
    assert engine.perform(GetResource(pipeline(index)))
    if by == "remove":
        index.remove_fields()
    else:
        assert backfill(index).written == 0
    assert engine.perform(GetResource(pipeline(index))) == {}


def test_a_text_that_changes_while_nobody_follows_the_task_is_found_by_the_next_run(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    def die(operation: Operation[Any]) -> None:
        if UpdateByQuery in meddler.kinds() and not isinstance(operation, UpdateByQuery):
            raise UnreachableError("away")

    meddler.before = die
    with pytest.raises(UnreachableError):
        backfill(index, patience=0)
    meddler.before = lambda operation: None
    assert len(tasks(engine, index)) <= 1
    while tasks(engine, index):
        continue
    changed = change(engine, index, ["id0", "id1"])
    assert backfill(index).written == 2
    assert_right(engine, index, changed)
    assert_nothing_is_left(engine, index)


def test_a_task_that_somebody_cancels_ends_the_run_and_says_so(engine: Engine, meddler: Meddler, index: Index) -> None:
    meddler.after = when_some_are_done(lambda: engine.perform(CancelTask(tasks(engine, index)[0])))
    with pytest.raises(IndexStateError, match="Somebody has cancelled the update"):
        backfill(index, max_rate=STANDING)
    meddler.after = lambda operation, result: result
    assert 0 < backfill(index).written < COUNT
    assert_right(engine, index)


def test_a_task_whose_beginning_was_not_confirmed_is_not_begun_twice(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    def lose(operation: Operation[Any], result: Any) -> Any:
        if isinstance(operation, UpdateByQuery):
            raise UnreachableError("the answer was lost")
        return result

    meddler.after = lose
    backfill(index, max_rate=SLOWLY)
    assert len([each for each in meddler.seen if isinstance(each, UpdateByQuery)]) == 1
    assert_right(engine, index)


def test_the_run_goes_on_when_the_server_can_be_reached_again(engine: Engine, meddler: Meddler, index: Index) -> None:
    failures = iter(range(3))

    def fail(operation: Operation[Any]) -> None:
        if isinstance(operation, GetTask) and next(failures, None) is not None:
            raise UnreachableError("away")

    meddler.before = fail
    assert backfill(index).written == COUNT
    assert_right(engine, index)


# --- what the server cannot do, the client does


def test_texts_that_the_server_defers_are_done_by_the_client_and_counted_apart(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    long = {"long": {"body": "a word " * 40_000}, "longer": {"body": "a word " * 50_000}}
    write(engine, index.name, long)
    progress = backfill(index)
    assert (progress.written, progress.deferred, progress.rejected) == (COUNT + 2, 2, 0)
    assert_right(engine, index, long)
    assert_nothing_is_left(engine, index)


def test_documents_that_the_server_refuses_are_named_and_the_others_done(engine: Engine, index: Index) -> None:
    odd = {f"odd{i}": {"body": f"text {i}", "number": "no number"} for i in range(3)}
    write(engine, index.name, odd)
    # What was written before is not looked at, but what is written again is.
    engine.perform(PutMapping(index.name, {"properties": {"number": {"type": "integer"}}}))
    rejected: list[Rejected] = []
    progress = backfill(index, on_reject=rejected.append)
    assert (progress.written, progress.rejected) == (COUNT, 3)
    assert {each.id for each in rejected} == set(odd)
    assert "was refused" in rejected[0].reason
    assert_right(engine, index)


def test_fields_of_another_scheme_are_replaced_and_their_documents_counted_once(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    older = {
        id_: Documents(Scheme.preset("short"), ["body"]).add_fields({"body": f"a text of {id_}"}) for id_ in ("a", "b")
    }
    older["b"]["dedup"]["group"] = "a"
    write(engine, index.name, older)
    assert backfill(index).written == COUNT + 2
    assert not meddler.kinds() & {OpenReader, Bulk}
    assert_right(engine, index, {id_: {"body": each["body"]} for id_, each in older.items()})


def test_what_another_scheme_has_beside_our_fields_stays_there_and_counts_once(engine: Engine, index: Index) -> None:
    signed = Documents(Scheme(layout=Layout(signature_bits=8)), ["body"]).add_fields({"body": "a text"})
    write(engine, index.name, {"signed": signed})
    progress = backfill(index)
    assert (progress.written, progress.rejected) == (COUNT + 1, 0)
    own = index.documents.add_fields({"body": "a text"})["dedup"]
    assert stored(engine, index, ["signed"])["signed"]["dedup"] == signed["dedup"] | own


def test_what_others_have_in_our_object_stays_there(engine: Engine, index: Index) -> None:
    body = "a text that is long enough to be distinguished"
    noted = {"body": body, "dedup": {"note": "of another program"}}
    odd = [{"simhash": "of another program"}, {"scheme": "too short"}, {"scheme": "of twelve .."}, {"scheme": 7}]
    foreign = {f"foreign{i}": {"body": body, "dedup": each} for i, each in enumerate(odd)}
    write(engine, index.name, {"noted": noted, **foreign})
    rejected: list[Rejected] = []
    progress = backfill(index, on_reject=rejected.append, accept=frozenset({"foreign-values"}))
    assert {each.id for each in rejected} == set(foreign)
    assert (progress.written, progress.rejected) == (COUNT + 1, len(foreign))
    assert stored(engine, index, list(foreign)) == foreign
    there = stored(engine, index, ["noted"])["noted"]
    assert there["dedup"].pop("note") == "of another program"
    assert there == index.documents.add_fields({"body": body})


def test_numbers_that_are_written_in_a_special_way_keep_their_values(engine: Engine, index: Index) -> None:
    numbers = {"number": 12345678901234567890123, "small": 1e-300, "float": 1.10, "long": 2**62 + 1}
    odd = {"odd": {"body": "a text with numbers", "deep": numbers}}
    write(engine, index.name, odd)
    assert backfill(index).written == COUNT + 1
    assert_right(engine, index, odd)


# --- pipelines and settings


def test_an_index_with_a_final_pipeline_is_refused_and_a_default_one_is_not_run(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    other = f"/_ingest/pipeline/{index.name}-other"
    engine.perform(PutResource(other, {"processors": [{"set": {"field": "other", "value": 1}}]}))
    engine.perform(PutSettings(index.name, {"index.final_pipeline": f"{index.name}-other"}))
    try:
        with pytest.raises(IndexStateError, match=r"pipeline: .*-other', which the cluster would run on each document"):
            backfill(index)
        assert UpdateByQuery not in meddler.kinds()
        engine.perform(
            PutSettings(index.name, {"index.final_pipeline": None, "index.default_pipeline": f"{index.name}-other"})
        )
        backfill(index)
        assert_right(engine, index)
    finally:
        engine.perform(PutSettings(index.name, {"index.final_pipeline": None, "index.default_pipeline": None}))
        engine.perform(DeleteResource(other))


def test_the_rate_is_that_of_all_slices_together(engine: Engine, meddler: Meddler, index: Index) -> None:
    rates: list[list[float]] = []

    def look(operation: Operation[Any]) -> None:
        if isinstance(operation, GetTask):
            status = engine.perform(GetResource(f"/_tasks/{operation.id}"))["task"]["status"]
            rates.append([slice_["requests_per_second"] for slice_ in status["slices"] if slice_])

    meddler.before = look
    assert backfill(index, parallel=2, max_rate=SLOWLY).written == COUNT
    assert [SLOWLY / 2, SLOWLY / 2] in rates
    assert_right(engine, index)
