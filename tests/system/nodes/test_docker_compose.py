"""docker-compose.yml, and what it builds and runs, hold together, as far as can be checked without Docker."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

from es_simhash.cli.reports.dashboards import Subject
from tests.support.cli_lines import check_line
from tests.support.fake_kibana import kibana
from tools.nodes import Node
from tools.nodes.container import COMPOSE_FILE

ROOT = COMPOSE_FILE.parent
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE_FILE.read_text(encoding="utf-8"))["services"]
TOP = yaml.safe_load(COMPOSE_FILE.read_text(encoding="utf-8"))
DEMOS = {name: service for name, service in SERVICES.items() if name.endswith("-demo")}
GATES = {name: service for name, service in SERVICES.items() if name.endswith("-gate")}
SCRIPT = ROOT / "compose" / "demo.sh"
DOCKERFILE = (ROOT / "compose" / "Dockerfile").read_text(encoding="utf-8")
COMMANDS = [line for line in SCRIPT.read_text(encoding="utf-8").splitlines() if "es-simhash " in line]
KEYS = {
    "image",
    "build",
    "profiles",
    "environment",
    "ports",
    "volumes",
    "healthcheck",
    "depends_on",
    "restart",
    "command",
}
PROFILES = ("elasticsearch", "opensearch")


def test_the_file_has_only_what_compose_knows() -> None:
    assert {name for name in TOP if not name.startswith("x-")} == {"services", "volumes"}
    for service in SERVICES.values():
        assert set(service) <= KEYS
        assert all(isinstance(value, str) for value in service["environment"].values())
    for name, check in (
        (name, service["healthcheck"]) for name, service in SERVICES.items() if name not in DEMOS | GATES
    ):
        assert set(check) == {"interval", "timeout", "retries", "test"}, name
        assert check["test"].startswith("curl --fail --silent ")


def test_every_image_is_of_one_version() -> None:
    for service in SERVICES.values():
        version = r"local" if "build" in service else r"\$\{\w+_VERSION:-\d+\.\d+\.\d+\}"
        assert re.fullmatch(f"[a-z/-]+:{version}", service["image"])


def test_servers_are_reached_from_this_machine_only_and_each_at_a_port_of_its_own() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert len(ports) == len(SERVICES) - len(DEMOS)
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in ports)
    assert len({port.split(":")[1] for port in ports}) == len(ports)


def test_every_volume_is_declared() -> None:
    used = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert used == set(TOP["volumes"])


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_waits_for_healthy_ones_of_its_own_profile(name: str) -> None:
    service = SERVICES[name]
    assert len(service["profiles"]) == 1
    for other, how in service.get("depends_on", {}).items():
        assert SERVICES[other]["profiles"] == service["profiles"]
        is_run_once = other in DEMOS
        assert how == {"condition": "service_completed_successfully" if is_run_once else "service_healthy"}
        assert is_run_once or "healthcheck" in SERVICES[other]


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_has_an_engine_its_ui_and_the_demo(profile: str) -> None:
    own = [name for name, service in SERVICES.items() if service["profiles"] == [profile] and name not in GATES]
    assert len(own) == 3
    (demo,) = set(own) & set(DEMOS)
    given = DEMOS[demo]["environment"]
    engine, ui = (re.fullmatch(r"http://(\w+):(\d+)", given[name]) for name in ("ES_SIMHASH_URL", "KIBANA_URL"))
    assert engine
    assert ui
    assert {engine[1], ui[1]} == set(DEMOS[demo]["depends_on"]) == set(own) - {demo}
    # The container's port, and that at which people find it.
    for found, place in ((engine, None), (ui, given["OPEN_AT"])):
        (port,) = SERVICES[found[1]]["ports"]
        host, outside, inside = port.split(":")
        assert inside == found[2]
        assert place in (None, f"http://{host}:{outside}")
    assert DEMOS[demo]["restart"] == "no"


def test_the_head_of_the_file_names_every_profile_demo_and_port() -> None:
    head = COMPOSE_FILE.read_text(encoding="utf-8").split("x-check")[0]
    assert set(re.findall(r"--profile (\w+) up", head)) == set(PROFILES)
    assert set(re.findall(r"\b(\w+-demo)\b", head)) == set(DEMOS)
    assert set(re.findall(r"\b(\w+-gate)\b", head)) == set(GATES)
    published = {":".join(port.split(":")[:2]) for each in SERVICES.values() for port in each.get("ports", [])}
    assert set(re.findall(r"http://(127\.0\.0\.1:\d+)", head)) == published


@pytest.mark.parametrize("name", GATES)
def test_a_gate_is_one_of_the_demo_with_a_token_and_a_folder_that_it_may_write(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, engine = GATES[name], name.removesuffix("-gate")
    check_line(shlex.join(gate["command"]), tmp_path, monkeypatch)
    assert gate["environment"]["ES_SIMHASH_URL"] == DEMOS[f"{engine}-demo"]["environment"]["ES_SIMHASH_URL"]
    assert gate["environment"]["ES_SIMHASH_GATE_TOKEN"] == "${ES_SIMHASH_GATE_TOKEN:-try-me}"
    assert gate["volumes"] == [f"{name}:/state"]
    assert gate["ports"][0].endswith(":9280")
    assert "mkdir /state && chown nobody /state" in DOCKERFILE


# ---- what is built


def copied() -> list[str]:
    """Return the paths that the Dockerfile copies."""
    lines = [line.split()[1:-1] for line in DOCKERFILE.splitlines() if line.startswith("COPY ")]
    return [path for line in lines for path in line]


def test_the_image_is_built_of_files_that_are_sent() -> None:
    for service in (DEMOS | GATES).values():
        assert (ROOT / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    first, *rest = (ROOT / "compose" / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    sent = [line.removeprefix("!") for line in rest if line.startswith("!")]
    assert first == "*"
    for path in copied():
        assert (ROOT / path).exists()
        assert any(fnmatch(path.split("/")[0], each) for each in sent)


def test_the_image_has_one_python_both_clients_and_the_script() -> None:
    assert re.search(r"^FROM python:3\.\d+-slim$", DOCKERFILE, re.MULTILINE)
    assert "[elasticsearch,gate,metrics,opensearch]" in DOCKERFILE
    assert re.search("^USER nobody$", DOCKERFILE, re.MULTILINE)
    run = re.search(r'^CMD \["sh", "/demo/(.+)"\]$', DOCKERFILE, re.MULTILINE)
    assert run
    assert f"compose/{run[1]}" in copied()


def test_the_image_has_every_licence_that_the_package_names() -> None:
    named = metadata("es-simhash").get_all("License-File")
    assert named
    assert {*named} <= {*copied()}


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_of_the_script_are_commands_of_ours(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = line[line.index("es-simhash ") :]
    check_line(typed, tmp_path, monkeypatch, "demo.jsonl")


@pytest.mark.parametrize(
    ("engine", "times"), [pytest.param("elasticsearch", 1, marks=pytest.mark.nightly), ("opensearch", 2)]
)
def test_the_script_leaves_an_index_with_groups_and_its_dashboard(
    engine: str, times: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    node: Node = request.getfixturevalue(f"{engine}_node")
    for name, module in (("es-simhash", "-m es_simhash"), ("python", "")):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n')
        program.chmod(0o755)
    known = {"PYTHONPATH": str(ROOT), "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", "SIZE": "150"}
    with kibana(name=engine if engine == "opensearch" else "kibana") as fake:
        own = {"ES_SIMHASH_URL": node.url, "KIBANA_URL": fake.url, "OPEN_AT": "http://127.0.0.1:5601"}
        done = [
            subprocess.run(
                ["sh", str(SCRIPT)],
                cwd=tmp_path,
                env={**os.environ, **known, **own},
                capture_output=True,
                text=True,
                check=False,
            )
            for _ in range(times)
        ]
    grouped = node.request("GET", "/demo/_count?q=dedup.is_canonical:false").body["count"]
    documents = node.request("GET", "/demo/_count").body["count"]
    node.request("DELETE", "/demo")
    assert [each.returncode for each in done] == [0] * times, done[-1].stderr
    assert [each.stdout.splitlines()[-1] for each in done] == ["Open http://127.0.0.1:5601/app/dashboards"] * times
    assert documents == 150
    assert 10 < grouped < 75
    assert ("dashboard", Subject("demo").id_of("dashboard")) in fake.stored
    parts = {type_ for type_, _ in fake.stored}
    assert parts == {"index-pattern", "search", "visualization", "dashboard"}
