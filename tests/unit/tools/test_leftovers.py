"""A run of tests that leaves something behind says what, and fails."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import ROOT
from tests.support import leftovers

pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return pytester


def result_of(run: pytest.Pytester, test: str) -> pytest.RunResult:
    run.makepyfile(f"import tempfile\n\n\ndef test_a():\n    {test}\n")
    return run.runpytest_subprocess("-p", leftovers.__name__, "-p", "no:cacheprovider")


def test_a_run_that_leaves_nothing_passes(run: pytest.Pytester) -> None:
    result = result_of(run, "tempfile.TemporaryFile().close()")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*left behind*")


def test_a_folder_that_is_left_is_named_and_removed(run: pytest.Pytester) -> None:
    result = result_of(run, "tempfile.mkdtemp(prefix='forgotten-')")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1)
    [left] = [line for line in result.outlines if "forgotten-" in line]
    assert not Path(left).exists()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system does not say what processes there are")
def test_a_process_is_found_until_it_ends(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=environment) as process:
        [found] = leftovers.processes_of(tmp_path, deadline=0)
        assert found.startswith(f"process {process.pid}: ")
        process.kill()
    assert leftovers.processes_of(tmp_path, time.monotonic() + 10) == []
