"""The nodes that other tests run against: finding, downloading, starting and stopping them."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import pytest_nodes
from tests.support.pytest_nodes import required_node
from tools.nodes import (
    RELEASES,
    Node,
    NodeError,
    NodeUnavailable,
    Release,
    container,
    download,
    java,
    local,
    start_node,
)
from tools.nodes.__main__ import main
from tools.nodes.node import NodeSpec
from tools.nodes.ports import choose_port
from tools.nodes.releases import MavenArtifact
from tools.nodes.sources import find_in_environment, split_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest_plugins = ["pytester"]

OPENSEARCH = RELEASES["opensearch"]
ELASTICSEARCH = RELEASES["elasticsearch"]
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"


# Releases and docker-compose.yml


def test_the_compose_file_and_the_releases_name_the_same_versions() -> None:
    images = {service: image for service, image in container.compose_images().items() if not service.endswith("-demo")}
    versions = {service: image.rpartition(":")[2] for service, image in images.items()}
    assert versions == {
        "elasticsearch": ELASTICSEARCH.version,
        "kibana": ELASTICSEARCH.version,
        "opensearch": OPENSEARCH.version,
        "dashboards": OPENSEARCH.version,
    }


def test_an_older_release_uses_the_compose_image_at_its_own_version() -> None:
    assert container.image_of(RELEASES["elasticsearch8"]) == "elasticsearch:8.19.8"
    assert container.image_of(RELEASES["opensearch2"]) == "opensearchproject/opensearch:2.19.6"


# Java


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


@pytest.fixture
def only_these_javas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that stands for /usr/lib/jvm, on a machine with no other Java."""
    folder = tmp_path / "jvm"
    folder.mkdir()
    for variable in [name for name in os.environ if "JAVA_HOME" in name]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("PATH", str(tmp_path / "no-programs"))
    monkeypatch.setattr(java, "_SYSTEM_JAVAS", folder)
    monkeypatch.setattr(java, "server_account", dict)  # `nobody` cannot enter a test's folder
    return folder


def install_java(home: Path, version: str) -> None:
    write_program(home / "bin" / "java", f"echo 'openjdk version \"{version}\"' >&2")


def write_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_the_first_java_that_the_release_runs_on_is_taken(only_these_javas: Path) -> None:
    for version in ("17.0.1", "21.0.2", "25.0.3"):
        install_java(only_these_javas / f"java-{version}", version)
    assert java.find_java(OPENSEARCH) == only_these_javas / "java-21.0.2"
    assert java.find_java(ELASTICSEARCH) == only_these_javas / "java-25.0.3"


