"""What other thresholds would find, and at which the F1 is highest: on these very labels, so that it flatters."""

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
    """What a threshold finds: the share that is right, the share of what is to be found, and F1; None if neither."""

    threshold: float
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class Curve:
    """Points by their thresholds, in ascending order; a ``similarity`` is the least that is near, a ``distance`` the
    most.
    """

    axis: Axis
    points: Sequence[Point]

    @property
    def best(self) -> Point | None:
        """The point of the highest F1; of several the one in the middle. None if none has any."""
        highest = max((point.f1 for point in self.points if point.f1 is not None), default=None)
        same = [point for point in self.points if highest is not None and point.f1 == highest]
        return same[len(same) // 2] if same else None

    def at(self, threshold: float) -> Point | None:
        """The point at a threshold, if there is one within half a step."""
        near = min(self.points, key=lambda point: abs(point.threshold - threshold), default=None)
        return near if near and abs(near.threshold - threshold) <= _STEP / 2 else None


def similarity_curve(
    similarities: npt.NDArray[np.float64], are_right: npt.NDArray[np.bool_], positives: int, least: float
) -> Curve:
    """The curve of pairs with these similarities, from the ``least`` threshold on, in steps of 0.005."""
    steps = np.arange(round(least / _STEP), round(1 / _STEP) + 1) * _STEP
    thresholds = np.round(steps, _DIGITS)
    return Curve("similarity", _points(thresholds, similarities, are_right, positives))


def distance_curve(
    distances: npt.NDArray[np.int64], are_right: npt.NDArray[np.bool_], positives: int, most: int
) -> Curve:
    """The curve of pairs within these distances, for each number of bits up to the ``most``."""
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
    """What is found from each of ascending thresholds on."""
    found = [_from(thresholds, values[chosen]) for chosen in (are_right, ~are_right)]
    right, wrong = (each.astype(np.float64) for each in found)
    scores = Confusion(right, wrong, positives - right)
    rows = (thresholds, scores.precision, scores.recall, scores.f1)
    return [Point(point[0], *map(number, point[1:])) for point in zip(*(row.tolist() for row in rows), strict=True)]


def _from(thresholds: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """How many values there are from each threshold on."""
    counts: npt.NDArray[np.int64] = len(values) - np.searchsorted(np.sort(values), thresholds, side="left")
    return counts


def number(value: float) -> float | None:
    """The number, or None in place of NaN."""
    return None if np.isnan(value) else value
