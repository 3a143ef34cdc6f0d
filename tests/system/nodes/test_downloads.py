"""Java is found, and servers are downloaded once, and checked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.system.nodes.conftest import FakeMaven, write_program
from tools.nodes import RELEASES, NodeError, NodeUnavailable, download, java, start_node
from tools.nodes.__main__ import main
from tools.nodes.machine import choose_port

OPENSEARCH = RELEASES["opensearch"]
ELASTICSEARCH = RELEASES["elasticsearch"]


def install_java(home: Path, version: str) -> None:
    write_program(home / "bin" / "java", f"echo 'openjdk version \"{version}\"' >&2")


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


def test_a_machine_with_no_source_says_why_for_each(only_these_javas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ES_SIMHASH_TEST_OPENSEARCH_URL", raising=False)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{only_these_javas}/docker.sock")
    with pytest.raises(NodeUnavailable) as unavailable:
        start_node("opensearch")
    assert unavailable.value.reason == (
        "there is no opensearch (3.8.0) here: ES_SIMHASH_TEST_OPENSEARCH_URL is not set; "
        "no Docker engine runs; it needs Java 21 or newer and none was found; set JAVA_HOME to one"
    )


def test_an_opensearch_with_logins_is_made_here_from_the_version_that_has_the_plugin(
    only_these_javas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ES_SIMHASH_TEST_OPENSEARCH_URL", "http://127.0.0.1:1")
    with pytest.raises(NodeUnavailable) as unavailable:
        start_node("opensearch", security=True)
    assert unavailable.value.reason == (
        "there is no opensearch (2.19.1) here: the node at ES_SIMHASH_TEST_OPENSEARCH_URL cannot be given settings of "
        "our own; certificates and logins are made for a server from Maven Central only; "
        "it needs Java 17 to 23 and none was found; set JAVA_HOME to one"
    )


def test_a_plugin_is_unpacked_into_the_server_and_its_sha256_is_in_the_folders_name(maven: FakeMaven) -> None:
    plain = maven.release()
    extended = replace(plain, plugins=(replace(plain.artifact, server_folder=""),))
    folder = download.fetch(extended)
    assert (folder / "plugins" / "bundle" / "bundle-1.2" / "server" / "lib" / "server.jar").is_file()
    assert folder != download.server_folder(plain)


def test_a_plugin_with_another_sha256_is_refused(maven: FakeMaven) -> None:
    plain = maven.release()
    release = replace(plain, plugins=(replace(plain.artifact, sha256="0" * 64),))
    with pytest.raises(NodeError, match="and not the pinned 000"):
        download.fetch(release)
    assert not download.server_folder(release).exists()


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
