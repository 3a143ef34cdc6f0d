"""Commands that must succeed, without the variables of the shell that starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

# Programs of the environment that this runs in (the dependency group `release`).
TOOLS = Path(sys.executable).parent
_OURS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CARGO_TARGET_DIR", "RUSTFLAGS")


class CommandError(Exception):
    """A command failed; the message has what it printed."""


def run(*command: str | Path, cwd: Path, settings: Mapping[str, str | Path] | None = None) -> str:
    """Run a command in a folder, with more variables of the environment, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name not in _OURS}
    environment |= {name: str(value) for name, value in (settings or {}).items()}
    environment["PATH"] = os.pathsep.join([str(TOOLS), environment.get("PATH", "")])
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    if done.returncode:
        raise CommandError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout
