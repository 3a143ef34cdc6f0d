"""Scores of pairs and clusterings against the truth.

For pairs, with TP right, FP wrong and FN missed::

    precision = TP / (TP + FP)    recall = TP / (TP + FN)    F1 = 2 TP / (2 TP + FP + FN)

For a found and a true clustering of n documents, with N = n (n - 1) / 2 pairs:

closure               precision, recall and F1 of all pairs within groups, also those that only others connect
adjusted Rand index   (TP - E) / ((A + B) / 2 - E) with A = TP + FN true pairs, B = TP + FP found ones and E = A B / N,
                      so that chance scores 0 (Hubert, Arabie, "Comparing partitions", 1985)
B-cubed               the mean over documents of the share of a document's found cluster that is in its true one
                      (precision), and of its true cluster that is in its found one (recall); F1 is their harmonic mean
                      (Bagga, Baldwin, "Entity-based cross-document coreferencing", 1998)

Undefined scores are NaN: a precision if nothing was found, a recall if there was nothing to find.
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
    """The numbers of right, wrong and missed pairs, in one sample or in several."""

    right: Many
    wrong: Many
    missed: Many

    @property
    def precision(self) -> Many:
        """The share of found pairs that are right."""
        return _share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> Many:
        """The share of true pairs that were found."""
        return _share(self.right, self.right + self.missed)

    @property
    def f1(self) -> Many:
        """The harmonic mean of both."""
        return _share(2 * self.right, 2 * self.right + self.wrong + self.missed)


def adjusted_rand_index(found: Confusion, documents: Many) -> Many:
    """Return the adjusted Rand index from the pairs within clusters; 1 if all clusters have one document."""
    all_pairs = documents * (documents - 1) / 2
    true, predicted = found.right + found.missed, found.right + found.wrong
    expected = np.nan_to_num(_share(true * predicted, all_pairs))  # a document alone makes no pairs
    highest = (true + predicted) / 2
    with np.errstate(invalid="ignore"):
        return np.where(highest == expected, 1.0, _share(found.right - expected, highest - expected))


@dataclass(frozen=True, eq=False)
class Contingency:
    """The number of documents that each true cluster has in each found one; only cells that have any."""

    true: Integers
    found: Integers
    counts: Integers

    @classmethod
    def of(cls, true: Integers, found: Integers) -> Contingency:
        """Count two clusterings, given as each document's cluster number, counted from 0."""
        columns = int(found.max(initial=-1)) + 1
        cells, counts = np.unique(true * columns + found, return_counts=True)
        return cls(cells // columns, cells % columns, counts)

    def pairs(self, times: Many) -> Confusion:
        """Count pairs within clusters, where each true cluster occurs as that many separate clusters."""
        counts = self.counts.astype(np.float64)
        own = times[self.true]
        right = (own * counts * (counts - 1) / 2).sum()
        sizes = np.bincount(self.true, counts, len(times))
        true = (times * sizes * (sizes - 1) / 2).sum()
        # Pairs of unequal true clusters in a found one: half of the square of the sum less the sum of squares.
        together = np.bincount(self.found, own * counts)
        apart = np.bincount(self.found, (own * counts) ** 2)
        wrong = ((together**2 - apart) / 2).sum()
        return Confusion(*map(np.asarray, (right, wrong, true - right)))

    def b_cubed(self) -> tuple[Many, Many]:
        """Return for each true cluster the sums of its documents' precision and recall."""
        counts = self.counts.astype(np.float64)
        true_sizes = np.bincount(self.true, counts)
        found_sizes = np.bincount(self.found, counts)
        precision = np.bincount(self.true, counts * counts / found_sizes[self.found])
        recall = np.bincount(self.true, counts * counts / true_sizes[self.true])
        return precision.astype(np.float64), recall.astype(np.float64)


def harmonic_mean(a: Many, b: Many) -> Many:
    """Return the harmonic mean of two numbers."""
    return _share(2 * a * b, a + b)


def _share(part: Many, whole: Many) -> Many:
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Many = np.asarray(part / whole)
    return share
