"""The sources of a release: those of the last commit, in two folders, so that no build knows where it takes place."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import NamedTuple

from tools.release.commands import run


class Sources(NamedTuple):
    """Two folders with the same files, under different paths."""

    first: Path
    second: Path

    @classmethod
    def of_last_commit(cls, repository: Path, folder: Path) -> Sources:
        """Copy what is committed, with the crates' versions, which are chosen once for all builds."""
        run("git", "archive", "--output", folder / "sources.tar", "HEAD", cwd=repository)
        sources = cls(folder / "first", folder / "a" / "second")
        with tarfile.open(folder / "sources.tar") as archive:
            archive.extractall(sources.first, filter="data")
        run("cargo", "generate-lockfile", "--quiet", cwd=sources.first / "native")
        run("cargo", "fetch", "--quiet", "--locked", cwd=sources.first / "native")
        shutil.copytree(sources.first, sources.second)
        return sources


def epoch(repository: Path) -> str:
    """Return the time of the last commit: the one that distributions show for their files."""
    return run("git", "log", "-1", "--format=%ct", cwd=repository).strip()
