"""Nodes: releases, versions of Java, sources and containers, as far as they need no process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.http_server import Answer, listening
from tools.nodes import RELEASES, NodeError, NodeUnavailable, container, download, java, machine, start_node
from tools.nodes.launch import Layout, remove_agent
from tools.nodes.machine import choose_port
from tools.nodes.node import NodeSpec
from tools.nodes.sources import find_in_environment, split_credentials

OPENSEARCH = RELEASES["opensearch"]
ELASTICSEARCH = RELEASES["elasticsearch"]
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"


def test_the_compose_file_and_the_releases_name_the_same_versions() -> None:
    images = {service: image.rpartition(":")[2] for service, image in container.compose_images().items()}
    versions = {service: version for service, version in images.items() if not service.endswith(("-demo", "-gate"))}
    assert versions == {
        "elasticsearch": ELASTICSEARCH.version,
        "kibana": ELASTICSEARCH.version,
        "opensearch": OPENSEARCH.version,
        "dashboards": OPENSEARCH.version,
    }


def test_an_older_release_uses_the_compose_image_at_its_own_version() -> None:
    assert container.image_of(RELEASES["elasticsearch8"]) == "elasticsearch:8.19.8"
    assert container.image_of(RELEASES["opensearch2"]) == "opensearchproject/opensearch:2.19.6"


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "25" 2025-09-16 LTS', 25),
        ('openjdk version "26-ea" 2026-03-17', 26),
        ('java version "1.8.0_402"', 8),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21.0.2" 2024-01-16', 21),
        ("bash: java: command not found", None),
    ],
)
def test_the_java_version_is_read_from_what_java_prints(printed: str, version: int | None) -> None:
    assert java.parse_java_version(printed) == version


@pytest.mark.parametrize(
    ("name", "fitting", "unfitting"),
    [("opensearch", 21, 17), ("elasticsearch", 25, 24), ("elasticsearch8", 17, 11), ("opensearch2", 17, 24)],
)
def test_a_release_runs_on_some_java_versions_only(name: str, fitting: int, unfitting: int) -> None:
    assert RELEASES[name].runs_on_java(fitting)
    assert not RELEASES[name].runs_on_java(unfitting)


def test_the_cache_is_the_own_variable_then_the_users_cache_directory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    monkeypatch.setenv("ES_SIMHASH_CACHE", "/own")
    assert download.cache_folder() == Path("/own/nodes")
    monkeypatch.delenv("ES_SIMHASH_CACHE")
    assert download.cache_folder() == Path("/xdg/es-simhash/nodes")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert download.cache_folder() == Path("/home/me/.cache/es-simhash/nodes")


class Engine:
    """A server on a loopback port that answers everything with ``body``."""

    def __init__(self, port: int = 0) -> None:
        self.body: dict[str, Any] = {}
        self._stack = ExitStack()
        self.url = self._stack.enter_context(listening(lambda _: Answer(self.body), port=port))
        self.close = self._stack.close


@pytest.fixture
def server() -> Iterator[Engine]:
    server = Engine()
    yield server
    server.close()


def test_a_node_named_in_the_environment_is_used_and_left_running(
    server: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.body["version"] = {"number": "3.9.1", "distribution": "opensearch"}
    monkeypatch.setenv("ES_SIMHASH_TEST_OPENSEARCH_URL", server.url)
    with start_node("opensearch") as node:
        assert (node.source, node.url, node.pid) == ("environment", server.url, None)
        with pytest.raises(NodeError, match="cannot be restarted"):
            node.restart()
    assert node.is_running()


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ({"number": "9.4.3"}, "elasticsearch 9"),
        ({"number": "2.19.6", "distribution": "opensearch"}, "opensearch 2"),
        (None, "no search engine"),
    ],
)
def test_a_node_in_the_environment_that_runs_something_else_is_an_error(
    server: Engine,
    monkeypatch: pytest.MonkeyPatch,
    version: dict[str, str] | None,
    found: str,
) -> None:
    server.body["version"] = version
    monkeypatch.setenv("ES_SIMHASH_TEST_OPENSEARCH_URL", server.url)
    with pytest.raises(NodeError, match=f"is {found}.*, not opensearch 3"):
        start_node("opensearch")


def test_an_address_in_the_environment_where_nothing_answers_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ES_SIMHASH_TEST_ELASTICSEARCH8_URL", f"http://127.0.0.1:{choose_port()}")
    with pytest.raises(NodeError, match=r"Nothing answers at .* unset ES_SIMHASH_TEST_ELASTICSEARCH8_URL"):
        start_node("elasticsearch8")


def test_a_node_with_settings_of_its_own_is_not_taken_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ES_SIMHASH_TEST_OPENSEARCH_URL", "http://127.0.0.1:9200")
    with pytest.raises(NodeUnavailable, match="cannot be given settings of our own"):
        find_in_environment(NodeSpec(OPENSEARCH, {"cluster.name": "mine"}))


@pytest.mark.parametrize(
    ("address", "url", "credentials"),
    [
        ("http://127.0.0.1:9200/", "http://127.0.0.1:9200", None),
        ("https://elastic:p%40ss@search.example:9243", "https://search.example:9243", ("elastic", "p@ss")),
    ],
)
def test_credentials_are_taken_out_of_a_url(address: str, url: str, credentials: tuple[str, str] | None) -> None:
    assert split_credentials(address) == (url, credentials)


def test_an_unknown_release_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no release 'solr'. Choose one of: opensearch, elasticsearch, "):
        start_node("solr")


class FakeDocker:
    """A Docker client, its container collection and its one container, with a fake server inside."""

    def __init__(self) -> None:
        self.containers = self
        self.asked_for: dict[str, Any] = {}
        self.server: Engine | None = None
        self.exists = self.is_open = True

    def run(self, image: str, **options: Any) -> FakeDocker:
        self.asked_for = {"image": image, **options}
        self.start()
        return self

    def start(self) -> None:
        _, port = self.asked_for["ports"]["9200/tcp"]
        self.server = Engine(port)

    def reload(self) -> None:
        self.status = "running" if self.server else "exited"

    def stop(self, timeout: int) -> None:
        assert timeout > 0
        if self.server:
            self.server.close()
        self.server = None

    def remove(self, *, force: bool, v: bool) -> None:
        assert force
        assert v
        self.exists = False

    def close(self) -> None:
        self.is_open = False


def test_a_container_is_started_with_the_settings_restarted_and_removed_with_its_data() -> None:
    client = FakeDocker()
    spec = NodeSpec(RELEASES["elasticsearch8"], {"cluster.name": "mine"}, password="secret", heap="256m")
    node = container.ContainerNode(spec, client)
    node.start()
    assert client.asked_for["image"] == "elasticsearch:8.19.8"
    assert client.asked_for["ports"] == {"9200/tcp": ("127.0.0.1", int(node.url.rpartition(":")[2]))}
    assert client.asked_for["environment"] == {
        "cluster.name": "mine",
        "node.name": "elasticsearch8",
        "discovery.type": "single-node",
        "cluster.routing.allocation.disk.threshold_enabled": "false",
        "xpack.security.enabled": "true",
        "xpack.security.http.ssl.enabled": "false",
        "ELASTIC_PASSWORD": "secret",
        "ES_JAVA_OPTS": f"-Xms256m -Xmx256m {QUICK} -Des.queryable_built_in_roles_enabled=false",
    }
    node.restart()
    assert node.is_running()
    node.stop()
    assert not node.is_running()
    assert not client.exists
    assert not client.is_open


def test_opensearch_in_a_container_has_no_security_plugin() -> None:
    environment = container.container_environment(NodeSpec(OPENSEARCH))
    assert environment["DISABLE_SECURITY_PLUGIN"] == "true"
    assert environment["OPENSEARCH_JAVA_OPTS"] == f"-Xms512m -Xmx512m {QUICK}"


def test_no_client_is_given_a_port_before_its_server_listens() -> None:
    given_to_clients = Path("/proc/sys/net/ipv4/ip_local_port_range")
    if not given_to_clients.exists() or (first := int(given_to_clients.read_text().split()[0])) < 32_768:
        pytest.skip("Clients are given other ports here.")
    assert all(choose_port() < first for _ in range(20))


def test_a_taken_port_is_refused(server: Engine) -> None:
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(NodeError, match=rf"Port {port} cannot be used .* Choose another one"):
        choose_port(port)


def test_the_agent_is_removed_and_its_classes_are_kept(tmp_path: Path) -> None:
    layout = Layout(tmp_path, tmp_path / "data")
    for folder in (layout.config, layout.home / "agent"):
        folder.mkdir(parents=True)
    (layout.home / "agent" / "opensearch-agent-bootstrap-3.8.0.jar").touch()
    options = layout.config / "jvm.options"
    options.write_text("-Xms1g\n21-:-javaagent:agent/opensearch-agent.jar\n")
    remove_agent(layout)
    assert options.read_text() == "-Xms1g\n21-:-Xbootclasspath/a:agent/opensearch-agent-bootstrap-3.8.0.jar\n"


@pytest.mark.parametrize(("free", "has_room"), [(3 << 30, True), (64 << 20, False)])
def test_data_is_in_memory_where_there_is_room(
    free: int, has_room: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_MEMORY", tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    assert machine.memory_folder() == (tmp_path if has_room else None)


def test_where_no_folder_is_in_memory_the_disk_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_MEMORY", tmp_path / "missing")
    assert machine.memory_folder() is None
