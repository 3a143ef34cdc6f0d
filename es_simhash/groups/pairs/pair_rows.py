"""The stored rows of the documents of pairs, which are read once however many pairs name them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_sorted
from es_simhash._core.native import native
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.stored_rows import Numbers, Rows
from es_simhash.sketches import hamming
from es_simhash.sketches.hamming import Distances
from es_simhash.sketches.minhash.common import VALUE_BITS, estimates, similarities_of_shares

_ESTIMATED_AT_ONCE = 1 << 12

Places = npt.NDArray[np.integer[Any]]


class HasRows(Protocol):
    """Stored rows."""

    def take(self, rows: Integers) -> Rows:
        """Return rows by their numbers, which must ascend."""


class PairRows:
    """The rows of both documents of pairs, which are given as numbers."""

    def __init__(self, codes: Numbers) -> None:
        self._documents, self._first, self._second = _places(codes)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._first)

    def of(self, columns: HasRows) -> tuple[Rows, Rows]:
        """Return the rows of the first documents of the pairs, and those of the second."""
        taken = columns.take(self._documents)
        return taken[self._first], taken[self._second]

    def are_equal(self, columns: HasRows) -> npt.NDArray[np.bool_]:
        """Return which pairs have equal rows."""
        first, second = self.of(columns)
        found: npt.NDArray[np.bool_] = (first == second).all(axis=1)
        return found

    def distances(self, simhashes: HasRows) -> Distances:
        """Compute the Hamming distances of the pairs."""
        first, second = self.of(simhashes)
        is_narrow = first.shape[1] == 1
        return hamming.distances(first[:, 0], second[:, 0]) if is_narrow else hamming.distances(first, second)

    def estimates(self, signatures: HasRows, value_bits: int, size: int) -> npt.NDArray[np.float64]:
        """Estimate the similarities of the pairs by the first ``size`` values of stored signatures."""
        taken = np.ascontiguousarray(signatures.take(self._documents)[:, :size])
        if (kernels := native()) and value_bits < VALUE_BITS:
            agreements = kernels.agreements(taken, self._first, self._second, value_bits)
            return similarities_of_shares(agreements / taken.shape[1], value_bits)
        found = np.empty(len(self._first), dtype=np.float64)
        for start in range(0, len(found), _ESTIMATED_AT_ONCE):
            here = slice(start, start + _ESTIMATED_AT_ONCE)
            found[here] = estimates(taken[self._first[here]], taken[self._second[here]], value_bits)
        return found


def agreements_with(some: Rows, others: Rows, value_bits: int) -> npt.NDArray[np.integer[Any]]:
    """Count at how many places each of some stored signatures agrees with each of the others."""
    if kernels := native():
        rows = np.concatenate([some, others])
        first = np.repeat(np.arange(len(some), dtype=np.uint32), len(others))
        second = np.tile(np.arange(len(some), len(rows), dtype=np.uint32), len(some))
        counts: npt.NDArray[np.uint32] = kernels.agreements(rows, first, second, min(value_bits, VALUE_BITS))
        return counts.reshape(len(some), len(others))
    mask = np.asarray((1 << value_bits) - 1, dtype=some.dtype)
    return np.array([np.count_nonzero((one ^ others) & mask == 0, axis=1) for one in some])


def _places(codes: Numbers) -> tuple[npt.NDArray[np.int64], Places, Places]:
    """Return the documents of pairs, each once, and where among these those of each pair are."""
    if kernels := native():
        documents, first, second = kernels.places(codes)
        return documents, first, second
    ones, others = positions(codes)
    documents = distinct_sorted(np.sort(np.concatenate([ones, others])))
    return documents, np.searchsorted(documents, ones), np.searchsorted(documents, others)
