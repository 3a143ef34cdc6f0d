"""Latencies of several ways to answer the same queries, asked in turns."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Query = TypeVar("Query")


@dataclass
class Latency:
    """How long queries took in each round, in milliseconds."""

    rounds: list[list[float]] = field(default_factory=list)

    @property
    def p50(self) -> float:
        """The median of a round, in the median over the rounds."""
        return statistics.median(map(statistics.median, self.rounds))

    @property
    def p90(self) -> float:
        """What nine in ten of a round were answered in, in the median over the rounds."""
        return statistics.median(statistics.quantiles(times, n=10)[8] for times in self.rounds)

    def shared_by(self, count: int) -> Latency:
        """The time of each of ``count`` that were asked for at once."""
        return Latency([[time / count for time in times] for times in self.rounds])


def in_turns(
    ways: Mapping[str, Callable[[Query], object]], queries: Sequence[Query], rounds: int, warm_up: Sequence[Query]
) -> dict[str, Latency]:
    """Ask each query in all ways, in an order that changes from query to query; those of the warm-up do not count."""
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
