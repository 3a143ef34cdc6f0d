"""Times and memory of work, and latencies of several ways to answer the same queries, in turns."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks import intervals
from benchmarks.intervals import Estimate, Times

Query = TypeVar("Query")
# Queries that one way answers before it is another's turn.
BLOCK = 10
# A way is warm when this many passes over the queries were hardly quicker than one before, or after this time.
PASSES, QUICKER, WARM_MS = 3, 0.98, 20_000.0


@dataclass(frozen=True)
class Latency:
    """Times of the queries in milliseconds, and the CPU time of a call: ours and the server's."""

    times: Times
    client: float
    server: float

    @property
    def p50(self) -> float:
        """The median."""
        return float(np.median(self.times))

    @property
    def p90(self) -> float:
        """The 90th percentile."""
        return float(np.quantile(self.times, 0.9))

    def within(self, share: float) -> Estimate:
        """Return the time that this share of the calls stays within."""
        return intervals.quantile(self.times, share)

    def spread(self, share: float) -> Estimate:
        """Return in medians the time that this share of the calls stays within."""
        return intervals.spread(self.times, share)

    def over(self, other: Latency, share: float = 0.5) -> Estimate:
        """Return the ratio to another way's time for the same queries."""
        return intervals.ratio(self.times, other.times, share)

    def shared_by(self, count: int) -> Latency:
        """Return the time per query of batches of ``count``."""
        return Latency(self.times / count, self.client / count, self.server / count)


def in_turns(
    ways: Mapping[str, Callable[[Query], object]],
    queries: Sequence[Query],
    rounds: int,
    warm_up: Sequence[Query],
    server_cpu: Callable[[], float] = lambda: math.nan,
) -> dict[str, Latency]:
    """Run each query in all ways, some queries at a time, in an order that changes each time, after a warm-up."""
    shuffle = random.Random(1).shuffle
    order = list(ways.items())
    times: dict[str, list[float]] = {name: [] for name in ways}
    client, server = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
    _warm_up(ways, warm_up)
    for _ in range(rounds):
        for first in range(0, len(queries), BLOCK):
            shuffle(order)
            for name, ask in order:
                own, theirs = time.process_time(), server_cpu()
                times[name] += [_milliseconds(ask, query) for query in queries[first : first + BLOCK]]
                client[name] += time.process_time() - own
                server[name] += server_cpu() - theirs
    calls = rounds * len(queries) / 1e3
    return {
        name: Latency(np.reshape(times[name], (rounds, -1)), client[name] / calls, server[name] / calls)
        for name in ways
    }


def in_turns_but_slow(
    ways: Mapping[str, Callable[[Query], object]],
    queries: Sequence[Query],
    rounds: int,
    warm_up: Sequence[Query],
    slow: float,
    server_cpu: Callable[[], float],
) -> dict[str, Latency]:
    """Run the queries in turns, and the first fifth of them in ways that take longer than ``slow`` milliseconds."""
    late = {name for name, typical in _warm_up(ways, warm_up).items() if typical > slow}
    few = queries[: math.ceil(len(queries) / 5)]
    quick = in_turns({name: ways[name] for name in ways if name not in late}, queries, rounds, [], server_cpu)
    others = in_turns({name: ways[name] for name in late}, few, rounds, [], server_cpu)
    return {name: (others if name in late else quick)[name] for name in ways}


def _warm_up(ways: Mapping[str, Callable[[Query], object]], queries: Sequence[Query]) -> dict[str, float]:
    """Run queries in all ways, each until it gets no quicker; return the lowest median time.

    A server compiles what it runs often, over some thousands of calls, and is much slower before.
    """
    return {name: _warmed(partial(_milliseconds, ask), queries) for name, ask in ways.items() if queries}


def _warmed(time_of: Callable[[Query], float], queries: Sequence[Query]) -> float:
    lowest, spent, since = math.inf, 0.0, 0
    while since < PASSES and spent < WARM_MS:
        times = [time_of(query) for query in queries]
        typical = statistics.median(times)
        since = 0 if typical < QUICKER * lowest else since + 1
        lowest, spent = min(lowest, typical), spent + sum(times)
    return lowest


def _milliseconds(ask: Callable[[Query], object], query: Query) -> float:
    start = time.perf_counter()
    ask(query)
    return (time.perf_counter() - start) * 1e3


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Measure the wall time and the CPU time of some work in this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def peak() -> int:
    """Return the peak memory of this process, in KiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
