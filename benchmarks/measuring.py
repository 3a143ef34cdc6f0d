"""Times and memory of work, and latencies of several ways to answer the same queries, in turns."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

Query = TypeVar("Query")


@dataclass
class Latency:
    """Times of the queries of each round, in milliseconds."""

    rounds: list[list[float]] = field(default_factory=list)

    @property
    def p50(self) -> float:
        """Median over the rounds of their medians."""
        return statistics.median(map(statistics.median, self.rounds))

    @property
    def p90(self) -> float:
        """Median over the rounds of their 90th percentiles."""
        return statistics.median(statistics.quantiles(times, n=10)[8] for times in self.rounds)

    def shared_by(self, count: int) -> Latency:
        """Return the time per query of batches of ``count``."""
        return Latency([[time / count for time in times] for times in self.rounds])


def in_turns(
    ways: Mapping[str, Callable[[Query], object]], queries: Sequence[Query], rounds: int, warm_up: Sequence[Query]
) -> dict[str, Latency]:
    """Run each query in all ways, in an order that changes from query to query, after a warm-up."""
    shuffle = random.Random(1).shuffle
    latencies = {name: Latency() for name in ways}
    for number, chosen in enumerate([warm_up, *[queries] * rounds]):
        times: dict[str, list[float]] = {name: [] for name in ways}
        order = list(ways.items())
        for query in chosen:
            shuffle(order)
            for name, ask in order:
                start = time.perf_counter()
                ask(query)
                times[name].append((time.perf_counter() - start) * 1e3)
        if number:
            for name, latency in latencies.items():
                latency.rounds.append(times[name])
    return latencies


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Measure the wall time and the CPU time of some work in this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def peak() -> int:
    """Return the peak memory of this process, in KiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
