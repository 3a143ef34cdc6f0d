"""The systemd units are as systemd wants them, and run commands that there are, as their page says."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from shutil import which

import pytest

from es_simhash._core.environment import PATIENCE
from es_simhash.cli.show import output
from tests import ROOT
from tests.support.cli_lines import check_line

FOLDER = ROOT / "deploy" / "systemd"
NAME = "es-simhash-sync@"
PAGE = (ROOT / "docs" / "how-to" / "systemd.md").read_text(encoding="utf-8")
needs_systemd = pytest.mark.skipif(which("systemd-analyze") is None, reason="systemd is not on this machine")


def unit(kind: str) -> Mapping[str, list[str]]:
    """The settings of a unit, each with its values."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / f"{NAME}.{kind}").read_text(encoding="utf-8").splitlines():
        if line and line[0] not in "#[":
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


SERVICE, TIMER = unit("service"), unit("timer")
[COMMAND] = SERVICE["ExecStart"]


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """Copies of the units whose program is on this machine."""
    for path in FOLDER.iterdir():
        text = path.read_text(encoding="utf-8").replace("/opt/es-simhash/bin/es-simhash", "/bin/true")
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    return tmp_path


def analyze(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"}
    return subprocess.run(
        ["systemd-analyze", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@needs_systemd
def test_systemd_finds_nothing_wrong_with_the_units(units: Path) -> None:
    done = analyze(units, "verify", f"./{NAME}.service", f"{NAME}articles.timer")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_systemd
def test_systemd_finds_a_misspelt_setting(units: Path) -> None:
    path = units / f"{NAME}.service"
    path.write_text(path.read_text(encoding="utf-8").replace("ProtectHome", "ProtectHouse"), encoding="utf-8")
    assert "Unknown key 'ProtectHouse'" in analyze(units, "verify", f"./{NAME}.service").stderr


@needs_systemd
def test_systemd_calls_the_sandbox_ok(units: Path) -> None:
    done = analyze(units, "security", "--offline=yes", "--threshold=20", "--no-pager", f"./{NAME}.service")
    assert done.returncode == 0, done.stdout
    assert " OK " in done.stdout.splitlines()[-1]
    assert 'rates it "OK"' in PAGE


def test_the_service_runs_a_command_of_ours_on_its_instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    credentials = [value.split(":") for value in SERVICE["LoadCredential"]]
    assert re.findall(r"%d/(\S+)", COMMAND) == [name for name, _ in credentials]
    assert all(path == f"/etc/es-simhash/{name}" for name, path in credentials)
    line = COMMAND.removeprefix("/opt/es-simhash/bin/").replace("%i", "articles").replace("%d/", "")
    assert "%" not in line
    check_line(line, tmp_path, monkeypatch, *(name for name, _ in credentials))


def test_the_page_installs_what_the_service_needs() -> None:
    credentials = " ".join(value.split(":")[0] for value in SERVICE["LoadCredential"])
    assert f"--target-directory /etc/es-simhash {credentials}\n" in PAGE
    assert SERVICE["EnvironmentFile"] == ["/etc/es-simhash/%i.env"]
    assert "> /etc/es-simhash/articles.env\n" in PAGE
    assert COMMAND.split()[0] == "/opt/es-simhash/bin/es-simhash"
    assert "python3 -m venv /opt/es-simhash " in PAGE
    assert f"systemctl enable --now {NAME}articles.timer\n" in PAGE


def test_what_may_pass_is_tried_again_and_what_cannot_fails() -> None:
    succeeds = {output.FINE, *map(int, SERVICE["SuccessExitStatus"][0].split())}
    fails = {*map(int, SERVICE["RestartPreventExitStatus"][0].split())}
    assert SERVICE["Restart"] == ["on-failure"]
    assert succeeds == {output.FINE, output.SOME_FAILED, output.INTERRUPTED}
    assert fails == {output.USAGE, output.REFUSED}
    assert {*output.MEANINGS} - succeeds - fails == {output.LATER}
    assert (SERVICE["RestartSec"], SERVICE["StartLimitBurst"], SERVICE["StartLimitIntervalSec"]) == (
        ["5min"],
        ["6"],
        ["3h"],
    )
    assert "after five minutes; the sixth failure in three hours is final" in PAGE
    # Or tries that wait for as long as they may would go on for ever.
    assert 6 * (PATIENCE + 5 * 60) < 3 * 3600


def test_the_timer_starts_the_service_each_night_also_if_the_machine_slept() -> None:
    assert TIMER["OnCalendar"] == ["*-*-* 03:30"]
    assert "every night at 03:30" in PAGE
    assert TIMER["Persistent"] == ["true"]
    assert "Unit" not in TIMER  # so it is the service of its name