def test_java_home_comes_before_the_systems_javas(
    only_these_javas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_java(only_these_javas / "java-25", "25.0.3")
    install_java(tmp_path / "own", "25.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "own"))
    assert java.find_java(ELASTICSEARCH) == tmp_path / "own"


def test_without_a_fitting_java_the_reason_names_what_is_wanted_and_what_was_found(
    only_these_javas: Path,
) -> None:
    install_java(only_these_javas / "java-17", "17.0.1")
    with pytest.raises(NodeUnavailable, match=r"needs Java 25 or newer and only 17 was found"):
        java.find_java(ELASTICSEARCH)


# Download and cache


class FakeMaven:
    """An `mvn` on PATH that copies a small zip to where Maven would put it, and notes that it was called."""

    def __init__(self, folder: Path) -> None:
        self.archive = folder / "server.zip"
        self.calls = folder / "calls"
        with zipfile.ZipFile(self.archive, "w") as archive:
            archive.writestr("bundle-1.2/other/big.jar", "not wanted")
            archive.writestr("bundle-1.2/server/lib/server.jar", "wanted")
            program = zipfile.ZipInfo("bundle-1.2/server/bin/start")
            program.external_attr = 0o755 << 16
            archive.writestr(program, "#!/bin/sh\n")
        target = "org/example/bundle/1.2/bundle-1.2.zip"
        write_program(
            folder / "bin" / "mvn",
            f"""
            echo "$@" >> '{self.calls}'
            for argument in "$@"; do
              case $argument in -Dmaven.repo.local=*) repository=${{argument#*=}};; esac
            done
            mkdir -p "$repository/{Path(target).parent}"
            cp '{self.archive}' "$repository/{target}"
            """,
        )

    def release(self, digest: str | None = None) -> Release:
        digest = digest or sha256(self.archive.read_bytes()).hexdigest()
        artifact = MavenArtifact("org.example:bundle:1.2", digest, megabytes=1, server_folder="bundle-1.2/server")
        return Release("example", "opensearch", "1.2", artifact, oldest_java=17)

    def times_called(self) -> int:
        return len(self.calls.read_text(encoding="utf-8").splitlines())


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMaven:
    monkeypatch.setenv("ES_SIMHASH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return FakeMaven(tmp_path)


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


def test_another_zip_of_the_same_version_gets_another_folder_in_the_cache(maven: FakeMaven) -> None:
    folder = download.server_folder(maven.release(digest="a" * 64))
    assert folder.name == "opensearch-1.2-aaaaaaaaaaaa"
    assert folder != download.server_folder(maven.release(digest="b" * 64))


def test_only_the_servers_folder_stays_and_it_is_readable_by_all_and_writable_by_none(
    maven: FakeMaven,
) -> None:
    folder = download.fetch(maven.release())
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert {name: path.stat().st_mode & 0o777 for name, path in files.items()} == {
        "lib/server.jar": 0o444,
        "bin/start": 0o555,
    }
    assert {path.name for path in folder.parent.iterdir()} == {folder.name, f"{folder.name}.lock"}


def test_a_server_is_downloaded_once(maven: FakeMaven) -> None:
    assert download.fetch(maven.release()) == download.fetch(maven.release())
    assert maven.times_called() == 1


def test_several_at_once_share_one_download(maven: FakeMaven) -> None:
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(download.fetch, [maven.release()] * 4))
    assert [folder.is_dir() for folder in folders] == [True]
    assert maven.times_called() == 1


def test_a_zip_with_another_sha256_is_refused_and_not_kept(maven: FakeMaven) -> None:
    release = maven.release(digest="0" * 64)
    with pytest.raises(NodeError, match=r"bundle-1.2.zip has the sha256 [0-9a-f]{64} and not the pinned 000"):
        download.fetch(release)
    assert not download.server_folder(release).exists()


def test_what_a_killed_download_left_is_not_taken_for_a_server(maven: FakeMaven) -> None:
    folder = download.server_folder(maven.release())
    half = folder.with_name(f"{folder.name}.partial") / "bundle-1.2" / "server"
    half.mkdir(parents=True)
    (half / "half.jar").touch()
    assert download.fetch(maven.release()) == folder
    assert not list(folder.rglob("half.jar"))
    assert not half.exists()


def test_a_download_that_maven_cannot_do_makes_the_node_unavailable(maven: FakeMaven, tmp_path: Path) -> None:
    write_program(tmp_path / "bin" / "mvn", "echo '[ERROR] Could not transfer artifact'; exit 1")
    with pytest.raises(NodeUnavailable, match=r"org.example:bundle:1.2 \(\[ERROR\] Could not transfer artifact\)"):
        download.fetch(maven.release())


# Sources


class FakeServer:
    """Answers every GET on a loopback port with `body`, as long as its `with` block lasts."""

    def __init__(self, port: int = 0) -> None:
        self.body: dict[str, Any] = {}
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(fake.body).encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with closing(FakeServer()) as server:
        yield server


def test_a_node_named_in_the_environment_is_used_and_left_running(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
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
    server: FakeServer,
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


def test_a_machine_with_no_source_says_why_for_each(only_these_javas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ES_SIMHASH_TEST_OPENSEARCH_URL", raising=False)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{only_these_javas}/docker.sock")
    with pytest.raises(NodeUnavailable) as unavailable:
        start_node("opensearch")
    assert unavailable.value.reason == (
        "there is no opensearch (3.8.0) here: ES_SIMHASH_TEST_OPENSEARCH_URL is not set; "
        "no Docker engine runs; it needs Java 21 or newer and none was found; set JAVA_HOME to one"
    )


def test_an_unknown_release_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no release 'solr'. Choose one of: opensearch, elasticsearch, "):
        start_node("solr")


def test_security_is_not_to_be_had_with_opensearch() -> None:
    with pytest.raises(NodeUnavailable, match="no security plugin"):
        start_node("opensearch", security=True)


# Docker


class FakeDocker:
    """A Docker client, its container collection and its one container, with a fake server inside."""

    def __init__(self) -> None:
        self.containers = self
        self.asked_for: dict[str, Any] = {}
        self.server: FakeServer | None = None
        self.exists = self.is_open = True

    def run(self, image: str, **options: Any) -> FakeDocker:
        self.asked_for = {"image": image, **options}
        self.start()
        return self

    def start(self) -> None:
        _, port = self.asked_for["ports"]["9200/tcp"]
        self.server = FakeServer(port)

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


# Processes, with a shell script for a server


def node_of_script(folder: Path, script: str) -> local.LocalNode:
    distribution = folder / "distribution"
    write_program(distribution / "bin" / "opensearch", script)
    (distribution / "config").mkdir()
    return local.LocalNode(NodeSpec(OPENSEARCH), Path("/no/java"), distribution)


def test_a_server_that_ends_while_starting_is_an_error_with_the_end_of_its_log(tmp_path: Path) -> None:
    node = node_of_script(tmp_path, "echo first; seq 100; echo the last words; exit 1")
    with pytest.raises(NodeError, match=r"ended while it was starting(?s:.*)\n100\nthe last words") as error:
        node.start()
    assert "first" not in str(error.value)


def test_a_server_that_neither_answers_nor_ends_is_given_up_and_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ES_SIMHASH_NODE_TIMEOUT", "1")
    monkeypatch.setattr(local, "STOP_SECONDS", 0.2)
    node = node_of_script(tmp_path, "trap '' TERM; echo pid $$; while :; do sleep 9; done")
    with pytest.raises(NodeError, match=r"within 1 seconds(?s:.*)ES_SIMHASH_NODE_TIMEOUT") as error:
        node.start()
    pid = re.search(r"pid (\d+)", str(error.value))
    assert pid is not None
    assert not process_exists(int(pid.group(1)))


def test_a_server_that_failed_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(local, "server_account", dict)  # `nobody` cannot enter a test's folder
    node = node_of_script(tmp_path, "exit 1")
    assert list(tmp_path.glob("es-simhash-opensearch-*"))
    with pytest.raises(NodeError):
        node.start()
    assert not list(tmp_path.glob("es-simhash-opensearch-*"))


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="only setpriv ties a server to its parent")
def test_a_server_does_not_outlive_a_killed_test_run(tmp_path: Path) -> None:
    program = f"""
import os, signal
from pathlib import Path
from tools.nodes import local
from tests.system.nodes.test_nodes import node_of_script

local.server_account = dict
node = node_of_script(Path({str(tmp_path)!r}), 'echo $$ > "$2"; exec sleep 60')
node._launch()
while node.pid is None:
    pass
print(node.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(container.COMPOSE_FILE.parent)},
        stdout=subprocess.PIPE,
        check=False,
    )
    assert run.returncode == -signal.SIGKILL
    assert ends_soon(int(run.stdout))


def test_a_timeout_that_is_no_number_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_SIMHASH_NODE_TIMEOUT", "soon")
    with pytest.raises(NodeError, match="ES_SIMHASH_NODE_TIMEOUT is 'soon'"):
        node_of_script(tmp_path, "").start()


def test_a_taken_port_is_refused(server: FakeServer) -> None:
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(NodeError, match=rf"Port {port} cannot be used .* Choose another one"):
        choose_port(port)


def process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ends_soon(pid: int) -> bool:
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended, _, _ = select.select([process], [], [], 30)
    os.close(process)
    return bool(ended)


# The command


def test_the_command_downloads_several_servers(
    maven: FakeMaven, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(RELEASES, "opensearch", maven.release())
    monkeypatch.setitem(RELEASES, "elasticsearch", maven.release())
    assert main(["--fetch", "opensearch", "elasticsearch"]) == 0
    assert capsys.readouterr().out == f"{download.server_folder(maven.release())}\n" * 2


def test_the_command_says_why_a_node_cannot_be_had(
    only_these_javas: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{only_these_javas}/docker.sock")
    assert main(["opensearch2", "--port", str(choose_port())]) == 1
    assert "error: there is no opensearch2 (2.19.6) here" in capsys.readouterr().err


# The fixtures

PLUGIN = ["-p", pytest_nodes.__name__]


@pytest.fixture
def machine_without_nodes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with four tests, one for each fixture, run where no node can be had."""

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


# Real nodes


@pytest.mark.parametrize("name", ["opensearch", "elasticsearch"])
def test_a_node_answers_finds_documents_keeps_them_over_a_restart_and_ends(name: str) -> None:
    # A port of our own makes it a node that we start ourselves, which may then be restarted.
    with required_node(name, port=choose_port()) as node:
        assert node.request("GET", "/").body["version"]["number"] == node.release.version
        assert node.request("PUT", "/books/_doc/1?refresh=true", {"title": "Nearest Neighbours"}).status == 201
        assert found(node, "neighbours") == ["1"]
        url = node.url
        first_pid = node.pid
        node.restart()
        assert node.url == url
        assert found(node, "neighbours") == ["1"]
        last_pid = node.pid
    assert not node.is_running()
    if node.source == "maven":
        assert first_pid is not None
        assert last_pid is not None
        assert first_pid != last_pid
        assert not process_exists(first_pid)
        assert not process_exists(last_pid)


def found(node: Node, word: str) -> list[str]:
    hits = node.request("POST", "/books/_search", {"query": {"match": {"title": word}}}).body["hits"]["hits"]
    return [hit["_id"] for hit in hits]


def test_elasticsearch_with_security_answers_only_to_its_password(guarded_node: Node) -> None:
    assert guarded_node.password
    assert guarded_node.request("GET", "/", anonymous=True).status == 401
    assert guarded_node.request("GET", "/").status == 200
