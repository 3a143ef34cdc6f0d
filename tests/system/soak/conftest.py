"""What the long runs share: how long they are, indices, and commands that do not outlive their tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from tests.support.nightly import is_nightly
from tests.system.soak.command import Command
from tests.system.soak.live_index import LiveIndex
from tools.nodes import Node


class Scale(NamedTuple):
    """How many documents an index has, how often a run over it is killed, and how often one ends soon after others.

    A run that others are to meet takes at least these seconds.
    """

    documents: int
    kills: int
    ends: int
    seconds: int


QUICK, NIGHTLY, FULL = Scale(1_000, 2, 1, 4), Scale(3_000, 4, 2, 12), Scale(200_000, 20, 25, 12)

Begin: TypeAlias = Callable[..., Command]
Fill: TypeAlias = Callable[..., LiveIndex]


@pytest.fixture(scope="session")
def scale(request: pytest.FixtureRequest) -> Scale:
    if request.config.getoption("--soak"):
        return FULL
    return NIGHTLY if is_nightly(request.config) else QUICK


@pytest.fixture(params=["elasticsearch_node", "opensearch_node"])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(request.param)
    return node


@pytest.fixture
def fill(scale: Scale) -> Iterator[Fill]:
    """Make an index on a node, with a number of documents that is by default that of the scale."""
    made: list[LiveIndex] = []

    def fill(node: Node, count: int = scale.documents, shards: int = 2) -> LiveIndex:
        made.append(LiveIndex(node, count))
        made[-1].fill(shards)
        return made[-1]

    yield fill
    for index in made:
        index.delete()


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """What begins a backfill."""
    begun: list[Command] = []

    def begin(index: LiveIndex, *options: str) -> Command:
        begun.append(Command(index, tmp_path, *options))
        return begun[-1]

    yield begin
    for command in begun:
        command.stop()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: only in the full form")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, unless the full form is asked for."""
    if config.getoption("--soak"):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
