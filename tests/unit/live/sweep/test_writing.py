"""What holds while a job runs."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from es_simhash._core.batches import prefetched
from es_simhash.index import Index
from es_simhash.live.sweep import writing
from es_simhash.plans.operations import Action, Bulk


def unfinished(path: Path) -> Index:
    """An index with one document that has no fingerprint."""
    index = Index("news", str(path), scheme="default", fields=["body"])
    index.init()
    index.engine.perform(Bulk("news", [Action("index", "1", {"body": "a text that is long enough"})], refresh=True))
    return index


@pytest.mark.parametrize(("slices", "writers"), [(1, 2), (2, 1), (3, 1)])
def test_several_slices_send_one_request_each_at_once(
    slices: int, writers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[int] = set()

    def recorded(make: Any, items: Any, threads: int = 1, stop: Any = None) -> Any:
        if "_write" in repr(make):
            seen.add(threads)
        return prefetched(make, items, threads, stop)

    monkeypatch.setattr(writing, "prefetched", recorded)
    with unfinished(tmp_path) as index:
        assert index.backfill(parallel=slices).written == 1
    assert seen == {writers}


def test_garbage_is_looked_for_rarely_while_documents_are_read_and_written(tmp_path: Path) -> None:
    before, interim = gc.get_threshold(), []
    with unfinished(tmp_path) as index:
        index.backfill(on_progress=lambda _: interim.append(gc.get_threshold()[0]))
    assert set(interim) == {50_000}
    assert gc.get_threshold() == before
