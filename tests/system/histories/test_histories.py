"""Whatever others do in the meantime, and whatever happens to requests: commands leave an index as they say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from es_simhash.engines.connect import connect
from tests.support.nightly import is_nightly, rest_at_night
from tests.support.whole_indices import ENGINES
from tests.system.histories.drawing import histories, rolling_histories
from tests.system.histories.embedded import Directory
from tests.system.histories.history import Behind, Event, Fault, History, Shape, Start, Upset, Write
from tests.system.histories.running import problems_of
from tests.system.histories.target import Target
from tests.system.histories.verbs import ADDING, ROLLING, VERBS
from tests.system.histories.wire import Server, wire
from tools.nodes import Node

# How many histories of each command there are on each server, and how many times as many at night and with --soak.
COUNTS = {
    "backfill": 4,
    "refresh-stale": 3,
    "slices": 3,
    "remove": 2,
    "reindex": 3,
    "group": 2,
    "incremental": 2,
    "decide": 3,
    "add": 3,
    "load": 4,
    "gate": 2,
    "distinct": 2,
    "pipeline": 2,
}
_NIGHTLY, _SOAK = 8, 160
_NOT_EMBEDDED = {"slices", "incremental", "gate", "distinct", "pipeline"}

# Those that ended badly once, by what happens in them.
KEPT = {
    "a text changes while a backfill looks for changes": History(
        "backfill", (Start("done"), Start("plain")), (Event(2, Write("text", 0), kind="/_stats?level=shards"),)
    ),
    "texts change while a backfill takes its note away": History(
        "refresh-stale",
        (Start(routed=True), Start(), Start(), Start()),
        (
            Event(1, Write("number", 11), times=10, kind="/_bulk"),
            Event(3, Fault.LATE, kind="/_bulk"),
            Event(11, Write("copy", 8)),
            Event(4, Write("text", 2), times=40, kind="/_mapping"),
            Event(2, Fault.LATE, times=4),
            Event(5, Write("copy", 2), times=3),
        ),
        Shape(shards=2, dynamic=False),
    ),
    "some documents of a load are refused for now": History(
        "load", (Start(),) * 4, (Event(1, Fault.BUSY_ITEMS, kind="/_bulk"),)
    ),
    "actions are refused for now, and others are on the same documents": History(
        "add", (Start(),) * 7, (Event(1, Fault.UNAVAILABLE, times=4, kind="/_bulk"),)
    ),
    **{
        f"a {kind} rolls over when the reply to a bulk of a {verb} is lost": History(
            verb,
            (Start(),) * 9,
            # Before the bulk is sent again, or before it is looked up what became of it.
            (
                Event(2, Fault.LOST_REPLY, kind="/_bulk"),
                Event(3, Upset.ROLLOVER, kind="/_bulk"),
                Event(1, Upset.ROLLOVER, kind="/_refresh"),
            ),
            Shape(behind=kind),
        )
        for verb in ADDING
        for kind in get_args(Behind)[1:]
    },
}


@pytest.fixture(params=ENGINES[1:], scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[Target]:
    node: Node = request.getfixturevalue(f"{request.param}_node")
    engine = connect(node.url)
    with wire(node) as way:
        yield Server(node, way, engine)
    engine.close()


@pytest.mark.parametrize("history", KEPT.values(), ids=KEPT)
def test_what_ended_badly_once_ends_well(server: Server, history: History) -> None:
    skip_if_missing(server, history.shape.behind)
    assert problems_of(server, history) == []


@pytest.mark.parametrize("verb", COUNTS)
def test_a_command_leaves_an_index_as_it_says(server: Server, verb: str, request: pytest.FixtureRequest) -> None:
    hold(server, verb, COUNTS[verb] * times(request.config), is_soak=request.config.getoption("--soak"))


@pytest.mark.parametrize("behind", ["alias", "stream"])
@pytest.mark.parametrize("verb", rest_at_night(ROLLING, quick=ADDING))
def test_so_it_does_by_a_name_that_rolls_over(
    server: Server, verb: str, behind: Behind, request: pytest.FixtureRequest
) -> None:
    skip_if_missing(server, behind)
    drawn = rolling_histories(verb, VERBS[verb].requests, VERBS[verb].states, behind)
    hold(server, verb, times(request.config), is_soak=request.config.getoption("--soak"), drawn=drawn)


@pytest.mark.parametrize("verb", [verb for verb in COUNTS if verb not in _NOT_EMBEDDED])
def test_so_it_does_with_the_embedded_engine(verb: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    hold(Directory(tmp_path), verb, COUNTS[verb] * times(request.config), is_soak=request.config.getoption("--soak"))


def skip_if_missing(server: Server, behind: Behind) -> None:
    if behind == "stream" and not server.has_streams:
        pytest.skip("this build of Elasticsearch has no data streams")


def times(config: pytest.Config) -> int:
    """How many times as many histories there is time for."""
    if config.getoption("--soak"):
        return _SOAK
    return _NIGHTLY if is_nightly(config) else 1


def hold(target: Target, verb: str, count: int, is_soak: bool, drawn: st.SearchStrategy[History] | None = None) -> None:
    """Hold that nothing is wrong after each of many histories."""
    if drawn is None:
        drawn = histories(verb, VERBS[verb].requests, VERBS[verb].states, VERBS[verb].says)

    @settings(
        max_examples=count,
        derandomize=not is_soak,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(drawn)
    def is_right(history: History) -> None:
        assert problems_of(target, history) == []

    is_right()
