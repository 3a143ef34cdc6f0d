"""The command line as its users run it: a process each, repeated until it is done."""

from __future__ import annotations

import random
import re
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from es_simhash.cli.show import output
from tests.support.commands import Run, environment
from tests.support.gate_process import OUR_PROGRAM
from tests.system.soak.hours.clock import Clock
from tests.system.soak.hours.place import Place
from tests.system.soak.hours.tally import Tally

_LIMIT_SECONDS, _AGAIN_SECONDS, _MOST_ATTEMPTS = 900, 1.0, 300
# Seconds that commands go on by themselves while the engine is away.
PATIENCE = "15"
_ENDS = "exit codes"
_DOCUMENTED = (output.FINE, output.SOME_FAILED, output.LATER, output.REFUSED)


@dataclass
class Programs:
    """Runs commands on a place, some of them under a clock that jumps, and kills some."""

    place: Place
    folder: Path
    clock: Clock
    tally: Tally

    def done(self, *arguments: str, rng: random.Random | None = None, kills: float = 0.0) -> Run:
        """Run a command until it ends with nothing worse than that some documents were not done.

        With ``rng`` every third is under the clock, and this share of them is killed at a random moment before.
        """
        for _ in range(_MOST_ATTEMPTS):
            after = rng.uniform(0.3, 3) if rng and rng.random() < kills else None
            is_under_clock = rng is not None and rng.random() < 1 / 3
            run = self.once(*arguments, is_under_clock=is_under_clock, killed_after=after)
            if run and run.code in (output.FINE, output.SOME_FAILED):
                return run
            if run:
                time.sleep(_AGAIN_SECONDS)
        raise TimeoutError(f"{arguments[0]} was not done: {run}")

    def once(self, *arguments: str, is_under_clock: bool = False, killed_after: float | None = None) -> Run | None:
        """Run a command once; return None if it was killed."""
        verb = arguments[0]
        program = self.clock.program if is_under_clock else OUR_PROGRAM
        with (
            self.place.turn(),
            subprocess.Popen(
                [*program, *arguments, "--url", self.place.url, "--json", "--quiet"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                cwd=self.folder,
                env=environment({"XDG_STATE_HOME": str(self.folder / "state")}),
            ) as process,
        ):
            try:
                out, err = _said(process, killed_after)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                if killed_after is None:
                    self.tally.hold(_ENDS, [f"{arguments} did not end: {err}"])
                else:
                    with self.tally.fault("command killed"):
                        return None
        run = Run(process.returncode, out, err)
        self.tally.did(verb)
        ends_badly = run.code not in _DOCUMENTED or "Traceback" in err
        self.tally.hold(_ENDS, [f"{arguments} ended with {run.code}: {err}"] if ends_badly else [])
        if run.code in (output.LATER, output.REFUSED):
            self.tally.saw(f"{verb}: {kind_of(err)}")
        return run


def _said(process: subprocess.Popen[str], seconds: float | None) -> tuple[str, str]:
    """Return what a process has said once it has ended, within these seconds or a quarter of an hour.

    Of that, a machine that is suspended takes one second, however long it is.
    """
    for _ in range(0 if seconds else _LIMIT_SECONDS):
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=1)
    return process.communicate(timeout=seconds or 1)


def kind_of(message: str) -> str:
    """Return the kind of an error by its message: the first one, without what differs each time."""
    found = next((line for line in message.splitlines() if line.startswith("Error")), message.strip())
    for word, kind in (
        ("flood-stage", "disk full"),
        ("read-only", "disk full"),
        ("rejected_execution", "too busy"),
        ("overloaded", "too busy"),
        ("starting", "starting"),
        ("answer", "no answer"),
    ):
        if word in found:
            return kind
    return re.sub(r"'[^']*'|\S*\d\S*", "…", found)[:80]
