"""What holds while a job runs."""

from __future__ import annotations

import gc
from pathlib import Path

from es_simhash.index import Index


def test_garbage_is_looked_for_rarely_while_documents_are_read_and_written(tmp_path: Path) -> None:
    before, meanwhile = gc.get_threshold(), []
    with Index("news", str(tmp_path), scheme="default", fields=["body"]) as index:
        index.init()
        index.add([{"_id": "1", "_source": {"body": "a text that is long enough"}}], refresh=True)
        index.remove_fields()
        index.init()
        index.backfill(on_progress=lambda _: meanwhile.append(gc.get_threshold()[0]))
    assert set(meanwhile) == {50_000}
    assert gc.get_threshold() == before
