"""Servers from Maven Central, unpacked once into the user's cache.

The cache holds whole, verified servers only: everything happens in a `.partial` folder next to the final one,
under a lock, and the last step is a rename. Files in the cache are read-only, since running nodes share them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from .node import NodeError, NodeUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .releases import MavenArtifact, Release

_MAVEN_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"
_CHUNK_BYTES = 1 << 20


def cache_folder() -> Path:
    """Where servers are kept: ES_SIMHASH_CACHE, else the user's cache directory, and there `nodes`."""
    own = os.environ.get("ES_SIMHASH_CACHE")
    if own:
        return Path(own) / "nodes"
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "es-simhash" / "nodes"


def server_folder(release: Release) -> Path:
    """Return the release's folder in the cache; pinning another zip of the same version gives another folder."""
    digests = [artifact.sha256[:12] for artifact in (release.artifact, *release.plugins)]
    return cache_folder() / "-".join([release.engine, release.version, *digests])


def fetch(release: Release) -> Path:
    """Return the folder with the unpacked server, which the first call on a machine downloads."""
    folder = server_folder(release)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            with _partial_folder(folder) as partial:
                server = _unpack(_download(release, release.artifact, partial), partial)
                for plugin in release.plugins:
                    _unpack(_download(release, plugin, partial), server / "plugins" / plugin.name)
                server.rename(folder)
    return folder


@contextmanager
def _partial_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder next to `folder`, gone afterwards; what a killed process left there goes first."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        yield partial
    finally:
        shutil.rmtree(partial)


def _download(release: Release, artifact: MavenArtifact, folder: Path) -> tuple[MavenArtifact, Path]:
    """Let Maven fetch the zip into a repository of its own, so that no second copy stays in the user's."""
    maven = shutil.which("mvn")
    if maven is None:
        raise NodeUnavailable("mvn, which would download it, is not on PATH")
    repository = folder / "repository"
    print(f"Downloading {release}: {artifact.megabytes} MB from Maven Central, once.", file=sys.stderr)
    command = [
        maven,
        "--batch-mode",
        "--quiet",
        "-Dstyle.color=never",
        _MAVEN_GOAL,
        f"-Dartifact={artifact.coordinates}:zip",
        "-Dtransitive=false",
        f"-Dmaven.repo.local={repository}",
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise NodeUnavailable(f"Maven could not download {artifact.coordinates} ({_first_error(answer.stdout)})")
    archive = repository / repository_path(artifact)
    verify(archive, artifact.sha256)
    return artifact, archive


def repository_path(artifact: MavenArtifact) -> Path:
    """Where a Maven repository keeps the zip."""
    group, name, version = artifact.coordinates.split(":")
    return Path(*group.split("."), name, version, f"{name}-{version}.zip")


def _first_error(maven_output: str) -> str:
    errors = [line.strip() for line in maven_output.splitlines() if "ERROR" in line]
    return errors[0] if errors else "it gave no reason"


def verify(archive: Path, sha256: str) -> None:
    """Raise unless the file is the pinned one."""
    digest = hashlib.sha256()
    with archive.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    if digest.hexdigest() != sha256:
        raise NodeError(
            f"{archive.name} has the sha256 {digest.hexdigest()} and not the pinned {sha256}: "
            "it was damaged on its way, or replaced, and has been deleted. "
            "Try again, and if this comes back, do not trust that server."
        )


def _unpack(downloaded: tuple[MavenArtifact, Path], target: Path) -> Path:
    """Unpack what is wanted of the zip, readable by every account and writable by none."""
    artifact, archive = downloaded
    folder = artifact.server_folder
    with zipfile.ZipFile(archive) as file:
        members = [member for member in file.infolist() if not folder or member.filename.startswith(f"{folder}/")]
        for member in members:
            path = Path(file.extract(member, target))
            is_program = member.external_attr >> 16 & 0o100
            path.chmod(0o755 if member.is_dir() else 0o555 if is_program else 0o444)
    return target / folder
