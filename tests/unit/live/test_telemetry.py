"""A run, as operators see it.

The values of metrics, as Prometheus reads them.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from es_simhash._core.batches import prefetched, stage
from es_simhash.documents.sources import Rejected
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import MissingError, MissingExtraError
from es_simhash.groups.of_index.writing import GroupsWritten
from es_simhash.live import telemetry
from es_simhash.live.measured_engine import name_of
from es_simhash.live.sweep.writing import Progress
from es_simhash.live.telemetry import METRICS, OUTCOMES, Metric, Metrics, Run, counts_of
from es_simhash.plans.operations import GetInfo, GetMappings
from tests.support import promtool
from tests.support.operations import OPERATIONS


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
    monkeypatch.setattr(telemetry, "are_wanted", lambda: False)
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


REQUESTS = Metric("es_simhash_requests_total", "counter", "Requests answered.", ("status",))
BYTES = Metric("es_simhash_received_bytes_total", "counter", "Bytes received.")
WAITING = Metric("es_simhash_waiting_requests", "gauge", "Requests that wait.")
LATENCY = Metric("es_simhash_request_duration_seconds", "histogram", "Seconds until an answer.", buckets=(0.1, 1.0))
ALL = (REQUESTS, BYTES, WAITING, LATENCY)


def values(metrics: Metrics) -> dict[tuple[str, ...], float]:
    """The samples, by their names and the values of their own labels, in the order of the labels' names."""
    families = text_string_to_metric_families(metrics.exposition().decode())
    samples = [sample for family in families for sample in family.samples]
    assert all(sample.labels.items() >= metrics.common.items() for sample in samples)
    return {(each.name, *_own(each.labels, metrics)): each.value for each in samples}


def _own(labels: dict[str, str], metrics: Metrics) -> list[str]:
    return [labels[name] for name in sorted(labels.keys() - metrics.common.keys())]


@pytest.mark.parametrize("common", [{}, {"index": "articles"}])
def test_promtool_finds_nothing_wrong(common: dict[str, str]) -> None:
    metrics = Metrics(ALL, **common)
    metrics.add(REQUESTS, status="200")
    metrics.observe(LATENCY, 0.5)
    assert promtool.of_metrics(metrics.exposition()) == ""
    assert promtool.of_metrics(metrics.exposition().replace(b"_bytes_total", b"_bytes")) != ""


def test_counters_count_gauges_stand_and_histograms_sort() -> None:
    metrics = Metrics(ALL)
    metrics.add(REQUESTS, status="200")
    metrics.add(REQUESTS, 2, status="429")
    metrics.set(WAITING, 7)
    metrics.set(WAITING, 3)
    metrics.observe(LATENCY, 0.5)
    found = values(metrics)
    assert found["es_simhash_requests_total", "200"] == 1
    assert found["es_simhash_requests_total", "429"] == 2
    assert found["es_simhash_waiting_requests",] == 3
    assert found["es_simhash_request_duration_seconds_bucket", "0.1"] == 0
    assert found["es_simhash_request_duration_seconds_bucket", "1.0"] == 1
    assert found["es_simhash_request_duration_seconds_sum",] == 0.5


def test_a_counter_follows_a_total_that_somebody_else_counts() -> None:
    metrics = Metrics(ALL)
    for total in (5, 5, 3, 9):
        metrics.reach(REQUESTS, total, status="200")
    assert values(metrics)["es_simhash_requests_total", "200"] == 9


def test_a_counter_begins_at_zero_before_anything_is_counted() -> None:
    assert values(Metrics(ALL))["es_simhash_received_bytes_total",] == 0
    assert values(Metrics(ALL, index="articles"))["es_simhash_received_bytes_total",] == 0


def test_each_value_has_the_common_labels() -> None:
    metrics = Metrics(ALL, index='a "b"\n')
    metrics.add(REQUESTS, status="200")
    assert metrics.common == {"index": 'a "b"\n'}
    assert values(metrics)["es_simhash_requests_total", "200"] == 1


def test_values_of_different_objects_are_apart() -> None:
    one, other = Metrics(ALL), Metrics(ALL)
    one.add(BYTES, 5)
    assert values(other)["es_simhash_received_bytes_total",] == 0


def test_threads_lose_nothing() -> None:
    metrics = Metrics(ALL)

    def count(number: int) -> None:
        metrics.add(BYTES)
        metrics.reach(REQUESTS, number, status="200")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(2_000)))
    found = values(metrics)
    assert found["es_simhash_received_bytes_total",] == 2_000
    assert found["es_simhash_requests_total", "200"] == 1_999


def test_the_command_that_installs_a_missing_client_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(MissingExtraError, match=r"prometheus-client is not installed.*\[metrics\]"):
        Metrics(ALL)


def test_each_counter_is_one_series() -> None:
    metrics = Metrics(ALL)
    metrics.add(REQUESTS, status="200")
    assert [line for line in metrics.exposition().decode().splitlines() if line.startswith("es_simhash_requests")] == [
        'es_simhash_requests_total{status="200"} 1.0'
    ]
    assert "_created" not in metrics.exposition().decode()
