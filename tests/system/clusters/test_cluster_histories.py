"""Whatever happens to the nodes of a cluster: commands leave an index as they say, and do not give up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Verbosity, given, settings

from tests.support.pytest_nodes import required_cluster
from tests.system.clusters.drawing import histories
from tests.system.clusters.nodes import Nodes
from tests.system.histories.history import Behind, Blow, Event, Fault, History, Shape, Start, Upset, Write
from tests.system.histories.running import problems_of
from tests.system.histories.wire import wire

_COUNT, _SOAK = 4, 400
_SHAPE = Shape(shards=2, replicas=1)
_SOME = (Start("plain"), Start("stale"), Start("done"), Start("deferred"), Start("plain", routed=True)) * 3
_ROLLOVERS: dict[Behind, str] = {"alias": "an alias rolls over", "stream": "a data stream rolls over"}

# What must not happen to each command, in one history: `make test` has time for the first.
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
    "a gate adds documents, and the primary is killed between a bulk's send and its reply": History(
        "gate", (Start(),) * 9, (Event(2, Fault.FAILOVER, kind="/_bulk"),), _SHAPE
    ),
    **{
        f"{what} when the reply to a bulk of a {verb} is lost, while the primary is killed": History(
            verb,
            (Start(),) * 9,
            (
                Event(1, Fault.FAILOVER, kind="/_bulk"),
                Event(2, Fault.LOST_REPLY, kind="/_bulk"),
                # Before the bulk is sent again, or before it is looked up what became of it.
                Event(3, Upset.ROLLOVER, kind="/_bulk"),
                Event(1, Upset.ROLLOVER, kind="/_refresh"),
            ),
            replace(_SHAPE, behind=behind),
        )
        for verb in ("load", "gate")
        for behind, what in _ROLLOVERS.items()
    },
    "groups of a data stream that rolls over are written while a node is cut off": History(
        "group",
        (Start("done"),) * 12,
        (Event(1, Upset.ROLLOVER), Event(1, Blow.ISOLATE, kind="/_bulk")),
        replace(_SHAPE, behind="stream"),
    ),
    "groups are written while a node is cut off, and another joins": History(
        "group", (Start("done"),) * 12, (Event(2, Blow.JOIN), Event(1, Blow.ISOLATE, kind="/_bulk")), _SHAPE
    ),
    "people decide while the node with a primary is killed, and another time when it is cut off": History(
        "decide",
        (Start("done"),) * 12,
        (Event(3, Fault.FAILOVER, kind="/_bulk"), Event(2, Blow.ISOLATE, kind="/_search")),
        _SHAPE,
    ),
    "distinct hits are read while a node joins, and the one with a primary is killed": History(
        "distinct", (Start("done"),) * 12, (Event(1, Blow.JOIN), Event(4, Blow.KILL, kind="/_search")), _SHAPE
    ),
    "documents are added while a node does not hear another": History(
        "add",
        (Start("plain", False),) * 6,
        (Event(4, Blow.SILENCE, kind="/"),),
        Shape(1, False, replicas=1, behind="index"),
    ),
    "an alias rolls over in a backfill, and the primary is killed between a bulk's send and its reply": History(
        "backfill",
        _SOME,
        (Event(1, Upset.ROLLOVER), Event(2, Fault.FAILOVER, kind="/_bulk")),
        replace(_SHAPE, behind="alias"),
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


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(each, id=name, marks=pytest.mark.nightly if number else ())
        for number, (name, each) in enumerate(KEPT.items())
    ],
)
def test_what_is_begun_is_done(nodes: Nodes, history: History) -> None:
    if history.shape.behind == "stream" and not nodes.has_streams:
        pytest.skip("this build of Elasticsearch has no data streams")
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
        verbosity=Verbosity.verbose if is_soak else Verbosity.normal,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(histories(nodes.has_streams))
    def is_right(history: History) -> None:
        nodes.begin(history)
        assert problems_of(nodes, history) == []

    is_right()
