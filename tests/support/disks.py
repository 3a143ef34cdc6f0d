"""Small file systems, which fill up and can be made read-only, seen by nobody but the commands that are run on them.

Each is a tmpfs in a mount namespace of its own: the machine's own mounts stay as they are.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.commands import Run, environment

# A user who is not root may do so in a user namespace of his own.
_UNSHARE = ["unshare", "--mount", *(["--user", "--map-root-user"] if os.geteuid() else [])]
_ENTER = ["nsenter", "--mount", *(["--user", "--preserve-credentials"] if os.geteuid() else [])]

_COMMANDS = """
import dataclasses, json, sys
from tests.support.commands import run
_, _, commands, code = sys.argv
print(json.dumps([dataclasses.astuple(run(*each, code=int(code))) for each in json.loads(commands)]))
"""


class Disk:
    """A file system on a directory; ``process`` keeps the namespace that it is in."""

    def __init__(self, directory: Path, process: int) -> None:
        self.directory = directory
        self._process = process

    def commands(self, *commands: Sequence[str], code: int = 0) -> list[Run]:
        """Run es-simhash where the disk is, one command after another; all must end with this code."""
        runs = json.loads(self.python(_COMMANDS, json.dumps(commands), str(code)))
        return [Run(*each) for each in runs]

    def command(self, *arguments: str, code: int = 0) -> Run:
        """Run one command."""
        [run] = self.commands(arguments, code=code)
        return run

    def python(self, lines: str, *arguments: str) -> str:
        """Run lines of Python there; the result is what they print."""
        return self.run(sys.executable, "-c", lines, str(self.directory), *arguments).out

    def mount(self, *options: str) -> None:
        """Mount something, or otherwise."""
        self.run("mount", *options)

    def run(self, *arguments: str, code: int | None = 0) -> Run:
        """Run any command there; its exit code must be as expected, unless that is None."""
        done = subprocess.run(
            [*_ENTER, f"--target={self._process}", *arguments],
            capture_output=True,
            encoding="utf-8",
            env=environment({}),
            timeout=120,
            check=False,
        )
        assert code in (None, done.returncode), f"{arguments} ended with {done.returncode}: {done.stderr}"
        return Run(done.returncode, done.stdout, done.stderr)


@contextmanager
def disk(directory: Path, size: str) -> Iterator[Disk | None]:
    """Mount an empty disk on a new directory; yield None where this system or user cannot."""
    directory.mkdir()
    if not shutil.which("unshare") or not shutil.which("nsenter"):
        yield None
        return
    mount = f'mount -t tmpfs -o size={size} none "$0" && echo mounted && read end'
    holder = subprocess.Popen(
        [*_UNSHARE, "sh", "-c", mount, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with holder:
        assert holder.stdout
        yield Disk(directory, holder.pid) if holder.stdout.readline() == "mounted\n" else None
