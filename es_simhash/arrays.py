"""Small tools for ragged arrays: rows of different lengths that stand one after the other."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)


def offsets_from_counts(counts: Integers) -> Integers:
    """Where each row begins and ends: 0, and the running totals of the rows' lengths."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def positions_in_rows(counts: Integers) -> Integers:
    """0, 1, … up to its length for each row."""
    offsets = offsets_from_counts(counts)
    return np.arange(offsets[-1], dtype=np.int64) - np.repeat(offsets[:-1], counts)


def rows_of(offsets: Integers) -> Integers:
    """The row to which each element belongs."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def select(values: npt.NDArray[Scalar], offsets: Integers, kept: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[Scalar], Integers]:
    """The kept values, and the offsets of what is left of each row."""
    positions = np.flatnonzero(kept)
    return values[positions], np.searchsorted(positions, offsets)
