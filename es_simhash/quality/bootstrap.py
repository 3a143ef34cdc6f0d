"""Percentile intervals of the bootstrap: how far scores may be off on other documents of the same kind.

Pairs of documents depend on each other, so true clusters are drawn instead: as many as there are, with replacement
(Efron, "Bootstrap methods: another look at the jackknife", 1979). A document in no cluster is a cluster of its own. In
a sample that has the cluster c w(c) times, a pair within c counts w(c) times, and a pair between c and d w(c) w(d)
times. The 95% interval covers the middle 95% of all samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.stages import counted_each
from es_simhash.quality.scores import Many

ROUNDS = 200
_BETWEEN = (2.5, 97.5)

# The name of a score.
Name = TypeVar("Name")


@dataclass(frozen=True)
class Estimate:
    """A score on all documents, and the ends of its interval; None if undefined or not requested."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Bootstrap:
    """The number of samples (``rounds``) and their ``seed``; no intervals for 0 rounds."""

    rounds: int = ROUNDS
    seed: int = 0

    def samples(self, clusters: int) -> Iterator[Many]:
        """Draw the samples: how often each cluster occurs in each."""
        chosen = np.random.default_rng(self.seed)
        for _ in range(self.rounds):
            drawn = chosen.integers(0, clusters, clusters)
            yield np.bincount(drawn, minlength=clusters).astype(np.float64)

    def estimates(self, clusters: int, score: Callable[[Many], Mapping[Name, float]]) -> dict[Name, Estimate]:
        """Estimate scores with their intervals; ``score`` computes them for given numbers of each cluster."""
        values = score(np.ones(clusters))
        samples = [score(times) for times in counted_each("Sampling", self.samples(clusters), self.rounds, "samples")]
        return {name: _estimate(value, [sample[name] for sample in samples]) for name, value in values.items()}


def _estimate(value: float, samples: list[float]) -> Estimate:
    defined = [sample for sample in samples if not np.isnan(sample)]
    if np.isnan(value) or not defined:
        return Estimate(None if np.isnan(value) else value)
    low, high = np.percentile(defined, _BETWEEN).tolist()
    return Estimate(value, low, high)


def times_of_pairs(times: Many, first: Integers, second: Integers) -> Many:
    """Return how often pairs count whose documents are in these clusters."""
    return np.where(first == second, times[first], times[first] * times[second])
