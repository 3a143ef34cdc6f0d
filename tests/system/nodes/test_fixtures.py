"""The fixtures that lend nodes to tests, and the nodes that they lend."""

from __future__ import annotations

import pytest

from tests.support import pytest_nodes
from tests.support.pytest_nodes import process_exists
from tools.nodes import RELEASES, Node, NodeUnavailable

pytest_plugins = ["pytester"]

PLUGIN = ["-p", pytest_nodes.__name__]


@pytest.fixture
def machine_without_nodes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return a folder with four tests, one for each fixture, run where no node can be had."""

    def unavailable(name: str, *, security: bool = False, port: int | None = None, settings: object = None) -> None:
        raise NodeUnavailable(f"there is no {name} here")

    monkeypatch.setattr(pytest_nodes, "start_node", unavailable)
    for variable in ("CI", "ES_SIMHASH_TEST_NODES"):
        monkeypatch.delenv(variable, raising=False)
    fixtures = [f"{name}_node" for name in RELEASES]
    pytester.makepyfile("\n".join(f"def test_{fixture}({fixture}): pass" for fixture in fixtures))
    return pytester


def test_nodes_can_be_left_out_even_under_ci(
    machine_without_nodes: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("ES_SIMHASH_TEST_NODES", "none")
    result = machine_without_nodes.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(skipped=2, deselected=2)
    result.stdout.fnmatch_lines(["*what was not there*", "*ES_SIMHASH_TEST_NODES=none*"])


def test_a_missing_node_skips_its_tests_and_is_listed_at_the_end(
    machine_without_nodes: pytest.Pytester,
) -> None:
    result = machine_without_nodes.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(skipped=2, deselected=2)
    result.stdout.fnmatch_lines(["*what was not there*", "NOT TESTED: there is no opensearch here (1 skipped)"])
    result.stdout.no_fnmatch_line("NOT TESTED: there is no opensearch2 here*")


def test_under_ci_a_missing_main_node_is_a_failure(
    machine_without_nodes: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    machine_without_nodes.runpytest_inprocess(*PLUGIN).assert_outcomes(errors=2, deselected=2)


def test_the_older_releases_are_tried_with_all_nodes(machine_without_nodes: pytest.Pytester) -> None:
    result = machine_without_nodes.runpytest_inprocess(*PLUGIN, "--all-nodes")
    result.assert_outcomes(skipped=4)
    result.stdout.fnmatch_lines(["NOT TESTED: there is no opensearch2 here (1 skipped)"])


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["small_opensearch_node", "guarded_node"])
def test_a_node_answers_finds_documents_and_keeps_them_over_a_restart(
    name: str, request: pytest.FixtureRequest
) -> None:
    node: Node = request.getfixturevalue(name)
    assert node.request("GET", "/").body["version"]["number"] == node.release.version
    assert node.request("PUT", "/books/_doc/1?refresh=true", {"title": "Nearest Neighbours"}).status == 201
    assert found(node, "neighbours") == ["1"]
    url, first_pid = node.url, node.pid
    node.restart()
    assert node.url == url
    assert found(node, "neighbours") == ["1"]
    node.request("DELETE", "/books")
    if node.source == "maven":
        assert first_pid is not None
        assert node.pid is not None
        assert first_pid != node.pid
        assert not process_exists(first_pid)


def found(node: Node, word: str) -> list[str]:
    hits = node.request("POST", "/books/_search", {"query": {"match": {"title": word}}}).body["hits"]["hits"]
    return [hit["_id"] for hit in hits]


def test_elasticsearch_with_security_answers_only_to_its_password(guarded_node: Node) -> None:
    assert guarded_node.password
    assert guarded_node.request("GET", "/", anonymous=True).status == 401
    assert guarded_node.request("GET", "/").status == 200
