"""The DAGs of the page about Airflow use names that it has, and make of exit codes what the page says."""

from __future__ import annotations

import ast
import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from es_simhash import __version__
from es_simhash.cli.show import output
from tests import ROOT
from tests.support.cli_lines import check_line
from tests.support.documentation import read

PAGE = read(ROOT / "docs" / "how-to" / "airflow.md")
DAGS = {str(block.title): block.text for block in PAGE.blocks if block.kind == "python"}
IN_A_PROCESS, IN_A_POD = DAGS.values()
# The parameters of what the page imports, as Airflow and its providers publish them.
RECORDED = json.loads((Path(__file__).parent / "airflow.json").read_text(encoding="utf-8"))


class FailedError(Exception):
    """What Airflow does not retry."""


class Recorded:
    """Something of Airflow's that takes its parameters, and keeps what it was given."""

    def __init__(self, name: str, given: dict[str, dict[str, Any]]) -> None:
        self._name, self._given = name, given

    def __call__(self, *places: Any, **named: Any) -> Any:
        known = RECORDED["parameters"][self._name]
        assert len(places) <= len(known)
        assert set(named) <= set(known[len(places) :]), self._name
        self._given[self._name] = {**dict(zip(known, places, strict=False)), **named}
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class Decorator(Recorded):
    """A decorator with parameters, which keeps the function."""

    def __call__(self, *places: Any, **named: Any) -> Any:
        super().__call__(*places, **named)

        def decorate(function: Callable[[], Any]) -> Callable[[], Any]:
            self._given[self._name]["function"] = function
            # What a DAG calls makes a task, or the DAG: only the function of the DAG runs at once.
            return function if self._name == "airflow.sdk.dag" else lambda: None

        return decorate


@contextmanager
def airflow(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, dict[str, Any]]]:
    """Stand in for Airflow's modules; yield what their members are given."""
    given: dict[str, dict[str, Any]] = {}
    with monkeypatch.context() as patch:
        for name in RECORDED["parameters"]:
            module, _, member = name.rpartition(".")
            made = sys.modules.get(module) if module in sys.modules else ModuleType(module)
            patch.setitem(sys.modules, module, made)
            kind = Decorator if member in ("dag", "task") else Recorded
            setattr(made, member, FailedError if member.endswith("Exception") else kind(name, given))
        yield given


def tried(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What becomes of a task whose command ends with this code."""
    program = tmp_path / "es-simhash"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\nexit {code}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with airflow(monkeypatch) as given:
        exec(compile(IN_A_PROCESS, "near_duplicates.py", "exec"), {})
        try:
            given["airflow.sdk.task"]["function"]()
        except (FailedError, RuntimeError) as error:
            return f"{'fails' if isinstance(error, FailedError) else 'is retried'}: {error}"
    return "succeeds"


@pytest.mark.parametrize("code", output.MEANINGS)
def test_an_exit_code_decides_whether_a_task_is_retried(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    becomes = {
        output.LATER: "is retried",
        output.INTERRUPTED: "is retried",
        output.USAGE: "fails",
        output.REFUSED: "fails",
    }
    found = tried(code, tmp_path, monkeypatch)
    assert found.partition(":")[0] == becomes.get(code, "succeeds")
    assert found == "succeeds" or f"Exit code {code}." in found
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    check_line(f"es-simhash {asked}", tmp_path, monkeypatch)


def test_the_dag_runs_once_at_a_time_and_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    with airflow(monkeypatch) as given:
        exec(compile(IN_A_PROCESS, "near_duplicates.py", "exec"), {})
    assert given["airflow.sdk.dag"]["max_active_runs"] == 1
    assert given["airflow.sdk.dag"]["catchup"] is False
    assert given["airflow.sdk.task"]["retries"] == 6


def test_the_pod_runs_a_command_of_ours_with_the_secret_of_the_manifests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with airflow(monkeypatch) as given:
        exec(compile(IN_A_POD, "near_duplicates_in_a_pod.py", "exec"), {})
    pod = given["airflow.providers.cncf.kubernetes.operators.pod.KubernetesPodOperator"]
    secret = given["airflow.providers.cncf.kubernetes.secret.Secret"]
    assert pod["image"].endswith(f"/es-simhash:{__version__}")
    assert f"secretName: {secret['secret']}" in (ROOT / "deploy" / "kubernetes" / "sync.yaml").read_text()
    line = shlex.join(["es-simhash", *pod["arguments"]]).replace(f"{secret['deploy_target']}/", "")
    check_line(line, tmp_path, monkeypatch, "api-key")


@pytest.mark.parametrize("name", DAGS)
def test_a_dag_imports_only_what_is_recorded_of_airflow(name: str) -> None:
    imported = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(DAGS[name]))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("airflow")
        for alias in node.names
    }
    assert imported
    assert imported <= {*RECORDED["parameters"]}
    assert f"Airflow {'.'.join(RECORDED['version'].split('.')[:2])}" in PAGE.text
