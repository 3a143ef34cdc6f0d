"""A run, as operators see it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from es_simhash._core.prefetch import prefetched
from es_simhash._core.stages import stage
from es_simhash.documents.rejected import Rejected
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import MissingError
from es_simhash.groups.of_index.writing import GroupsWritten
from es_simhash.live.sweep.writing import Progress
from es_simhash.live.telemetry import spans
from es_simhash.live.telemetry.engine import name_of
from es_simhash.live.telemetry.metrics import METRICS, OUTCOMES, Metrics, counts_of
from es_simhash.live.telemetry.run import Run
from es_simhash.plans.operations import GetInfo, GetMappings
from tests.support import promtool
from tests.support.operations import OPERATIONS
from tests.unit.live.telemetry.test_metrics import values


def publishing() -> tuple[Run, Metrics]:
    run, metrics = Run("backfill"), Metrics(METRICS, verb="backfill", index="articles")
    run.publish(metrics)
    return run, metrics


def test_promtool_finds_nothing_wrong_with_the_metrics_of_jobs() -> None:
    run, metrics = publishing()
    for outcome in OUTCOMES:
        run.count({outcome: 1})
    with run.going_on(), stage("survey"):
        pass
    run.ended(0)
    assert promtool.of_metrics(metrics.exposition()) == ""


def test_every_run_has_an_id_of_its_own() -> None:
    assert Run().id != Run().id
    assert Run().id.startswith("es-simhash-")


def test_an_engine_that_nobody_watches_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "are_wanted", lambda: False)
    engine = EmbeddedEngine(tmp_path)
    assert Run().engine(engine, str(tmp_path)) is engine


def test_the_operations_of_an_engine_are_timed_and_their_errors_counted(tmp_path: Path) -> None:
    run, metrics = publishing()
    engine = run.engine(EmbeddedEngine(tmp_path), str(tmp_path))
    engine.perform(GetInfo())
    with pytest.raises(MissingError):
        engine.perform(GetMappings("nowhere"))
    engine.close()
    found = values(metrics)
    seconds = "es_simhash_engine_operation_duration_seconds_count"
    errors = "es_simhash_engine_operation_errors_total"
    assert {key: value for key, value in found.items() if key[0] in (seconds, errors)} == {
        (seconds, "get_info"): 1,
        (seconds, "get_mappings"): 1,
        (errors, "MissingError", "get_mappings"): 1,
    }


def test_every_kind_of_operations_has_a_name_of_its_own() -> None:
    kinds = [object.__new__(kind) for kind in OPERATIONS]
    assert len({name_of(operation) for operation in kinds}) == len(OPERATIONS)
    assert name_of(GetMappings("a")) == "get_mappings"


def test_the_progress_of_jobs_becomes_counts() -> None:
    progress = Progress("articles", 10, written=3, current=2, rejected=1, conflicts=4, refusals=5, characters=6)
    assert counts_of(progress) == {
        **dict.fromkeys(("gone", "unfit"), 0),
        **{"written": 3, "current": 2, "rejected": 1, "conflicts": 4, "refusals": 5, "characters": 6},
    }
    lost = Rejected(index="articles", id="1", reason="It is full.")
    written = GroupsWritten(written=7, lost=1, rejected=[lost, replace(lost, id="2")])
    assert counts_of(written) == {"written": 7, "lost": 1, "rejected": 2, "conflicts": 0, "refusals": 0}


def test_counts_become_counters_and_what_is_left_a_gauge() -> None:
    run, metrics = publishing()
    run.count({"written": 3, "conflicts": 1}, left=7)
    run.count({"written": 8, "conflicts": 1}, left=2)
    found = values(metrics)
    assert found["es_simhash_documents_total", "written"] == 8
    assert found["es_simhash_conflicts_total",] == 1
    assert found["es_simhash_documents_remaining",] == 2
    assert run.counts == {"written": 8, "conflicts": 1}


@pytest.mark.parametrize("code", [0, 1, 130])
def test_the_end_of_a_run_shows_how_it_ended(code: int) -> None:
    run, metrics = publishing()
    assert values(metrics)["es_simhash_run_exit_code",] == -1
    run.ended(code)
    found = values(metrics)
    assert found["es_simhash_run_exit_code",] == code
    assert found["es_simhash_run_end_timestamp_seconds",] > found["es_simhash_run_start_timestamp_seconds",]
    assert (found["es_simhash_last_success_timestamp_seconds",] > 0) == (code == 0)


def test_stages_are_seen_in_the_threads_of_a_job_and_only_within_the_run() -> None:
    seen: list[str] = []
    run, metrics = publishing()
    run.on_stage = lambda name, _: seen.append(name)

    def work(number: int) -> int:
        with stage("prepare"):
            return number

    with stage("survey"):
        pass
    with run.going_on(), stage("documents"):
        assert list(prefetched(work, range(3), 2)) == [0, 1, 2]
    assert seen == ["prepare", "prepare", "prepare", "documents"]
    assert ("es_simhash_stage_seconds_total", "prepare") in values(metrics)


def test_a_stage_that_fails_is_seen_too() -> None:
    seen: list[str] = []
    run = Run()
    run.on_stage = lambda name, _: seen.append(name)
    with pytest.raises(ZeroDivisionError), run.going_on(), stage("learn"):
        raise ZeroDivisionError
    assert seen == ["learn"]


def test_who_watches_inside_sees_what_the_outer_one_does_not() -> None:
    inner, outer = Run(), Run()
    seen: list[str] = []
    outer.on_stage = lambda name, _: seen.append(f"outer {name}")
    inner.on_stage = lambda name, _: seen.append(f"inner {name}")
    with outer.going_on():
        with inner.going_on(), stage("read"):
            pass
        with stage("write"):
            pass
    assert seen == ["inner read", "outer write"]
