"""Deduplications of files that are killed at the end of each stage, and go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.short_records import write_records

# Kills the process when this many parts of stages have ended.
KILLED = """
import os, signal, sys
from es_simhash.cli.process import run
from es_simhash.groups.pairs.stored_rows import KeptStages
left, end = int(sys.argv[1]), KeptStages.end
def counted(self, stage, note):
    global left
    end(self, stage, note)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
KeptStages.end = counted
sys.exit(run(sys.argv[2:]))
"""


def dedup(folder: Path, *options: str, after: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", KILLED, str(after), "dedup", "records.jsonl", "--scheme", "short", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_records(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by signals")
def test_a_run_that_is_killed_at_each_stage_ends_as_one_that_is_not(folder: Path) -> None:
    alone = dedup(folder, "--output", "alone.jsonl", "--pairs", "alone.pairs")
    assert alone.returncode == 0, alone.stderr
    kept, killed = ("--state", "state", "--output", "kept.jsonl", "--pairs", "kept.pairs"), 0
    # Far fewer parts of stages are done again than there are: each run does some more.
    while (done := dedup(folder, *kept, after=10)).returncode == -9:
        killed += 1
        assert killed < 20
    assert done.returncode == 0, done.stderr
    assert killed >= 4
    for name in ("jsonl", "pairs"):
        assert (folder / f"kept.{name}").read_bytes() == (folder / f"alone.{name}").read_bytes()
    resumed, rest = done.stderr.split("\n", 1)
    assert resumed == "Resumed: state has comparisons of an interrupted run, which are not repeated."
    assert rest == alone.stderr
    assert not (folder / "state").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by signals")
def test_the_stages_of_other_documents_or_options_are_refused(folder: Path) -> None:
    assert dedup(folder, "--state", "state", after=3).returncode == -9
    refused = dedup(folder, "--state", "state", "--similarity", "0.8")
    assert refused.returncode != 0
    assert "state/dedup keeps the stages of a job with other documents or options." in refused.stderr
    with (folder / "records.jsonl").open("a", encoding="ascii") as more:
        more.write('{"id": "more", "text": "one more record"}\n')
    assert "delete that directory" in dedup(folder, "--state", "state").stderr
