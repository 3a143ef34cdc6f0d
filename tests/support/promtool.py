"""promtool, Prometheus' own tool, for tests that ask it about metrics, queries and rules."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def complaints(*arguments: str | Path, given: bytes = b"") -> str:
    """Return what promtool finds wrong; without promtool the test is skipped with a message."""
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("NOT TESTED: there is no promtool; install it, as by apt-get install prometheus")
    done = subprocess.run([program, *arguments], input=given, capture_output=True, check=False)
    found = (done.stdout + done.stderr).decode()
    return found if done.returncode or arguments[:2] == ("check", "metrics") else ""


def of_metrics(exposition: bytes) -> str:
    """Return what is wrong with metrics in the text format, their names and their help."""
    return complaints("check", "metrics", given=exposition)
