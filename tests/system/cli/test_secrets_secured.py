"""Each command keeps its password to itself: nothing that it shows, logs, writes or starts holds it."""

from __future__ import annotations

import base64
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run
from tests.support.traces import collected
from tests.system.pages.test_how_to_security import COPY, LINES, STORM
from tests.system.pages.test_how_to_security_opensearch import indexed
from tools.nodes import Node

WRONG = "wr0ng-and-s3cret"
# What Python reports when it starts a program; `ps` shows the arguments.
STARTS = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system"}
_started: list[str] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event in STARTS:
        _started.append(repr(arguments[:2]))


@pytest.fixture(scope="module")
def node(secured_node: Node) -> Iterator[Node]:
    sys.addaudithook(_note)
    with indexed(secured_node):
        yield secured_node


def ways(node: Node, password: str) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Options and variables that log in; what is in the URL is in the command's own arguments, and nowhere else."""
    yield ["--url", node.url.replace("://", f"://admin:{password}@")], {}
    yield ["--url", node.url, "--user", "admin"], {"ES_SIMHASH_PASSWORD": password}


@pytest.mark.parametrize("way", [0, 1], ids=["url", "environment"])
@pytest.mark.parametrize("command", ["load", "find", "check", "backfill", "group --write", "gate", "reindex", "mcp"])
def test_a_command_that_works_keeps_its_password(
    node: Node, command: str, way: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    password = str(node.password)
    login, variables = list(ways(node, password))[way]
    check(node, command, [password, *forms(password)], login, variables, tmp_path, caplog)


@pytest.mark.parametrize("command", LINES)
def test_every_command_that_is_refused_keeps_its_password(
    node: Node, command: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    login, variables = list(ways(node, WRONG))[len(command) % 2]
    check(node, command, [WRONG, *forms(WRONG)], login, variables, tmp_path, caplog)


def forms(password: str) -> list[str]:
    return [base64.b64encode(f"admin:{password}".encode()).decode()]


def check(
    node: Node,
    command: str,
    secrets: list[str],
    login: list[str],
    variables: dict[str, str],
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    document = '{"_id": "9", "body": "' + STORM + ' More later."}\n'
    (folder / "new.jsonl").write_text(document, encoding="utf-8")
    _started.clear()
    line = ["--debug", *LINES[command].split(), *login, "--ca-certs", str(node.ca_certs)]
    with collected() as traces, caplog.at_level(logging.DEBUG):
        done = run(*line, cwd=folder, code=None, stdin=document, XDG_STATE_HOME=str(folder), **variables)
    node.request("DELETE", f"/{COPY}")
    written = [path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()]
    everything = "\n".join([done.out, done.err, caplog.text, traces.everything(), *written, *_started])
    assert done.err
    assert not [secret for secret in secrets if secret in everything]
