"""The distributions, built and installed as users do it; left out without ``--build``, since this downloads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import ROOT


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a package index without ``--build``."""
    if config.getoption("--build"):
        return
    here = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    if here:
        config.hook.pytest_deselected(items=here)
        items[:] = [item for item in items if item not in here]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command that must succeed, with no sources in its environment, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def uv(*arguments: str | Path, cwd: Path) -> None:
    from uv import find_uv_bin

    run(find_uv_bin(), *arguments, cwd=cwd)


class Built(NamedTuple):
    """The distributions: the sdist, the wheel built from the sources, and the one built from the sdist."""

    sdist: Path
    wheel: Path
    wheel_of_sdist: Path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    out = tmp_path_factory.mktemp("built")
    uv("build", "--python", sys.executable, "--out-dir", out, ROOT, cwd=out)
    uv("build", "--python", sys.executable, "--wheel", "--out-dir", out / "direct", ROOT, cwd=out)
    [sdist], [wheel_of_sdist], [wheel] = out.glob("*.tar.gz"), out.glob("*.whl"), out.glob("direct/*.whl")
    return Built(sdist, wheel, wheel_of_sdist)


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of an environment with the wheel, its requirements and nothing else."""
    environment = tmp_path_factory.mktemp("installed") / "venv"
    uv("venv", "--python", sys.executable, environment, cwd=environment.parent)
    uv("pip", "install", "--python", environment / "bin" / "python", built.wheel, cwd=environment.parent)
    return environment / "bin"
