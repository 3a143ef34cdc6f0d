"""Precision, recall and F1 by threshold; the best F1 flatters, since it is chosen on the same labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash.quality.scores import Confusion

Axis: TypeAlias = Literal["similarity", "distance"]

_STEP = 0.005
_DIGITS = 3


@dataclass(frozen=True)
class Point:
    """The scores of a threshold; None where a score is undefined."""

    threshold: float
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class Curve:
    """Points in ascending order of their thresholds: minimum similarities, or maximum distances."""

    JSON = ("axis", "best", "points")

    axis: Axis
    points: Sequence[Point]

    @property
    def best(self) -> Point | None:
        """The point with the highest F1, the middle one of several; None if no point has an F1."""
        highest = max((point.f1 for point in self.points if point.f1 is not None), default=None)
        same = [point for point in self.points if highest is not None and point.f1 == highest]
        return same[len(same) // 2] if same else None

    def at(self, threshold: float) -> Point | None:
        """Return the point at a threshold, or None if none is within half a step."""
        near = min(self.points, key=lambda point: abs(point.threshold - threshold), default=None)
        return near if near and abs(near.threshold - threshold) <= _STEP / 2 else None


def similarity_curve(
    similarities: npt.NDArray[np.float64], are_right: npt.NDArray[np.bool_], positives: int, least: float
) -> Curve:
    """Return the curve of pairs with these similarities, from the ``least`` threshold in steps of 0.005."""
    steps = np.arange(round(least / _STEP), round(1 / _STEP) + 1) * _STEP
    thresholds = np.round(steps, _DIGITS)
    return Curve("similarity", _points(thresholds, similarities, are_right, positives))


def distance_curve(
    distances: npt.NDArray[np.int64], are_right: npt.NDArray[np.bool_], positives: int, most: int
) -> Curve:
    """Return the curve of pairs with these distances, for each number of bits up to ``most``."""
    bits = np.arange(most, -1, -1)
    points = _points(-bits.astype(np.float64), -distances.astype(np.float64), are_right, positives)
    bits_of = [Point(-point.threshold, point.precision, point.recall, point.f1) for point in reversed(points)]
    return Curve("distance", bits_of)


def _points(
    thresholds: npt.NDArray[np.float64],
    values: npt.NDArray[np.float64],
    are_right: npt.NDArray[np.bool_],
    positives: int,
) -> list[Point]:
    """Score each of ascending thresholds."""
    found = [_from(thresholds, values[chosen]) for chosen in (are_right, ~are_right)]
    right, wrong = (each.astype(np.float64) for each in found)
    scores = Confusion(right, wrong, positives - right)
    rows = (thresholds, scores.precision, scores.recall, scores.f1)
    return [Point(point[0], *map(number, point[1:])) for point in zip(*(row.tolist() for row in rows), strict=True)]


def _from(thresholds: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Count the values at or above each threshold."""
    counts: npt.NDArray[np.int64] = len(values) - np.searchsorted(np.sort(values), thresholds, side="left")
    return counts


def number(value: float) -> float | None:
    """Return the number, or None for NaN."""
    return None if np.isnan(value) else value
