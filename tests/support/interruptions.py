"""Commands that are interrupted at chosen moments: how they are begun, how soon they end, and what they leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tests.support.commands import environment
from tests.support.http_server import Moment, Then, proxy
from tools.nodes import Node

# How long a command may outlive its error or an interruption.
_SECONDS = 1.0
# After so long it hangs.
_LIMIT_SECONDS = 60
_MOMENT_SECONDS = 0.02
_MARK = "ES_SIMHASH_TEST_RUN"

# It interrupts itself as it calls a method for a number of times, and says so, and when it calls it first.
_INTERRUPTING_ITSELF = """
import os, signal, sys
from importlib import import_module
from es_simhash.cli.process import main

pipe, first, module, owner, method, times = (sys.argv.pop(1) for _ in range(6))
exec(first)
of = getattr(import_module(module), owner)
call, left = getattr(of, method), int(times)

def interrupted(*given):
    global left
    left -= 1
    os.write(int(pipe), b".")
    if not left:
        os.write(int(pipe), b"!")
        os.kill(os.getpid(), signal.SIGINT)
    return call(*given)

setattr(of, method, interrupted)
main()
"""
_PERFORM = ("es_simhash.engines.embedded", "EmbeddedEngine", "perform")


@dataclass(frozen=True)
class Ended:
    """How a command ended: ``seconds`` after it was interrupted or refused, or None if it had ended before.

    ``loading`` seconds had gone by until it asked its engine for the first time, which is how busy the machine is.
    """

    code: int
    said: str
    seconds: float | None
    loading: float
    mark: str

    def check(self, codes: Collection[int] = (130,)) -> None:
        """See that it ended as it is to end, and as soon."""
        assert "Traceback" not in self.said, self.said
        assert "Exception ignored" not in self.said, self.said
        assert _processes(self.mark) == []
        if self.seconds is None:
            assert self.code in (0, 1), self.said
            return
        assert self.code in codes, self.said
        assert "Interrupted. " in self.said or self.code != 130
        assert self.seconds < _SECONDS + self.loading, self.said


Interrupt: TypeAlias = Callable[..., Ended]


@contextmanager
def interrupted_at(
    place: Node | Path, request: int, then: Then, folder: Path
) -> Iterator[tuple[str, Callable[[list[str]], Ended]]]:
    """Where a command is to work, and what runs it there and interrupts it when it has asked so often.

    A command that its server refuses everything from then on is not interrupted.
    """
    if isinstance(place, Path):
        yield str(place), lambda arguments: interrupting_itself(arguments, _PERFORM, request, folder)
        return
    moment = Moment(request, then)
    with proxy(place, moment) as url:
        try:
            yield url, lambda arguments: _on_server(arguments, moment, then, folder)
        finally:
            moment.end()


def _on_server(arguments: list[str], moment: Moment, then: Then, folder: Path) -> Ended:
    begun, mark = time.monotonic(), uuid.uuid4().hex
    with _begun(["-m", "es_simhash", *arguments], mark, folder) as process:
        while not moment.come.wait(_MOMENT_SECONDS):
            if process.poll() is not None:
                break
        asked = time.monotonic() if process.poll() is None else None
        if asked and then != "refusal":
            process.send_signal(signal.SIGINT)
        return _ended(process, asked, (moment.first or begun) - begun, mark)


def interrupting_itself(
    arguments: list[str], method: tuple[str, str, str], times: int, folder: Path, first: str = ""
) -> Ended:
    """Run a command that is interrupted as it calls a method, of a class in a module, for a number of times.

    ``first`` is what is done before, as a program.
    """
    begun, mark = time.monotonic(), uuid.uuid4().hex
    ours, theirs = os.pipe()
    arguments = ["-c", _INTERRUPTING_ITSELF, str(theirs), first, *method, str(times), *arguments]
    with os.fdopen(ours, "rb", buffering=0) as pipe, _begun(arguments, mark, folder, theirs) as process:
        os.close(theirs)
        loading, asked = 0.0, None
        while said := pipe.read(1):
            loading = loading or time.monotonic() - begun
            if said == b"!":
                asked = time.monotonic()
        return _ended(process, asked, loading, mark)


@contextmanager
def _begun(arguments: list[str], mark: str, folder: Path, *pipes: int) -> Iterator[subprocess.Popen[str]]:
    """Start a command that works in a folder, and makes temporary files in ``tmp`` there."""
    (folder / "tmp").mkdir(exist_ok=True)
    variables = {"TMPDIR": str(folder / "tmp"), "XDG_STATE_HOME": str(folder / "state"), _MARK: mark}
    with subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=folder,
        env=environment(variables),
        pass_fds=pipes,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _ended(process: subprocess.Popen[str], asked: float | None, loading: float, mark: str) -> Ended:
    _, said = process.communicate(timeout=_LIMIT_SECONDS)
    seconds = time.monotonic() - asked if asked else None
    return Ended(process.returncode, said, seconds, loading, mark)


def _processes(mark: str) -> list[str]:
    """Return the processes that a command has left, by what it has set in their environment."""
    left = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if f"{_MARK}={mark}".encode() in (each / "environ").read_bytes():
                left.append((each / "cmdline").read_text())
        except OSError:  # another user's, or ended in the meantime
            continue
    return left
