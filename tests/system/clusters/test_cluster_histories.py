"""Whatever happens to the nodes of a cluster meanwhile: commands leave an index as they say, and do not give up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.pytest_nodes import required_cluster
from tests.system.clusters.drawing import histories
from tests.system.clusters.nodes import Nodes
from tests.system.histories.history import Blow, Event, Fault, History, Shape, Start, Write
from tests.system.histories.running import problems_of
from tests.system.histories.wire import wire

_COUNT, _SOAK = 4, 400
_SHAPE = Shape(shards=2, replicas=1)
_SOME = (Start("plain"), Start("stale"), Start("done"), Start("deferred"), Start("plain", routed=True)) * 3

# What must not happen to each command, in one history.
KEPT = {
    "a backfill, and the primary is killed between a bulk's send and its reply": History(
        "backfill",
        _SOME,
        (
            Event(2, Fault.FAILOVER, kind="/_bulk"),
            Event(3, Write("text", 2), kind="/_bulk"),
        ),
        _SHAPE,
    ),
    "groups are written while a node is cut off, and another joins": History(
        "group", (Start("done"),) * 12, (Event(2, Blow.JOIN), Event(1, Blow.ISOLATE, kind="/_bulk")), _SHAPE
    ),
}


# `make test` has time for one of them.
@pytest.fixture(params=[pytest.param("elasticsearch", marks=pytest.mark.nightly), "opensearch"], scope="module")
def nodes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    failed = request.session.testsfailed
    with required_cluster(request.param) as cluster, wire(*cluster.nodes) as way:
        yield Nodes(cluster, way)
        if request.session.testsfailed > failed:
            cluster.keep_logs(tmp_path_factory.mktemp("logs", numbered=True))


@pytest.mark.parametrize("history", KEPT.values(), ids=KEPT)
def test_what_is_begun_is_done(nodes: Nodes, history: History) -> None:
    nodes.begin(history)
    hits = nodes.hits
    assert problems_of(nodes, history) == []
    assert nodes.hits > hits


@pytest.mark.nightly
def test_a_command_leaves_an_index_as_it_says_on_a_cluster_that_fails(
    nodes: Nodes, request: pytest.FixtureRequest
) -> None:
    is_soak = request.config.getoption("--soak")

    @settings(
        max_examples=_SOAK if is_soak else _COUNT,
        derandomize=not is_soak,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(histories())
    def is_right(history: History) -> None:
        nodes.begin(history)
        assert problems_of(nodes, history) == []

    is_right()
