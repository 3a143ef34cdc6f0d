"""The simulated backfill: what must hold of it, whatever fails."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash.live.backfill import simulation
from es_simhash.live.backfill.simulation import Cluster, Failures, forecast, simulate

MILLIONS = Cluster(100_000_000, 2e11, 12, 0, 1, 8_000)
NEVER = Failures(0)


@pytest.fixture
def evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    """All nodes are as fast as measured."""
    monkeypatch.setattr(simulation, "_SPREAD", 0.0)


@pytest.mark.usefixtures("evenly")
@pytest.mark.parametrize(("nodes", "factor"), [(1, 1), (2, 2), (4, 4), (12, 12), (16, 12), (5, 4)])
def test_without_failures_nodes_divide_the_work_as_far_as_shards_can_be_divided(nodes: int, factor: float) -> None:
    done = simulate(replace(MILLIONS, nodes=nodes), NEVER, Random(1))
    assert done.hours == pytest.approx(100_000_000 / 8_000 / 3_600 / factor)
    assert (done.losses, done.restarts) == (0, 0)


@pytest.mark.usefixtures("evenly")
def test_each_replica_writes_every_document_again() -> None:
    plain = simulate(replace(MILLIONS, nodes=4), NEVER, Random(1))
    copied = simulate(replace(MILLIONS, nodes=4, replicas=1), NEVER, Random(1))
    assert copied.hours == pytest.approx(2 * plain.hours)
    # One node has no place for a replica.
    assert simulate(replace(MILLIONS, replicas=1), NEVER, Random(1)) == simulate(MILLIONS, NEVER, Random(1))


@pytest.mark.usefixtures("evenly")
def test_without_a_copy_a_run_waits_for_a_lost_node_and_has_to_be_begun_again() -> None:
    often = Failures(a_day=4, hours_away=2)
    lost = [simulate(MILLIONS, often, Random(seed)) for seed in range(40)]
    calm = simulate(MILLIONS, NEVER, Random(1))
    assert all(run.hours >= calm.hours for run in lost)
    assert sum(run.losses for run in lost) / 40 == pytest.approx(4 * calm.hours / 24, rel=0.4)
    assert any(run.restarts for run in lost)
    assert all(run.restarts <= run.losses for run in lost)
    patient = [simulate(MILLIONS, replace(often, patience=1e9), Random(seed)) for seed in range(40)]
    assert not any(run.restarts for run in patient)


def test_replicas_go_on_where_single_copies_wait() -> None:
    often = Failures(a_day=1, hours_away=6)
    alone, copied = (forecast(replace(MILLIONS, nodes=8, replicas=count), often, 1) for count in (0, 1))
    assert copied.restarts < alone.restarts


def test_a_forecast_is_a_distribution_that_its_seed_repeats() -> None:
    cluster, failures = replace(MILLIONS, nodes=4), Failures(a_day=0.5)
    found = forecast(cluster, failures, 7)
    assert found.p10 < found.p50 < found.p90
    assert found == forecast(cluster, failures, 7)
    assert found != forecast(cluster, failures, 8)
    assert forecast(replace(cluster, documents=0), failures, 7).p90 == 0


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 10**8),
    st.integers(1, 30),
    st.integers(0, 2),
    st.integers(1, 16),
    st.floats(0, 3),
    st.integers(0, 99),
)
def test_every_run_ends_and_takes_no_less_than_its_work(
    documents: int, shards: int, replicas: int, nodes: int, a_day: float, seed: int
) -> None:
    cluster = Cluster(documents, 2_000.0 * documents, shards, replicas, nodes, 8_000)
    done = simulate(cluster, Failures(a_day), Random(seed))
    assert done.hours * 3_600 * nodes * 8_000 * 2 >= documents  # no node is twice as fast as measured
    assert 0 <= done.restarts <= done.losses
