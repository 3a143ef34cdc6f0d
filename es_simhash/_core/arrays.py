"""Tools for ragged arrays: rows of different lengths, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)

# glibc's threshold rises to 32 MiB at most.
_KEPT_BYTES = 31 << 20


@cache
def keep_freed_memory() -> None:
    """Let the C library keep up to 62 MiB of freed memory for the next arrays, instead of returning it each time.

    glibc maps new pages for each large array, and the system clears them, which takes longer than most of what is done
    with them here. Once a mapped block is freed, glibc keeps blocks of up to its size, and twice as much in all
    (mallopt(3), M_MMAP_THRESHOLD). This block is never touched, so it costs nothing; elsewhere it has no effect.
    """
    np.empty(_KEPT_BYTES, dtype=np.uint8)


def offsets_from_counts(counts: Integers) -> Integers:
    """Return where each row begins and ends: 0, and the running totals of the rows' lengths."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def spread(counts: Integers) -> tuple[Integers, Integers]:
    """Return, for rows of ``counts`` elements, each element's row and its position in it, from 0."""
    rows = np.repeat(np.arange(len(counts)), counts)
    return rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)


def spread_chunks(counts: Integers, limit: int) -> Iterator[tuple[Integers, Integers]]:
    """Yield what `spread` returns, in chunks of at most ``limit`` elements, so that the memory stays bounded."""
    ends = np.cumsum(counts)
    starts = ends - counts
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, limit):
        stop = min(start + limit, total)
        first, last = np.searchsorted(ends, (start, stop - 1), side="right")
        here = slice(first, last + 1)
        sizes = np.minimum(ends[here], stop) - np.maximum(starts[here], start)
        rows = np.repeat(np.arange(first, last + 1), sizes)
        yield rows, np.arange(start, stop) - starts[rows]


def positions_in_rows(counts: Integers) -> Integers:
    """Count up from 0 in each row."""
    return spread(counts)[1]


def rows_of(offsets: Integers) -> Integers:
    """Return the row of each element."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def select(
    values: npt.NDArray[Scalar], offsets: Integers, kept: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[Scalar], Integers]:
    """Return the kept values, and the offsets of what is left of each row."""
    positions = np.flatnonzero(kept)
    return values[positions], np.searchsorted(positions, offsets)


def distinct_numbers(numbers: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Return each number once, in ascending order. numpy's `unique` would first import what takes long to load."""
    return distinct_sorted(np.sort(numbers, axis=None))


def distinct_sorted(ordered: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Return each of sorted numbers once."""
    is_new = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]
