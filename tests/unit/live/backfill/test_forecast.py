"""What a backfill will take, from an index and from what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.scale_measured import Measured
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.index import Index
from es_simhash.live.backfill import forecast
from es_simhash.live.backfill.forecast import ForecastOptions, plan_backfill
from es_simhash.live.backfill.simulation import Failures
from es_simhash.plans.operations import WRITES, Action, Bulk, CreateIndex, Operation, Refresh
from es_simhash.scheme.scheme import Scheme
from es_simhash.testing.corpus import corpus
from tests.support.documentation import BENCHMARKS, DESIGN

DOCUMENTS = Documents(Scheme(), ["title", "body"])


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Engine]:
    engine = EmbeddedEngine(tmp_path)
    engine.perform(CreateIndex("articles", {}))
    actions = [Action("index", str(number), dict(each)) for number, each in enumerate(corpus(150))]
    engine.perform(Bulk("articles", actions))
    engine.perform(Refresh("articles"))
    yield engine
    engine.close()


class Watched:
    """An engine that keeps what it was asked."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self.asked = engine, list[Operation[object]]()

    def perform(self, operation: Operation[object]) -> object:
        self.asked.append(operation)
        return self._engine.perform(operation)


def test_some_documents_are_tried_and_nothing_is_written(embedded: Engine) -> None:
    watched = Watched(embedded)
    planned = run(plan_backfill("articles", DOCUMENTS, ForecastOptions(trial=20)), watched)  # type: ignore[arg-type]
    assert not [each for each in watched.asked if isinstance(each, WRITES)]
    assert (planned.documents, planned.due, planned.by) == (150, 150, "benchmark")
    assert planned.trial
    assert 20 <= planned.trial.documents <= 150
    assert planned.trial.reading > 0 < planned.trial.computing
    assert [each.forecast.nodes for each in planned.needs] == [1, 2, 4, 8, 16]
    assert planned.needs[0].forecast.p50 > 0


def test_what_is_done_already_is_not_planned(embedded: Engine) -> None:
    index = Index("articles", embedded, fields=["title", "body"])
    index.init()
    index.backfill()
    planned = run(plan_backfill("articles", DOCUMENTS, ForecastOptions()), embedded)
    assert (planned.due, planned.trial) == (0, None)
    assert {each.forecast.p90 for each in planned.needs} == {0}


def test_a_rate_that_was_measured_is_taken_as_it_is(embedded: Engine) -> None:
    options = ForecastOptions(rate=100, failures=Failures(0), trial=0)
    planned = run(plan_backfill("articles", DOCUMENTS, options), embedded)
    assert (planned.rate, planned.by, planned.trial) == (100, "given", None)
    assert planned.needs[0].forecast.p50 * 3_600 == pytest.approx(1.5, rel=0.3)


def test_nodes_are_those_that_hold_data() -> None:
    reply = {
        "nodes": {
            "1": {"name": "a", "roles": ["data_hot"], "os": {"allocated_processors": 8}},
            "2": {"name": "b", "roles": ["master"]},
            "3": {"name": "c", "roles": ["data"], "jvm": {"mem": {"heap_max_in_bytes": 5}}},
        }
    }
    assert [(each.name, each.cores, each.heap) for each in forecast._of_reply(reply)] == [("a", 8, 0), ("c", 2, 5)]
    assert list(forecast._of_reply({})) == []


def test_the_rate_of_a_node_is_that_of_the_benchmarks() -> None:
    measured = Measured.read(BENCHMARKS + DESIGN)
    assert measured.backfill_rate == forecast.MEASURED_RATE
    assert measured.plain_bytes + measured.default_bytes == pytest.approx(forecast.MEASURED_BYTES, abs=1)
