"""One soak: users on a stage, faults in the meantime, and checkpoints at which all is compared."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.gate_process import GateProcess
from tests.system.soak.hours.actors import Actor, Scene, Stage
from tests.system.soak.hours.checkpoint import GATES, backfilled, check
from tests.system.soak.hours.clock import Clock
from tests.system.soak.hours.faults import Faults, restarted
from tests.system.soak.hours.finder import Finder
from tests.system.soak.hours.gates import GateUser, gate_before
from tests.system.soak.hours.jobs import Backfill, Grouping, OtherScheme, SchemeChanger
from tests.system.soak.hours.ledger import Ledger
from tests.system.soak.hours.place import FIELDS, Place
from tests.system.soak.hours.programs import Programs
from tests.system.soak.hours.readers import Reader
from tests.system.soak.hours.report import STEADY, grown
from tests.system.soak.hours.tally import Tally
from tests.system.soak.hours.watching import Watch
from tests.system.soak.hours.writers import Adder, Eraser, Loader, Stranger

FLAT = "memory flat"
_SUSPENDED_SECONDS = 30.0
# Each soak has families of its own.
_FAMILIES = 10_000_000


@dataclass(frozen=True)
class Length:
    """How long a soak is, how far faults and checkpoints are apart, in seconds, and how long users pause.

    ``pace`` multiplies the users' pauses.
    """

    seconds: float
    fault: float = 75.0
    checkpoint: float = 300.0
    pace: float = 1.0


@dataclass
class Soak:
    """A soak of a place, which works in a folder and keeps its tally in a file there."""

    place: Place
    folder: Path
    length: Length

    def __post_init__(self) -> None:
        self.tally = self.place.tally
        work = self.folder / "work"
        work.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "state.json"
        clock = Clock(work)
        programs = Programs(self.place, work, clock, self.tally)
        self.scene = Scene(self.place, Ledger(_FAMILIES * self.tally.seed), programs, self.tally)
        self.scheme = OtherScheme()
        self._finder = Finder(self.place.index, self.place.url)
        self._steady = gate_before(self.scene, work / "gate")
        self._killed = gate_before(self.scene, work / "killed-gate", clock.program)
        self._faults = Faults(self.scene, [self._killed])
        self._rng = random.Random(self.tally.seed)

    def run(self) -> Tally:
        """Run it to its end; whatever happens, the tally is kept."""
        try:
            with ExitStack() as stack:
                self._begin(stack)
                self._go_on()
                self._hold_flat()
            self.tally.is_complete = True
        except BaseException:
            self.tally.failed("the soak")
            raise
        finally:
            self.tally.save(self.file)
        return self.tally

    def _begin(self, stack: ExitStack) -> None:
        place, programs = self.place, self.scene.programs
        with place.turn():
            place.create()
            programs.done("init", place.index, *(each for field in FIELDS for each in ("--field", field)))
        Loader(self.scene).step(self._rng)
        Adder(self.scene).step(self._rng)
        backfilled(self.scene)
        programs.done("learn", place.index)
        stack.callback(self._finder.stop)
        for gate in (self._steady, self._killed) if place.node else ():
            stack.enter_context(_running(gate))
        self._stage = Stage(self._actors(), self.tally, self.tally.seed, self.length.pace)
        self.tally.begun = time.monotonic()
        self._stage.begin()
        stack.callback(self._faults.end)
        stack.callback(self._stage.end)
        pids = {"finder": lambda: self._finder.pid, "gate": lambda: self._steady.pid}
        pids |= {"killed gate": lambda: self._killed.pid}
        if place.node:
            pids["node"] = lambda: place.node.pid if place.node else None
        watch = Watch(self.tally, self.file, pids)
        watch.start()
        stack.callback(watch.stop)

    def _actors(self) -> list[Actor]:
        scene = self.scene
        users: list[Actor] = [Loader(scene), Adder(scene), Stranger(scene), Eraser(scene), Reader(scene, self._finder)]
        users += [Backfill(scene), Grouping(scene), SchemeChanger(scene, self.scheme)]
        gates = zip(GATES, (self._steady, self._killed), strict=True)
        return [*users, *(GateUser(scene, gate, called) for called, gate in gates)]

    def _go_on(self) -> None:
        """Have faults and checkpoints take their turns; the last thing is a checkpoint."""
        end = time.monotonic() + self.length.seconds
        next_fault = next_check = time.monotonic()
        next_fault += self.length.fault
        next_check += self.length.checkpoint
        while (now := time.monotonic()) < end:
            if now >= next_fault:
                self._fault()
                next_fault = time.monotonic() + self.length.fault * self._rng.uniform(0.5, 1.5)
            elif now >= next_check:
                self._checkpoint()
                next_check = time.monotonic() + self.length.checkpoint
            else:
                time.sleep(min(next_fault, next_check, end, now + 1) - now)
                # A machine that is suspended soaks nothing.
                suspended = max(time.monotonic() - now - _SUSPENDED_SECONDS, 0)
                end += suspended
                self.tally.begun += suspended
        self._checkpoint(is_last=True)

    def _hold_flat(self) -> None:
        """Hold that what lived as long as the soak did not grow."""
        for name in STEADY:
            samples = self.tally.samples.get(name, [])
            self.tally.hold(FLAT, grown(name, samples), len(samples))

    def _fault(self) -> None:
        try:
            self._faults.happen(self._rng)
        except Exception:
            self.tally.failed("a fault")

    def _checkpoint(self, is_last: bool = False) -> None:
        with self._stage.paused():
            try:
                check(self.scene, self.scheme)
            except Exception:
                self.tally.failed("a checkpoint")
            if is_last:  # nobody goes on
                self._stage.end()
        self.tally.save(self.file)


@contextmanager
def _running(gate: GateProcess) -> Iterator[None]:
    restarted(gate)
    try:
        yield
    finally:
        gate.kill()
