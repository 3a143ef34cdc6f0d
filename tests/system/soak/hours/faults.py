"""What happens to a server, to gates and to the clock while users go on."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.support.gate_process import GateProcess
from tests.system.soak.full_disk import await_true, is_blocked, set_free_space
from tests.system.soak.hours.actors import Scene
from tools.nodes import Node
from tools.nodes.node import NodeError, OwnedNode

NODE_KILLED, NODE_RESTARTED = "node killed", "node restarted"
GATE_KILLED, CLOCK = "gate killed", "clock jump"
DISK, QUEUE = "disk full", "queue full"

_FULL_SECONDS, _BUSY_SECONDS, _AWAY_SECONDS = 6.0, 4.0, 2.0
_HOUR, _DAY = 3_600, 86_400
_JUMPS = (2 * _HOUR, -_HOUR, 40 * _DAY, -_HOUR / 2, 0)
_SHARE_OF_LATE_KILLS = 0.5
_ATTEMPTS = 60


@dataclass
class Faults:
    """Has one fault happen after the other, each kind in its turn; the ``gates`` may be killed."""

    scene: Scene
    gates: Sequence[GateProcess]
    _due: list[str] = field(default_factory=list)

    @property
    def kinds(self) -> dict[str, Callable[[random.Random], None]]:
        """What can happen here."""
        found: dict[str, Callable[[random.Random], None]] = {}
        if isinstance(self.scene.place.node, OwnedNode):
            found = {NODE_KILLED: self._kill_node, NODE_RESTARTED: self._restart_node}
            found |= {DISK: self._fill_disk, QUEUE: self._fill_queue}
        if self.gates and self.scene.place.node:
            found[GATE_KILLED] = self._kill_gate
        return {**found, CLOCK: self._jump}

    def happen(self, rng: random.Random) -> None:
        """Have the next fault happen, until it is over."""
        kinds = self.kinds
        if not self._due:
            self._due = rng.sample(list(kinds), len(kinds))
        if self._due:
            kind = self._due.pop()
            with self.scene.tally.fault(kind):
                kinds[kind](rng)

    def end(self) -> None:
        """Have nothing left of any fault."""
        self.scene.programs.clock.jump(0)

    def _kill_node(self, rng: random.Random) -> None:
        node = self._node
        assert isinstance(node, OwnedNode)
        node.kill()
        time.sleep(rng.uniform(0, _AWAY_SECONDS))
        node.start()

    def _restart_node(self, rng: random.Random) -> None:
        self._node.restart()

    def _kill_gate(self, rng: random.Random) -> None:
        gate = rng.choice(self.gates)
        gate.kill()
        restarted(gate)

    def _jump(self, rng: random.Random) -> None:
        self.scene.programs.clock.jump(rng.choice(_JUMPS))
        if self.gates and self.scene.place.node and rng.random() < _SHARE_OF_LATE_KILLS:
            self._kill_gate(rng)

    def _fill_disk(self, rng: random.Random) -> None:
        node, index = self._node, self.scene.place.index
        set_free_space(node, "999999gb")
        try:
            await_true(lambda: is_blocked(node, index))
            time.sleep(_FULL_SECONDS)
        finally:
            set_free_space(node, "1b")
            await_true(lambda: not is_blocked(node, index))

    def _fill_queue(self, rng: random.Random) -> None:
        """Write to another index from several threads, so that the queue, which has one place, is full."""
        node, until = self._node, time.monotonic() + _BUSY_SECONDS
        document = {"text": "busy " * 20_000}

        def write(number: int) -> None:
            while time.monotonic() < until:
                node.request("PUT", f"/pressure/_doc/{number}", document)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(write, range(6)))
        node.request("DELETE", "/pressure")

    @property
    def _node(self) -> Node:
        assert self.scene.place.node
        return self.scene.place.node


def restarted(gate: GateProcess) -> None:
    """Start a gate, again if the server is away."""
    for _ in range(_ATTEMPTS):
        try:
            gate.start()
        except AssertionError:
            time.sleep(1)
        else:
            return
    raise NodeError("the gate did not start")
