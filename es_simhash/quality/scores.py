"""Scores of what was found, against what is true.

Of pairs, with TP found rightly, FP found wrongly and FN missed::

    precision = TP / (TP + FP)    recall = TP / (TP + FN)    F1 = 2 TP / (2 TP + FP + FN)

Of clusterings, for one that was found and the true one, of n documents in N = n (n - 1) / 2 pairs:

adjusted Rand index   (TP - E) / ((A + B) / 2 - E) with A = TP + FN true pairs, B = TP + FP found ones and E = A B / N,
                      so that chance has 0 (Hubert, Arabie, "Comparing partitions", 1985)
B-cubed               the mean over documents of the share of a document's found cluster that is of its true one
                      (precision), and of its true cluster that is in its found one (recall); F1 is their harmonic mean
                      (Bagga, Baldwin, "Entity-based cross-document coreferencing", 1998)

What has no meaning is NaN: a precision where nothing was found, a recall where nothing was to be found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers

# A number for each of several samples, or one.
Many = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Confusion:
    """How many pairs were found rightly, found wrongly, and missed; of several samples, or of one."""

    right: Many
    wrong: Many
    missed: Many

    @property
    def precision(self) -> Many:
        """The share of what was found that is right."""
        return _share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> Many:
        """The share of what is to be found that was found."""
        return _share(self.right, self.right + self.missed)

    @property
    def f1(self) -> Many:
        """The harmonic mean of both."""
        return _share(2 * self.right, 2 * self.right + self.wrong + self.missed)


def adjusted_rand_index(found: Confusion, documents: Many) -> Many:
    """The adjusted Rand index, from pairs of documents that clusters have in common; 1 if both are all alone."""
    all_pairs = documents * (documents - 1) / 2
    true, predicted = found.right + found.missed, found.right + found.wrong
    expected = np.nan_to_num(_share(true * predicted, all_pairs))  # a document alone makes no pairs
    highest = (true + predicted) / 2
    with np.errstate(invalid="ignore"):
        return np.where(highest == expected, 1.0, _share(found.right - expected, highest - expected))


@dataclass(frozen=True, eq=False)
class Contingency:
    """How many documents each true cluster has in each found one: only the cells in which there are any."""

    true: Integers
    found: Integers
    counts: Integers

    @classmethod
    def of(cls, true: Integers, found: Integers) -> Contingency:
        """The table of two clusterings, which are the numbers of each document's clusters, counted from 0."""
        columns = int(found.max(initial=-1)) + 1
        cells, counts = np.unique(true * columns + found, return_counts=True)
        return cls(cells // columns, cells % columns, counts)

    def pairs(self, times: Many) -> Confusion:
        """Pairs within clusters, where each true cluster comes so many ``times``, each time as one of its own."""
        counts = self.counts.astype(np.float64)
        own = times[self.true]
        right = (own * counts * (counts - 1) / 2).sum()
        sizes = np.bincount(self.true, counts, len(times))
        true = (times * sizes * (sizes - 1) / 2).sum()
        # In a found cluster, those of unequal true ones: half of what the square of the sum has beside the squares.
        together = np.bincount(self.found, own * counts)
        apart = np.bincount(self.found, (own * counts) ** 2)
        wrong = ((together**2 - apart) / 2).sum()
        return Confusion(*map(np.asarray, (right, wrong, true - right)))

    def b_cubed(self) -> tuple[Many, Many]:
        """For each true cluster the sums of its documents' precision and of their recall."""
        counts = self.counts.astype(np.float64)
        true_sizes = np.bincount(self.true, counts)
        found_sizes = np.bincount(self.found, counts)
        precision = np.bincount(self.true, counts * counts / found_sizes[self.found])
        recall = np.bincount(self.true, counts * counts / true_sizes[self.true])
        return precision.astype(np.float64), recall.astype(np.float64)


def harmonic_mean(a: Many, b: Many) -> Many:
    """The harmonic mean of two numbers."""
    return _share(2 * a * b, a + b)


def _share(part: Many, whole: Many) -> Many:
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Many = np.asarray(part / whole)
    return share
