"""Linking in stages that are kept: processes that are killed at each of them, and others that go on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from es_simhash._core.json_codec import Json
from tests.support.linked_in_stages import CRITERIA, documents, linked

SEED = 3


def found(directory: Path, criteria: str, *kill: str) -> tuple[Json, list[str]]:
    """Link in a process, or in many that are killed; return what is found, and the stages whose end was reached."""
    directory.mkdir()
    command = [sys.executable, "-m", "tests.support.linked_in_stages", str(directory), str(SEED), criteria, *kill]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout), (directory / "log").read_text(encoding="ascii").splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
@pytest.mark.parametrize("criteria", CRITERIA)
def test_a_job_that_is_killed_at_every_stage_does_each_again_once_at_most(criteria: str, tmp_path: Path) -> None:
    expected, stages = found(tmp_path / "alone", criteria)
    assert len(stages) > 8
    assert found(tmp_path / "killed", criteria, "kill") == (expected, [stage for stage in stages for _ in range(2)])
    # Here a key is common only if more have it.
    in_memory = linked(documents(SEED, 2_000), CRITERIA[criteria], 1 << 30)
    assert in_memory | {"hot": expected["hot"]} == expected
