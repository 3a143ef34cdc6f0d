"""Numbers with their intervals, by bootstrap: what would other queries of the same kind have given?

B. Efron, "Bootstrap methods: another look at the jackknife", 1979. Queries are drawn with replacement, each with all
its rounds; the interval holds {level:.0%} of what the draws give. Ratios draw the same queries for both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

LEVEL, DRAWS = 0.95, 300
__doc__ = (__doc__ or "").format(level=LEVEL)

Places: TypeAlias = npt.NDArray[np.intp]
Times: TypeAlias = npt.NDArray[np.float64]
"""A row per round, a column per query."""


@dataclass(frozen=True)
class Estimate:
    """A number and the interval around it."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f}–{self.high:.2f})"


def estimate(statistic: Callable[[Places], float], count: int) -> Estimate:
    """Compute a statistic of ``count`` queries, and of draws of them."""
    rng = np.random.default_rng(1)
    drawn = [statistic(rng.integers(0, count, count)) for _ in range(DRAWS)]
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(statistic(np.arange(count)), float(low), float(high))


def over_rounds(values: Sequence[float]) -> Estimate:
    """Return the median of what the rounds gave."""
    return estimate(lambda places: float(np.median(np.take(values, places))), len(values))


def quantile(times: Times, share: float) -> Estimate:
    """Return the time that this share of the calls stays within."""
    return estimate(lambda places: float(np.quantile(times[:, places], share)), times.shape[1])


def spread(times: Times, share: float) -> Estimate:
    """Return a quantile in medians."""

    def of(places: Places) -> float:
        typical, late = np.quantile(times[:, places], [0.5, share])
        return float(late / typical)

    return estimate(of, times.shape[1])


def ratio(times: Times, others: Times, share: float = 0.5) -> Estimate:
    """Return the ratio of two quantiles of the same queries, which are the first of the one that has more."""
    count = min(times.shape[1], others.shape[1])

    def of(places: Places) -> float:
        return float(np.quantile(times[:, places], share) / np.quantile(others[:, places], share))

    return estimate(of, count)
