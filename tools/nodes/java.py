"""Finding a Java that a server runs on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from .machine import server_account
from .node import NodeUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .releases import Release

_SYSTEM_JAVAS = Path("/usr/lib/jvm")
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def find_java(release: Release) -> Path:
    """Return the home of the first Java found that the release runs on."""
    found = []
    for home in candidate_homes():
        version = java_version(home)
        if version is not None and release.runs_on_java(version):
            return home
        if version is not None:
            found.append(version)
    seen = f"only {', '.join(map(str, sorted(set(found))))} was found" if found else "none was found"
    raise NodeUnavailable(f"it needs Java {release.java_wanted} and {seen}; set JAVA_HOME to one")


def candidate_homes() -> Iterator[Path]:
    """Where a Java may be: JAVA_HOME and its like (JAVA_HOME_25_X64), the system's, the one on PATH."""
    for variable in sorted(os.environ):
        if variable == "ES_JAVA_HOME" or variable.startswith("JAVA_HOME"):
            yield Path(os.environ[variable])
    if _SYSTEM_JAVAS.is_dir():
        yield from sorted(_SYSTEM_JAVAS.iterdir())
    on_path = shutil.which("java")
    if on_path is not None:
        yield Path(on_path).resolve().parent.parent


def java_version(home: Path) -> int | None:
    """Return the feature version of the Java in this folder; None where the servers' account can run none."""
    command = [str(home / "bin" / "java"), "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", **server_account())
    except OSError:
        return None
    return parse_java_version(answer.stderr)


def parse_java_version(text: str) -> int | None:
    """Return the feature version in what `java -version` prints: 17 in `version "17.0.15"`, 8 in `"1.8.0_402"`."""
    match = _VERSION.search(text)
    return None if match is None else int(match.group(1))
