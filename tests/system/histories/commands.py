"""The commands of histories: run as they are, and begun again after each time that they are killed or refused."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import patch

from es_simhash._core.json_codec import Json
from es_simhash.cli.show.output import FINE, SOME_FAILED
from tests.support import commands
from tests.system.histories.course import Course
from tests.system.histories.target import Target

# Large parts of an index are small here: its pages, and the time between two attempts.
_SMALLER: dict[str, Any] = {
    "es_simhash.live.sweep.reading._FIRST_SIZE": 4,
    "es_simhash.live.sweep.reading._MOST": 4,
    "es_simhash.plans.bulk._MOST_LENGTH": 4_000,
    "es_simhash.index.index.WRITES": 8,
    # However many are new, they are few.
    "es_simhash.groups.of_index.reading_new.MOST_NEW": 9,
}
_RETRY = "es_simhash.plans.operations"
_MOST_RUNS = 40

# Takes arguments as the command line does, and ends in the same way.
Program: TypeAlias = Callable[..., commands.Run]


@dataclass
class Ended:
    """How the last of some runs of a command ended, and how many were needed.

    ``events`` is what it printed; ``rejected`` has what the reject file names, each with its id. ``given_up`` has what
    runs said that ended too early, though nobody killed them.
    """

    code: int
    events: list[Json]
    said: str
    rejected: list[Json]
    runs: int
    given_up: list[str]

    @property
    def summary(self) -> Json:
        """What it came to."""
        return self.events[-1]

    @property
    def ids_rejected(self) -> set[str]:
        return {each["id"] for each in self.rejected}


@contextmanager
def _smaller(patience: float) -> Iterator[None]:
    """Within it, pages and waits are small, and what clients log of faults is not shown."""
    waits = {f"{_RETRY}._FIRST": patience / 100, f"{_RETRY}._LONGEST": patience / 50}
    with ExitStack() as stack:
        for name, value in (_SMALLER | waits).items():
            stack.enter_context(patch(name, value))
        logging.disable()
        stack.callback(logging.disable, logging.NOTSET)
        yield


def run(
    target: Target, course: Course, folder: Path, begin: Callable[[], None], program: Program, arguments: Sequence[str]
) -> Ended:
    """Run a command until it ends by itself, with nothing worse than that some documents were not done.

    One that is refused although it met with no fault is the last. Each run begins with a call of ``begin``.
    """
    given_up: list[str] = []
    with _smaller(target.patience), target.meeting(course):
        for runs in range(1, _MOST_RUNS):
            begin()
            before = course.faults
            rejects = folder / f"rejects {runs}"
            places = {"rejects": rejects, "patience": target.patience}
            done = _run_once(program, folder, [each.format(**places) for each in arguments])
            if course.failures:
                raise course.failures[0]
            if not course.is_killed and (done.code in (FINE, SOME_FAILED) or course.faults == before):
                break
            given_up += [] if course.is_killed else [done.err]
            course.is_killed = False
    return Ended(done.code, commands.lines(done), done.err, _lines(rejects), runs, given_up)


def _run_once(program: Program, folder: Path, arguments: Sequence[str]) -> commands.Run:
    before = set(threading.enumerate())
    done = program(*arguments, "--json", code=None, XDG_STATE_HOME=str(folder))
    for thread in set(threading.enumerate()) - before:
        if not thread.daemon:  # as the interpreter does in the end
            thread.join()
    return done


def _lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
