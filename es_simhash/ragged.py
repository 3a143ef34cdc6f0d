"""Ragged ranges: each of many owners has a number of items, all laid out one after another in flat arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator

Index = npt.NDArray[np.int64]


def spread(counts: Index) -> tuple[Index, Index]:
    """For owners of ``counts`` items, each item's owner and its place, from 0, among its owner's items."""
    owners = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    return owners, np.arange(len(owners)) - starts[owners]


def spread_chunks(counts: Index, limit: int) -> Iterator[tuple[Index, Index]]:
    """What `spread` gives, in chunks of at most ``limit`` items, so that the memory stays bounded."""
    ends = np.cumsum(counts)
    starts = ends - counts
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, limit):
        stop = min(start + limit, total)
        first, last = np.searchsorted(ends, (start, stop - 1), side="right")
        here = slice(first, last + 1)
        sizes = np.minimum(ends[here], stop) - np.maximum(starts[here], start)
        owners = np.repeat(np.arange(first, last + 1), sizes)
        yield owners, np.arange(start, stop) - starts[owners]
