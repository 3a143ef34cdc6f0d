"""How long a backfill may take, by a trial of some documents."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from es_simhash.documents.documents import Documents
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.live.backfill.options import BackfillOptions
from es_simhash.live.backfill.run import Backfill
from es_simhash.plans.operations import Action, Bulk, CreateIndex, Operation, Refresh, Write
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus

Result = TypeVar("Result")


class Watched(EmbeddedEngine):
    """An engine that keeps what it was asked."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.asked = list[Operation[Any]]()

    def perform(self, operation: Operation[Result]) -> Result:
        self.asked.append(operation)
        return super().perform(operation)


def test_some_documents_are_tried_and_nothing_is_written(tmp_path: Path) -> None:
    with closing(Watched(tmp_path)) as engine:
        engine.perform(CreateIndex("articles", {}))
        actions = [Action("index", str(number), dict(each)) for number, each in enumerate(corpus(500))]
        engine.perform(Bulk("articles", actions))
        engine.perform(Refresh("articles"))
        engine.asked.clear()

        def backfill(**options: float) -> Backfill:
            documents = Documents(Scheme(), ["title", "body"])
            return Backfill(engine, "articles", documents, BackfillOptions(**options), brings_fields=True)  # type: ignore[arg-type]

        trial = backfill().trial()
        assert trial
        assert 300 <= trial.documents <= 500
        assert trial.seconds == pytest.approx(500 / trial.documents_per_second, rel=0.01, abs=0.1)
        slow = backfill(max_rate=2.0).trial()
        assert slow
        assert (slow.documents_per_second, slow.seconds) == (2.0, 250.0)
        assert {type(each) for each in engine.asked if isinstance(each, Write)} <= {Refresh}


def test_where_nothing_is_due_nothing_is_tried(tmp_path: Path) -> None:
    with closing(Watched(tmp_path)) as engine:
        engine.perform(CreateIndex("articles", {}))
        documents = Documents(Scheme(), ["title", "body"])
        assert Backfill(engine, "articles", documents, brings_fields=True).trial() is None
