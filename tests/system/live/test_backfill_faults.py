"""Whatever happens during a backfill, each document ends with the fingerprint of its own text, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import enumerate as enumerate_threads
from typing import Any, TypeVar

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.sources import Rejected
from es_simhash.engines.base import Engine
from es_simhash.errors import IndexStateError, TooLargeError, UnavailableError, UnreachableError
from es_simhash.index import Index
from es_simhash.live.backfill import BackfillOptions
from es_simhash.live.sweep.writing import Progress
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    CloseReader,
    Count,
    CreateIndex,
    DeleteIndex,
    GetDocuments,
    GetMappings,
    GetResource,
    GetSettings,
    OpenReader,
    Operation,
    PutSettings,
    ReadPage,
    Refresh,
)
from es_simhash.scheme import mapping
from tests.support.meddling import Meddler, StopsEarly, each_at_a_second_try, once
from tests.support.rest_engines import Pair, engine_over, new_name, parametrize_pairs
from tools.nodes import Node

Result = TypeVar("Result")

COUNT = 300
DOCUMENTS: dict[str, Json] = {
    f"id{i}": {"body": f"the text of document {i}, which is like no other {i * i}"} for i in range(COUNT)
}


pytestmark = pytest.mark.usefixtures("waited")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_pairs(metafunc)


@pytest.fixture(scope="module")
def engine(pair: Pair, request: pytest.FixtureRequest) -> Iterator[Engine]:
    with engine_over(pair.client, pair.node(request).url) as engine:
        yield engine


@pytest.fixture
def meddler(engine: Engine) -> Meddler:
    return Meddler(engine)


@pytest.fixture
def index(engine: Engine, meddler: Meddler) -> Iterator[Index]:
    name = new_name()
    settings = {"number_of_shards": 2, "number_of_replicas": 0, "refresh_interval": "-1"}
    mappings = {"properties": {"body": {"type": "text"}}}
    engine.perform(CreateIndex(name, {"settings": settings, "mappings": mappings}))
    engine.perform(Bulk(name, [Action("index", id_, each) for id_, each in DOCUMENTS.items()], refresh=True))
    index = Index(name, meddler, fields=["body"])
    index.init()
    yield index
    engine.perform(DeleteIndex(name))


def change(engine: Engine, index: Index, ids: list[str]) -> dict[str, Json]:
    """Change texts as somebody does who knows nothing of fingerprints."""
    changed = {id_: {"body": f"another text, of {id_} alone"} for id_ in ids}
    results = engine.perform(Bulk(index.name, [Action("update", id_, {"doc": part}) for id_, part in changed.items()]))
    assert not any(result.error for result in results)
    return changed


def assert_right(engine: Engine, index: Index, changed: dict[str, Json] | None = None) -> None:
    expected = {**DOCUMENTS, **(changed or {})}
    found = engine.perform(GetDocuments(index.name, list(expected)))
    there = {each["_id"]: each["_source"] for each in found}
    assert there == {id_: index.documents.add_fields(each) for id_, each in expected.items()}


# --- others write as well


def test_a_text_that_changes_between_reading_and_writing_is_read_again(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    changed: dict[str, Json] = {}
    meddler.before = once(Bulk, lambda bulk: changed.update(change(engine, index, [bulk.actions[0].id])))
    progress = index.backfill()
    assert progress.conflicts == 1
    assert_right(engine, index, changed)


def test_a_text_that_changes_after_its_fingerprint_was_written_gets_another(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    changed: dict[str, Json] = {}

    def after(operation: Operation[Any], result: Any) -> Any:
        if isinstance(operation, Bulk) and not changed:
            changed.update(change(engine, index, [str(action.id) for action in operation.actions[:5]]))
        return result

    meddler.after = after
    progress = index.backfill()
    assert progress.written == COUNT + 5
    assert_right(engine, index, changed)


@pytest.mark.parametrize("request_after", range(6))
def test_a_text_that_changes_at_any_moment_before_the_last_look_gets_another_fingerprint(
    engine: Engine, meddler: Meddler, index: Index, request_after: int
) -> None:
    """A change that searches cannot see yet must not count as seen, whichever two requests it comes between."""
    changed: dict[str, Json] = {}
    since_all_was_written = 0

    def before(operation: Operation[Any]) -> None:
        nonlocal since_all_was_written
        if since_all_was_written or (isinstance(operation, GetResource) and Bulk in meddler.kinds()):
            since_all_was_written += 1
            if since_all_was_written == request_after + 1:
                changed.update(change(engine, index, ["id0", "id1", f"id{COUNT - 1}"]))

    meddler.before = before
    assert index.backfill().unsettled == 0
    assert changed, "The run has fewer requests than that."
    assert_right(engine, index, changed)
    assert_nothing_is_noted(engine, index)


def change_at_each_look(engine: Engine, meddler: Meddler, index: Index, part: Callable[[int], Json]) -> dict[str, Json]:
    """Have somebody change a document each time that the run looks whether others write, once it has written itself."""
    changed: dict[str, Json] = {}

    def before(operation: Operation[Any]) -> None:
        if isinstance(operation, GetResource) and "_stats" in operation.path and Bulk in meddler.kinds():
            changed[f"id{len(changed)}"] = part(len(changed))
            id_, own = list(changed.items())[-1]
            assert not engine.perform(Bulk(index.name, [Action("update", id_, {"doc": own})]))[0].error

    meddler.before = before
    return changed


def test_a_run_that_ends_while_others_still_change_texts_says_so_and_the_next_one_does_the_rest(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    changed = change_at_each_look(engine, meddler, index, lambda number: {"body": f"text number {number} of these"})
    assert index.backfill().unsettled == 1
    meddler.before = lambda operation: None
    progress = index.backfill()
    assert (progress.written, progress.unsettled) == (1, 0)
    assert_right(engine, index, changed)
    assert_nothing_is_noted(engine, index)


def test_a_run_that_ends_while_others_still_change_other_fields_is_complete(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    changed = change_at_each_look(engine, meddler, index, lambda number: {"views": number})
    assert index.backfill().unsettled == 0
    assert_right(engine, index, {id_: {**DOCUMENTS[id_], **part} for id_, part in changed.items()})


def test_documents_are_gone_through_once_where_nobody_else_writes(meddler: Meddler, index: Index) -> None:
    index.backfill()
    assert sum(isinstance(operation, OpenReader) for operation in meddler.seen) == 1


def assert_nothing_is_noted(engine: Engine, index: Index) -> None:
    assert mapping.names(engine.perform(GetMappings(index.name))[index.name]) == {"dedup"}


def test_a_text_that_changes_after_a_run_was_killed_is_found_by_the_next(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    stopped = StopsEarly(engine)
    with pytest.raises(RuntimeError, match="stopped"):
        Index(index.name, stopped).backfill()
    done = next(operation for operation in stopped.seen if isinstance(operation, Bulk))
    changed = change(engine, index, [str(action.id) for action in done.actions[:5]])
    progress = index.backfill()
    assert progress.written == COUNT - len(done.actions) + 5
    assert_right(engine, index, changed)
    assert_nothing_is_noted(engine, index)


def test_a_text_that_changes_after_the_last_write_but_before_the_end_is_found_by_the_next(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    def stop(operation: Operation[Any]) -> None:
        if isinstance(operation, CloseReader):
            raise RuntimeError("stopped")

    meddler.before = stop
    with pytest.raises(RuntimeError, match="stopped"):
        index.backfill()
    meddler.before = lambda operation: None
    changed = change(engine, index, ["id3"])
    assert index.backfill(filter={"ids": {"values": ["id4"]}}).written == 0
    assert index.backfill().written == 1
    assert_right(engine, index, changed)
    assert_nothing_is_noted(engine, index)


def test_what_a_killed_run_has_done_is_not_read_again_where_nobody_else_writes(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    with pytest.raises(RuntimeError, match="stopped"):
        Index(index.name, StopsEarly(engine)).backfill()
    index.backfill()
    assert sum(isinstance(operation, OpenReader) for operation in meddler.seen) == 1
    assert_right(engine, index)
    assert_nothing_is_noted(engine, index)


def test_new_documents_that_come_in_the_meantime_are_done_too(engine: Engine, meddler: Meddler, index: Index) -> None:
    new = {"new": {"body": "a text that came late"}}
    meddler.before = once(
        Bulk, lambda _: engine.perform(Bulk(index.name, [Action("index", "new", new["new"])], refresh=True))
    )
    assert index.backfill().written == COUNT + 1
    assert_right(engine, index, new)


def test_documents_that_are_deleted_in_the_meantime_are_not_failures(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    meddler.before = once(
        Bulk, lambda bulk: engine.perform(Bulk(index.name, [Action("delete", bulk.actions[0].id, None)]))
    )
    progress = index.backfill()
    assert (progress.gone, progress.rejected, progress.written) == (1, 0, COUNT - 1)


def test_a_document_that_changes_again_and_again_is_rejected(engine: Engine, meddler: Meddler, index: Index) -> None:
    def always(operation: Operation[Any]) -> None:
        if isinstance(operation, Bulk) and any(action.id == "id7" for action in operation.actions):
            engine.perform(Bulk(index.name, [Action("update", "id7", {"doc": {"count": len(meddler.seen)}})]))

    meddler.before = always
    reported: list[Rejected] = []
    assert index.backfill(on_reject=reported.append).rejected == 1
    assert [each.id for each in reported] == ["id7"]
    assert "Try later" in reported[0].reason


# --- the engine is away, or has too much to do


@pytest.mark.parametrize("kind", [Refresh, OpenReader, ReadPage, Bulk])
@pytest.mark.parametrize("error", [UnreachableError, UnavailableError])
def test_an_engine_that_is_away_is_waited_for(
    engine: Engine, meddler: Meddler, index: Index, waited: list[float], kind: Any, error: type[Exception]
) -> None:
    failures = iter(range(6))

    def fail(operation: Operation[Any]) -> None:
        if isinstance(operation, kind) and next(failures, None) is not None:
            raise error("away")

    meddler.before = fail
    index.backfill()
    assert len(waited) == 6
    assert waited[0] < waited[-1]
    assert_right(engine, index)


def test_what_cannot_be_done_at_first_is_tried_again(engine: Engine, meddler: Meddler, index: Index) -> None:
    assert index.documents  # the index is opened
    meddler.before = each_at_a_second_try()
    assert index.backfill(without_refresh=True).unsettled == 0
    assert_right(engine, index)


def test_an_engine_that_stays_away_ends_the_run(meddler: Meddler, index: Index, waited: list[float]) -> None:
    def fail(operation: Operation[Any]) -> None:
        if isinstance(operation, Bulk):
            raise UnreachableError("away")

    meddler.before = fail
    with pytest.raises(UnreachableError):
        index.backfill(patience=60)
    # Two requests are on their way at once.
    assert 60 <= sum(waited) < 2 * 90


def test_a_request_whose_answer_was_lost_is_not_done_twice(engine: Engine, meddler: Meddler, index: Index) -> None:
    lost = iter([True])

    def lose(operation: Operation[Any], result: Any) -> Any:
        if isinstance(operation, Bulk) and next(lost, False):
            raise UnreachableError("the answer was lost")
        return result

    meddler.after = lose
    progress = index.backfill()
    assert progress.resent > 0
    assert (progress.written, progress.conflicts, progress.done) == (COUNT, 0, COUNT)
    assert_right(engine, index)


def test_a_reader_that_is_lost_is_replaced(engine: Engine, meddler: Meddler, index: Index) -> None:
    meddler.before = once(ReadPage, lambda page: engine.perform(CloseReader(page.reader)), after=1)
    index.backfill()
    assert_right(engine, index)
    assert sum(isinstance(operation, OpenReader) for operation in meddler.seen) == 2


@pytest.mark.parametrize("share", [(0, 1), (0, 2)])
def test_a_page_whose_answer_is_lost_is_read_again(
    engine: Engine, meddler: Meddler, index: Index, share: tuple[int, int]
) -> None:
    """A scroll, by which Elasticsearch reads shares, moves on by being read, and would leave the page out."""
    index.backfill()
    changed = change(engine, index, list(DOCUMENTS))
    pages: list[ReadPage] = []

    def lose(operation: Operation[Any], result: Any) -> Any:
        if isinstance(operation, ReadPage):
            pages.append(operation)
            if len(pages) == 2:
                raise UnreachableError("the answer was lost")
        return result

    meddler.after = lose
    shards = [BackfillOptions(refresh_stale=True, shard=(i, share[1])) for i in range(share[1])]
    done = sum(index.backfill(**vars(shard)).written for shard in shards)
    assert done == COUNT
    assert_right(engine, index, changed)


def test_slices_of_one_machine_share_a_reader(meddler: Meddler, index: Index) -> None:
    assert index.backfill(parallel=3).written == COUNT
    assert len([operation for operation in meddler.seen if isinstance(operation, OpenReader)]) == 1
    assert len([operation for operation in meddler.seen if isinstance(operation, CloseReader)]) == 1


def test_a_reader_that_slices_share_is_replaced_if_it_is_lost(engine: Engine, meddler: Meddler, index: Index) -> None:
    meddler.before = once(ReadPage, lambda page: engine.perform(CloseReader(page.reader)), after=2)
    index.backfill(parallel=3)
    assert_right(engine, index)


def test_documents_that_are_refused_for_now_are_sent_again_a_few_at_a_time(
    engine: Engine, meddler: Meddler, index: Index, waited: list[float]
) -> None:
    sizes: list[int] = []

    def refuse(operation: Operation[Any], results: Any) -> Any:
        if not isinstance(operation, Bulk):
            return results
        sizes.append(len(operation.actions))
        if len(sizes) > 4:
            return results
        # Half of them were refused: what the engine did after all ends in a conflict, and is found done.
        return [ActionResult(each.id, 429, "queue full") if i % 2 else each for i, each in enumerate(results)]

    meddler.after = refuse
    progress = index.backfill()
    assert progress.refusals > 0
    assert min(sizes[2:6]) < sizes[0]
    assert waited
    assert_right(engine, index)


def test_a_document_that_is_always_refused_does_not_hold_up_the_others(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    def refuse(operation: Operation[Any], results: Any) -> Any:
        if not isinstance(operation, Bulk):
            return results
        # What the engine did after all would end in a conflict.
        return [ActionResult("id5", 429, "too large") if each.id == "id5" else each for each in results]

    meddler.after = refuse
    reported: list[Rejected] = []
    assert index.backfill(patience=60, on_reject=reported.append).written == COUNT - 1
    assert [each.id for each in reported] == ["id5"]
    assert "again and again" in reported[0].reason


def test_a_request_that_is_too_large_is_split(engine: Engine, meddler: Meddler, index: Index) -> None:
    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, Bulk) and len(operation.actions) > 20:
            raise TooLargeError("413")

    meddler.before = refuse
    assert index.backfill().written == COUNT
    assert_right(engine, index)


def test_a_document_that_is_too_large_for_any_request_is_rejected(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, Bulk) and any(action.id == "id5" for action in operation.actions):
            raise TooLargeError("413")

    meddler.before = refuse
    reported: list[Rejected] = []
    assert index.backfill(on_reject=reported.append).written == COUNT - 1
    assert [each.id for each in reported] == ["id5"]


def test_pages_that_are_too_large_are_made_smaller(engine: Engine, meddler: Meddler, index: Index) -> None:
    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, ReadPage) and operation.size > 10:
            raise TooLargeError("413")

    meddler.before = refuse
    index.backfill()
    assert_right(engine, index)


def test_a_full_disk_ends_the_run_and_says_so(engine: Engine, meddler: Meddler, index: Index) -> None:
    block = "index.blocks.read_only_allow_delete"
    meddler.before = once(Bulk, lambda _: engine.perform(PutSettings(index.name, {block: True})))
    with pytest.raises(IndexStateError, match="Make room on the engine's disk"):
        index.backfill()
    engine.perform(PutSettings(index.name, {block: None}))
    index.backfill()
    assert_right(engine, index)


# --- what a run costs, and leaves


def test_a_run_with_nothing_to_do_reads_and_writes_nothing(meddler: Meddler, index: Index) -> None:
    index.backfill()
    meddler.seen.clear()
    index.backfill()
    # The documents due, before and after, and whether there is enough to learn rarity from.
    assert sum(isinstance(operation, Count) for operation in meddler.seen) == 3
    assert not meddler.kinds() & {OpenReader, ReadPage, Bulk}


def test_no_document_is_read_again_for_writing(meddler: Meddler, index: Index) -> None:
    index.backfill()
    assert GetDocuments not in meddler.kinds()


def test_every_update_has_a_condition_and_only_our_fields(meddler: Meddler, index: Index) -> None:
    index.backfill()
    actions = [action for operation in meddler.seen if isinstance(operation, Bulk) for action in operation.actions]
    assert len(actions) == COUNT
    for action in actions:
        assert action.op_type == "update"
        assert set(action.body or {}) == {"doc"}
        assert set((action.body or {})["doc"]) == {"dedup"}
        assert {"if_seq_no", "if_primary_term"} <= set(action.metadata or {})
        assert action.index == index.name


OPTIONS = BackfillOptions(without_refresh=True)


def settings_of(engine: Engine, index: Index) -> dict[str, Any]:
    there = engine.perform(GetSettings(index.name))[index.name]
    return {"refresh_interval": there.get("index.refresh_interval")}


def test_settings_are_changed_in_the_meantime_and_set_back(engine: Engine, meddler: Meddler, index: Index) -> None:
    engine.perform(PutSettings(index.name, {"index.refresh_interval": None}))
    interim: list[dict[str, Any]] = []
    meddler.before = once(Bulk, lambda _: interim.append(settings_of(engine, index)))
    before = engine.perform(GetMappings(index.name))[index.name]
    index.backfill(**vars(OPTIONS))
    assert interim == [{"refresh_interval": "-1"}]
    assert settings_of(engine, index) == {"refresh_interval": None}
    after = engine.perform(GetMappings(index.name))[index.name]
    assert {**after, "properties": mapping.only(after, {"dedup"})} == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_settings_are_set_back_however_a_run_ends(engine: Engine, index: Index, error: type[BaseException]) -> None:
    engine.perform(PutSettings(index.name, {"index.refresh_interval": "7s"}))

    def stop(progress: Progress) -> None:
        raise error

    with pytest.raises(error):
        index.backfill(**vars(OPTIONS), on_progress=stop)
    # A slow server does it a little later.
    for thread in [each for each in enumerate_threads() if each.name == "es-simhash"]:
        thread.join()
    assert settings_of(engine, index) == {"refresh_interval": "7s"}


def test_settings_that_a_killed_run_left_are_set_back_by_the_next(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    engine.perform(PutSettings(index.name, {"index.refresh_interval": "7s"}))

    def die(operation: Operation[Any]) -> None:
        if isinstance(operation, Bulk) or (isinstance(operation, PutSettings) and len(bulks) > 0):
            bulks.append(operation)
            raise SystemExit

    bulks: list[Any] = []
    meddler.before = die
    with pytest.raises(SystemExit):
        index.backfill(**vars(OPTIONS))
    assert settings_of(engine, index)["refresh_interval"] == "-1"
    meddler.before = lambda operation: None
    index.backfill()
    assert settings_of(engine, index) == {"refresh_interval": "7s"}


# --- other states of an index


def test_a_data_stream_is_done_in_its_backing_indices(opensearch_node: Node) -> None:
    """On OpenSearch, as the Elasticsearch of the tests comes without data streams."""
    name = f"stream-{new_name()}"
    mappings = {"properties": {"body": {"type": "text"}}}
    template = {"index_patterns": [name], "data_stream": {}, "template": {"mappings": mappings}}
    ask = opensearch_node.request
    assert ask("PUT", f"/_index_template/{name}", template).status == 200
    assert ask("PUT", f"/_data_stream/{name}").status == 200
    with engine_over("opensearch", opensearch_node.url) as engine:
        for part in range(2):
            actions = [
                Action("create", f"{part}-{i}", {"@timestamp": "2026-01-01", "body": f"text {part} of {i * i}"})
                for i in range(10)
            ]
            assert not any(result.error for result in engine.perform(Bulk(name, actions, refresh=True)))
            assert ask("POST", f"/{name}/_rollover").status == 200
        index = Index(name, engine, fields=["body"])
        index.init()
        assert len(index.info().indices) == 3
        assert index.backfill().written == 20
        assert (index.info().fingerprinted, index.info().documents) == (20, 20)
    assert ask("DELETE", f"/_data_stream/{name}").status == 200
    assert ask("DELETE", f"/_index_template/{name}").status == 200
