"""Fixtures that lend one running node of each release to a whole test session.

A test asks for `opensearch_node` or `elasticsearch_node`, and where this machine has no such node the test
is skipped with a message; a run with CI=true fails instead. `elasticsearch8_node` and `opensearch2_node` are left out
unless --all-nodes is given. `guarded_node` is an Elasticsearch with logins, `secured_node` an OpenSearch with logins
and TLS, and `small_opensearch_node` an OpenSearch that is easily overloaded and runs no scripts. The tests start these
themselves, and may restart them.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import pytest

from tools.nodes.cluster import Cluster, start_cluster
from tools.nodes.node import Node, NodeUnavailable
from tools.nodes.sources import start_node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tools.nodes.node import Setting

Started = TypeVar("Started")

# A write queue of one request, memory for a large document, which takes four times its length, and frequent checks of
# the disk.
SMALL: dict[str, Setting] = {
    "thread_pool.write.size": 1,
    "thread_pool.write.queue_size": 1,
    "indexing_pressure.memory.limit": "60%",
    "cluster.info.update.interval": "10s",
}

_NOT_TESTED = "NOT TESTED: "
_ADDITIONAL = {"elasticsearch8_node", "opensearch2_node"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-nodes", action="store_true", help="also test with Elasticsearch 8 and OpenSearch 2")


@pytest.fixture(scope="session")
def opensearch_node() -> Iterator[Node]:
    with required_node("opensearch") as node:
        yield node


@pytest.fixture(scope="session")
def elasticsearch_node() -> Iterator[Node]:
    with required_node("elasticsearch") as node:
        yield node


@pytest.fixture(scope="session")
def guarded_node() -> Iterator[Node]:
    with own_node("elasticsearch", security=True) as node:
        # A role can hide fields with more than the basic licence only.
        node.request("POST", "/_license/start_trial?acknowledge=true")
        yield node


@pytest.fixture(scope="session")
def secured_node() -> Iterator[Node]:
    with own_node("opensearch", security=True) as node:
        yield node


@pytest.fixture(scope="session")
def small_opensearch_node() -> Iterator[Node]:
    with own_node("opensearch", settings={**SMALL, "script.allowed_types": "none"}) as node:
        yield node


@pytest.fixture(scope="session")
def elasticsearch8_node() -> Iterator[Node]:
    with required_node("elasticsearch8") as node:
        yield node


@pytest.fixture(scope="session")
def opensearch2_node() -> Iterator[Node]:
    with required_node("opensearch2") as node:
        yield node


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests on additional nodes, unless they are asked for."""
    if config.getoption("--all-nodes"):
        return
    additional = [item for item in items if _ADDITIONAL & set(getattr(item, "fixturenames", ()))]
    if additional:
        config.hook.pytest_deselected(items=additional)
        items[:] = [item for item in items if item not in additional]


def required_node(
    name: str, *, settings: Mapping[str, Setting] | None = None, security: bool = False, port: int | None = None
) -> Node:
    """Start a node that every complete run has: without it the test is skipped, and fails under CI.

    With ES_SIMHASH_TEST_NODES=none nodes are left out on purpose.
    """
    return _required(lambda: start_node(name, settings=settings, security=security, port=port))


def _required(start: Callable[[], Started]) -> Started:
    if os.environ.get("ES_SIMHASH_TEST_NODES") == "none":
        pytest.skip(f"{_NOT_TESTED}ES_SIMHASH_TEST_NODES=none")
    try:
        return start()
    except NodeUnavailable as unavailable:
        if os.environ.get("CI") == "true":
            pytest.fail(unavailable.reason, pytrace=False)
        pytest.skip(_NOT_TESTED + unavailable.reason)


def required_cluster(name: str) -> Cluster:
    """Start a cluster of three nodes that every complete run has, as `required_node` does."""
    return _required(lambda: start_cluster(name))


@contextmanager
def own_node(name: str, *, settings: Mapping[str, Setting] | None = None, security: bool = False) -> Iterator[Node]:
    """Start a node with settings or logins of its own, and check that nothing of it is left in the end."""
    with required_node(name, settings=settings, security=security) as node:
        yield node
        pid = node.pid
    assert not node.is_running()
    assert pid is None or not process_exists(pid)


def process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the nodes that were missing, once each, with the number of tests that were skipped for it."""
    missing = Counter(
        reason
        for report in terminalreporter.stats.get("skipped", [])
        if (reason := str(report.longrepr[2]).removeprefix("Skipped: ")).startswith(_NOT_TESTED)
    )
    if missing:
        terminalreporter.section("what was not there", sep="=", red=True)
    for reason, tests in missing.items():
        terminalreporter.write_line(f"{reason} ({tests} skipped)", red=True)
