"""How far scores would be off on other documents of the same kind: percentile intervals of the bootstrap.

Pairs of documents are not independent of each other, so they are not what is drawn. True clusters are, documents in
none being one of their own: as many as there are, with replacement (Efron, "Bootstrap methods: another look at the
jackknife", 1979). In a sample that has the cluster c w(c) times, a pair within c counts w(c) times, and one between c
and d w(c) w(d) times. The interval of 95% has what the middle 95% of all samples have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash.quality.scores import Many

ROUNDS = 200
_BETWEEN = (2.5, 97.5)

# What a score is called.
Name = TypeVar("Name")


@dataclass(frozen=True)
class Estimate:
    """A score on all documents, and the ends of its interval; None where it has no meaning, or was not asked for."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Bootstrap:
    """So many ``rounds`` of samples, which are the same for the same ``seed``; none without rounds."""

    rounds: int = ROUNDS
    seed: int = 0

    def samples(self, clusters: int) -> Iterator[Many]:
        """How often each of so many clusters comes in each sample."""
        chosen = np.random.default_rng(self.seed)
        for _ in range(self.rounds):
            drawn = chosen.integers(0, clusters, clusters)
            yield np.bincount(drawn, minlength=clusters).astype(np.float64)

    def estimates(self, clusters: int, score: Callable[[Many], Mapping[Name, float]]) -> dict[Name, Estimate]:
        """Scores with their intervals: ``score`` tells them of a sample that has each cluster so many times."""
        values = score(np.ones(clusters))
        samples = [score(times) for times in self.samples(clusters)]
        return {name: _estimate(value, [sample[name] for sample in samples]) for name, value in values.items()}


def _estimate(value: float, samples: list[float]) -> Estimate:
    told = [sample for sample in samples if not np.isnan(sample)]
    if np.isnan(value) or not told:
        return Estimate(None if np.isnan(value) else value)
    low, high = np.percentile(told, _BETWEEN).tolist()
    return Estimate(value, low, high)


def times_of_pairs(times: Many, first: Integers, second: Integers) -> Many:
    """How often pairs count whose documents are of these clusters."""
    return np.where(first == second, times[first], times[first] * times[second])
