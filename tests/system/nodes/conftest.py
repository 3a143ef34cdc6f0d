"""Programs that take the place of Java, Maven and servers."""

from __future__ import annotations

import os
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from tools.nodes import Release, java
from tools.nodes.releases import MavenArtifact


def write_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def only_these_javas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that stands for /usr/lib/jvm, on a machine with no other Java."""
    folder = tmp_path / "jvm"
    folder.mkdir()
    for variable in [name for name in os.environ if "JAVA_HOME" in name]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("PATH", str(tmp_path / "no-programs"))
    monkeypatch.setattr(java, "_SYSTEM_JAVAS", folder)
    monkeypatch.setattr(java, "server_account", dict)  # `nobody` cannot enter a test's folder
    return folder


class FakeMaven:
    """An `mvn` on PATH that copies a small zip to where Maven would put it, and notes that it was called."""

    def __init__(self, folder: Path) -> None:
        self.archive = folder / "server.zip"
        self.calls = folder / "calls"
        with zipfile.ZipFile(self.archive, "w") as archive:
            archive.writestr("bundle-1.2/other/big.jar", "not wanted")
            archive.writestr("bundle-1.2/server/lib/server.jar", "wanted")
            program = zipfile.ZipInfo("bundle-1.2/server/bin/start")
            program.external_attr = 0o755 << 16
            archive.writestr(program, "#!/bin/sh\n")
        target = "org/example/bundle/1.2/bundle-1.2.zip"
        write_program(
            folder / "bin" / "mvn",
            f"""
            echo "$@" >> '{self.calls}'
            for argument in "$@"; do
              case $argument in -Dmaven.repo.local=*) repository=${{argument#*=}};; esac
            done
            mkdir -p "$repository/{Path(target).parent}"
            cp '{self.archive}' "$repository/{target}"
            """,
        )

    def release(self, digest: str | None = None) -> Release:
        digest = digest or sha256(self.archive.read_bytes()).hexdigest()
        artifact = MavenArtifact("org.example:bundle:1.2", digest, megabytes=1, server_folder="bundle-1.2/server")
        return Release("example", "opensearch", "1.2", artifact, oldest_java=17)

    def times_called(self) -> int:
        return len(self.calls.read_text(encoding="utf-8").splitlines())


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMaven:
    monkeypatch.setenv("ES_SIMHASH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return FakeMaven(tmp_path)
