"""A simulation of a backfill on a cluster whose nodes fail: how long it takes, as a distribution.

Shards and their copies lie on the nodes in turns. A node divides its speed among the unfinished shards that it has a
copy of, and a shard is as fast as the slowest of its copies, since each writes every document. A node that is lost
takes its copies with it: a shard goes on with the others, or waits. When the node is back, it copies its shards anew,
at half its speed for documents. Searches, merges and neighbours count only as far as they are in the rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random
from statistics import fmean, quantiles

from es_simhash._core.environment import PATIENCE

_HOUR, _DAY = 3_600.0, 86_400.0
# Seconds of work that the shards of a lost node do again: requests without a reply, and a reader that begins anew.
_AGAIN = 30.0
# The speed at which servers copy shards by default (`indices.recovery.max_bytes_per_sec`), and what it leaves.
_RECOVERY, _WHILE_RECOVERING = 40e6, 0.5
# Nodes, and one day and the next, differ by about this share: measured runs of several sizes did.
_SPREAD = 0.15
# Finished, up to rounding.
_LEAST = 1e-6
RUNS = 100


@dataclass(frozen=True)
class Cluster:
    """The work and the nodes that share it: ``rate`` is how many documents a second a node writes into its copies."""

    documents: int
    bytes: float
    shards: int
    replicas: int
    nodes: int
    rate: float

    def places(self, shard: int) -> list[int]:
        """Return the nodes with a copy of a shard."""
        copies = min(self.replicas + 1, self.nodes)
        return [(shard * copies + copy) % self.nodes for copy in range(copies)]


@dataclass(frozen=True)
class Failures:
    """How often a node is lost, in a day, how many hours it is away, and for how many seconds a command waits."""

    a_day: float = 0.01
    hours_away: float = 1.0
    patience: float = PATIENCE


@dataclass(frozen=True)
class SimulatedRun:
    """One run: its hours, the nodes that were lost, and how often the command gave up and was begun again."""

    hours: float
    losses: int
    restarts: int


@dataclass(frozen=True)
class Forecast:
    """Many runs: hours that a tenth, half and nine tenths of them take, and means of losses and of restarts."""

    nodes: int
    p10: float
    p50: float
    p90: float
    losses: float
    restarts: float


def forecast(cluster: Cluster, failures: Failures, seed: int, runs: int = RUNS) -> Forecast:
    """Simulate a number of runs; the same seed gives the same ones."""
    found = [simulate(cluster, failures, Random(f"{seed} {cluster.nodes} {number}")) for number in range(runs)]
    tenths = quantiles([run.hours for run in found], n=10, method="inclusive")
    losses, restarts = fmean(run.losses for run in found), fmean(run.restarts for run in found)
    return Forecast(cluster.nodes, tenths[0], tenths[4], tenths[8], losses, restarts)


def simulate(cluster: Cluster, failures: Failures, random: Random) -> SimulatedRun:
    """Simulate one run."""
    state = _State.of(cluster, failures, random)
    while any(state.left):
        state.step()
    return SimulatedRun(state.now / _HOUR, state.losses, state.restarts)


@dataclass
class _State:
    """The moment of a run: documents left in each shard, and of each node its speed and when it changes."""

    cluster: Cluster
    failures: Failures
    random: Random
    left: list[float]
    speeds: list[float]
    fails: list[float]
    returns: list[float] = field(default_factory=list)
    recovered: list[float] = field(default_factory=list)
    now: float = 0.0
    losses: int = 0
    restarts: int = 0

    @classmethod
    def of(cls, cluster: Cluster, failures: Failures, random: Random) -> _State:
        day, nodes = random.gauss(1, _SPREAD), range(cluster.nodes)
        speeds = [cluster.rate * max(day + random.gauss(0, _SPREAD), 0.2) for _ in nodes]
        state = cls(
            cluster,
            failures,
            random,
            [cluster.documents / cluster.shards] * cluster.shards,
            speeds,
            [inf for _ in nodes],
        )
        state.returns, state.recovered = [0.0 for _ in nodes], [0.0 for _ in nodes]
        state.fails = [state.next_failure() for _ in nodes]
        return state

    def next_failure(self) -> float:
        """Draw when a node fails next."""
        a_day = self.failures.a_day
        # A rate that is almost zero is not divided by: it would be zero per second.
        return self.now + self.random.expovariate(1) * (_DAY / a_day) if a_day else inf

    def step(self) -> None:
        """Go on to the next shard that is done, node that is lost or back, or copied shards."""
        speeds = self.speeds_of_shards()
        done = min((left / speed for left, speed in zip(self.left, speeds, strict=True) if left and speed), default=inf)
        changes = (each for each in (*self.fails, *self.returns, *self.recovered) if each > self.now)
        until = min(self.now + done, min(changes, default=inf))
        self.left = [max(left - speed * (until - self.now), 0.0) for left, speed in zip(self.left, speeds, strict=True)]
        self.left = [0.0 if left < _LEAST else left for left in self.left]
        self.now = until
        for node, fails in enumerate(self.fails):
            if fails <= self.now:
                self.lose(node, speeds)

    def lose(self, node: int, speeds: Sequence[float]) -> None:
        """Lose a node: it is away for a time, and then copies its shards."""
        away = self.random.expovariate(1 / (self.failures.hours_away * _HOUR))
        self.losses += 1
        own = [shard for shard in range(self.cluster.shards) if node in self.cluster.places(shard)]
        for shard in own:
            if self.left[shard]:
                most = self.cluster.documents / self.cluster.shards
                self.left[shard] = min(self.left[shard] + speeds[shard] * _AGAIN, most)
        self.returns[node] = self.now + away
        alone = [shard for shard in own if self.left[shard] and not self.available(shard)]
        self.restarts += bool(alone) and away > self.failures.patience
        copied = 0.0 if self.cluster.replicas == 0 else len(own) * self.cluster.bytes / self.cluster.shards
        self.recovered[node] = self.returns[node] + copied / _RECOVERY
        self.fails[node] = self.next_failure() + away

    def available(self, shard: int) -> list[int]:
        """Return the nodes that are there and have a copy of a shard."""
        return [node for node in self.cluster.places(shard) if self.returns[node] <= self.now]

    def speeds_of_shards(self) -> list[float]:
        """Return how many documents a second each shard gets done."""
        copies = [self.available(shard) if left else [] for shard, left in enumerate(self.left)]
        loads = [0] * self.cluster.nodes
        for nodes in copies:
            for node in nodes:
                loads[node] += 1
        shares = [
            speed * (_WHILE_RECOVERING if self.recovered[node] > self.now else 1.0) / max(loads[node], 1)
            for node, speed in enumerate(self.speeds)
        ]
        return [min((shares[node] for node in nodes), default=0.0) for nodes in copies]
