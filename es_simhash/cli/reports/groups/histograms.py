"""Histograms of group sizes, similarities and distances, counted as groups and pairs arrive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from es_simhash.groups.pairs.compare import Pairs

_BINS = 20
_WIDTHS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.025, 0.05)
_DIGITS = 4
_MOST_BITS = 128
_MOST_COLUMNS = 44


@dataclass(frozen=True)
class SizeBin:
    """Groups of ``least`` to ``most`` documents, and the number of their ``duplicates``."""

    least: int
    most: int
    groups: int
    duplicates: int


@dataclass(frozen=True)
class SimilarityBin:
    """Pairs with a similarity from ``least`` to ``below``."""

    least: float
    below: float
    pairs: int


@dataclass(frozen=True)
class Similarities:
    """The similarities of pairs; those below all ``bins``, and those of exactly 1, are counted separately.

    ``exact`` counts those compared by their texts; all others are estimates.
    """

    bins: tuple[SimilarityBin, ...]
    below: int
    equal: int
    exact: int

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return self.below + self.equal + sum(each.pairs for each in self.bins)


@dataclass(frozen=True)
class DistanceBin:
    """Pairs whose SimHashes differ in ``least`` to ``most`` bits."""

    least: int
    most: int
    pairs: int


class Sizes:
    """Counts groups by their size: 2, 3, 4, then 5 to 8, 9 to 16, and so on."""

    def __init__(self) -> None:
        self._groups: Counter[int] = Counter()
        self._duplicates: Counter[int] = Counter()

    def add(self, size: int, duplicates: int) -> None:
        """Count a group of this many documents."""
        most = size if size <= 4 else 1 << (size - 1).bit_length()
        self._groups[most] += 1
        self._duplicates[most] += duplicates

    def bins(self) -> Iterator[SizeBin]:
        """Yield all bins up to that of the largest group."""
        most, last = 2, max(self._groups, default=0)
        while most <= last:
            least = most if most <= 4 else most // 2 + 1
            yield SizeBin(least, most, self._groups[most], self._duplicates[most])
            most = most + 1 if most < 4 else 2 * most


class PairCounts:
    """Counts pairs by similarity and by distance, if known; ``threshold`` is the minimum similarity."""

    def __init__(self, threshold: float | None) -> None:
        self._edges = _edges(threshold or 0.0)
        self._counts = np.zeros(_BINS, dtype=np.int64)
        self._below = self._equal = self._exact = 0
        self._distances = np.zeros(_MOST_BITS + 1, dtype=np.int64)
        self._has_similarities = self._has_distances = False

    def add(self, pairs: Pairs) -> None:
        """Count some pairs."""
        names = pairs.dtype.names or ()
        if "similarity" in names:
            self._add_similarities(pairs["similarity"])
            self._exact += int(pairs["is_exact"].sum()) if "is_exact" in names else 0
        if "distance" in names:
            self._has_distances |= bool(len(pairs))
            self._distances += np.bincount(pairs["distance"], minlength=len(self._distances))

    def _add_similarities(self, similarities: npt.NDArray[np.float64]) -> None:
        self._has_similarities |= bool(len(similarities))
        self._counts += np.histogram(similarities[similarities < 1], self._edges)[0]
        self._below += int((similarities < self._edges[0]).sum())
        self._equal += int((similarities >= 1).sum())

    def similarities(self) -> Similarities | None:
        """Return the similarities; None if no pair has one."""
        if not self._has_similarities:
            return None
        edges = self._edges.tolist()
        bins = zip(edges[:-1], edges[1:], self._counts.tolist(), strict=True)
        return Similarities(tuple(SimilarityBin(*each) for each in bins), self._below, self._equal, self._exact)

    def distances(self) -> Iterator[DistanceBin]:
        """Yield the distances up to the largest, if any pair has one."""
        if not self._has_distances:
            return
        last = int(np.flatnonzero(self._distances)[-1])
        width = last // _MOST_COLUMNS + 1
        for least in range(0, last + 1, width):
            yield DistanceBin(least, least + width - 1, int(self._distances[least : least + width].sum()))


def _edges(threshold: float) -> npt.NDArray[np.float64]:
    """Return the edges of the bins: round numbers from at or just below the threshold to 1."""
    width = next(width for width in _WIDTHS if round(1 - _BINS * width, _DIGITS) <= threshold or width == _WIDTHS[-1])
    return np.array([round(1 - width * (_BINS - place), _DIGITS) for place in range(_BINS + 1)])
