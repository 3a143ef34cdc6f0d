"""The values of metrics, as Prometheus reads them."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client.parser import text_string_to_metric_families

from es_simhash.errors import MissingExtraError
from es_simhash.live.telemetry.metrics import Metric, Metrics
from tests.support import promtool

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
