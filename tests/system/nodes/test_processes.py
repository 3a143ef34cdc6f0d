"""Nodes that are processes: their ends, whatever happens, with a shell script for a server."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests import ROOT
from tests.support.pytest_nodes import process_exists
from tests.system.nodes.conftest import write_program
from tools.nodes import RELEASES, NodeError, local
from tools.nodes.node import NodeSpec

OPENSEARCH = RELEASES["opensearch"]


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
    (memory := tmp_path / "memory").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(local, "memory_folder", lambda: memory)
    monkeypatch.setattr(local, "server_account", dict)  # `nobody` cannot enter a test's folder
    node = node_of_script(tmp_path, "exit 1")
    assert len(list(tmp_path.rglob("es-simhash-opensearch-*"))) == 2
    with pytest.raises(NodeError):
        node.start()
    assert not list(tmp_path.rglob("es-simhash-opensearch-*"))


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="only setpriv ties a server to its parent")
def test_a_server_does_not_outlive_a_killed_test_run(tmp_path: Path) -> None:
    program = f"""
import os, signal
from pathlib import Path
from tools.nodes import local
from tests.system.nodes.test_processes import node_of_script

local.server_account = dict
local.memory_folder = lambda: None
node = node_of_script(Path({str(tmp_path)!r}), 'echo $$ > "$2"; exec sleep 60')
node._launch()
while node.pid is None:
    pass
print(node.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=False,
    )
    assert run.returncode == -signal.SIGKILL
    assert ends_soon(int(run.stdout))


def test_a_timeout_that_is_not_a_number_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_SIMHASH_NODE_TIMEOUT", "soon")
    with pytest.raises(NodeError, match="ES_SIMHASH_NODE_TIMEOUT is 'soon'"):
        node_of_script(tmp_path, "").start()


def ends_soon(pid: int) -> bool:
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended, _, _ = select.select([process], [], [], 30)
    os.close(process)
    return bool(ended)
