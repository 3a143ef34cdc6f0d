"""What tests leave behind: files, folders and processes that are still there in the end are listed, and fail the run.

A run has a temporary folder of its own, so that files of others are none of its business. Its processes are
those that have the folder's name in their command line or environment.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

# What Python, pytest and all programs take for temporary files.
_VARIABLES = ("TMPDIR", "TEMP", "TMP")
_PROCESSES = Path("/proc")
# Seconds that a process has to end after the tests.
_PATIENCE = 10.0

FOLDER = pytest.StashKey[Path]()
FOUND = pytest.StashKey[list[str]]()


def is_worker(config: pytest.Config) -> bool:
    """Whether this is a process of a run that another one has begun."""
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    if is_worker(config):
        return
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix="es-simhash-tests-"))
    folder.chmod(0o711)  # servers run under another account
    os.environ.update(dict.fromkeys(_VARIABLES, str(folder)))
    tempfile.tempdir = None
    config.stash[FOLDER] = folder


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Look for what is left, once processes that run tests have ended."""
    folder = session.config.stash.get(FOLDER, None)
    if folder is None:
        return
    found = [*processes_of(folder, time.monotonic() + _PATIENCE), *map(str, sorted(folder.rglob("*")))]
    session.config.stash[FOUND] = found
    if found and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    found = config.stash.get(FOUND, [])
    if found:
        terminalreporter.section("what tests left behind", sep="=", red=True)
    for each in found:
        terminalreporter.write_line(each, red=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    folder = config.stash.get(FOLDER, None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def processes_of(folder: Path, deadline: float) -> list[str]:
    """Return the processes that name the folder, and still run when it is time; none where the system does not say."""
    while found := [each for path in _PROCESSES.glob("[0-9]*") if (each := _if_of(folder, path))]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return found


def _if_of(folder: Path, process: Path) -> str:
    """Return the number and command of a process that names the folder, and that of no other."""
    try:
        command, environment = ((process / name).read_bytes() for name in ("cmdline", "environ"))
    except OSError:  # it has ended, or belongs to somebody else
        return ""
    if process.name == str(os.getpid()) or os.fsencode(folder) not in command + environment:
        return ""
    return f"process {process.name}: {command.replace(bytes(1), b' ').decode(errors='replace')}"
