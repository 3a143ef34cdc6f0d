"""Work in threads ends with its first error, or an interruption: no thread waits on for an engine that is away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGINT, pthread_kill
from threading import enumerate as enumerate_threads
from threading import main_thread
from typing import Any

import pytest

from es_simhash._core.batches import Stop, StoppedError
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import AccessError, UnreachableError
from es_simhash.groups.of_index.corpus import group
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.index import Index
from es_simhash.plans.operations import Action, Bulk, CloseReader, CreateIndex, Operation, ReadPage
from tests.support.meddling import Meddler

PATIENCE = 10_000


def group_all(index: Index) -> None:
    group(index.engine, index.name, index.documents, GroupOptions(patience=PATIENCE)).close()


WORK: dict[str, Callable[[Index], object]] = {
    "a backfill": lambda index: index.backfill(patience=PATIENCE),
    "a backfill in slices": lambda index: index.backfill(parallel=2, patience=PATIENCE),
    "groups": group_all,
}


@pytest.fixture
def meddler(tmp_path: Path) -> Iterator[Meddler]:
    engine = EmbeddedEngine(tmp_path)
    yield Meddler(engine)
    engine.close()


@pytest.fixture(params=WORK)
def work(request: pytest.FixtureRequest, meddler: Meddler) -> Callable[[], object]:
    """Something to do with an index of several pages."""
    plain = Index("index", meddler.engine, fields=["body"])
    documents = [{"_id": str(i), "body": f"text {i * i}"} for i in range(400)]
    if request.param == "groups":
        plain.init(create={})
        plain.add(documents, refresh=True)
    else:
        meddler.engine.perform(CreateIndex("index", {}))
        actions = [Action("index", each.pop("_id"), each) for each in documents]
        meddler.engine.perform(Bulk("index", actions, refresh=True))
        plain.init()
    index = Index("index", meddler)
    return lambda: WORK[request.param](index)


def at_pages(do: Callable[[int], None]) -> Callable[[Operation[Any]], None]:
    """What does something at each page, which is numbered from 1."""
    pages = 0

    def before(operation: Operation[Any]) -> None:
        nonlocal pages
        if isinstance(operation, ReadPage):
            pages += 1
            do(pages)

    return before


def assert_no_thread_is_left() -> None:
    for thread in [each for each in enumerate_threads() if each.name == "es-simhash"]:
        thread.join(10)
        assert not thread.is_alive()


def test_an_interruption_does_not_wait_for_an_engine_that_is_away(work: Callable[[], object], meddler: Meddler) -> None:
    def be_away(page: int) -> None:
        if page == 3:
            pthread_kill(main_thread().ident or 0, SIGINT)
        if page > 2:
            raise UnreachableError("away")

    meddler.before = at_pages(be_away)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert_no_thread_is_left()
    assert CloseReader in meddler.kinds()


def test_another_thread_can_end_the_comparison_of_groups(meddler: Meddler, monkeypatch: pytest.MonkeyPatch) -> None:
    index, stop = Index("index", meddler, fields=["body"]), Stop()
    index.init(create={})
    index.add([{"_id": str(i), "body": f"the same text, but for {i}"} for i in range(20)], refresh=True)
    complete = FingerprintStore.complete

    def complete_and_stop(kept: FingerprintStore) -> None:
        complete(kept)
        stop.set()

    monkeypatch.setattr(FingerprintStore, "complete", complete_and_stop)
    with pytest.raises(StoppedError):
        group(meddler, index.name, index.documents, GroupOptions(estimate=True), stop=stop)


def test_an_error_does_not_wait_for_an_engine_that_is_away(work: Callable[[], object], meddler: Meddler) -> None:
    def refuse(page: int) -> None:
        if page == 2:
            raise AccessError("refused")
        if page > 2:
            raise UnreachableError("away")

    meddler.before = at_pages(refuse)
    with pytest.raises(AccessError, match="refused"):
        work()
    assert_no_thread_is_left()
