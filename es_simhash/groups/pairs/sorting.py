"""Sorting more numbers than fit into memory: they are read once for each range of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Scalar = TypeVar("Scalar", bound=np.generic)

Numbers = npt.NDArray[np.uint64]
Read = Callable[[], Iterator[Numbers]]

# Ranges are this much smaller than the limit, so that an uneven spread of values seldom exceeds it.
_SLACK = 1.25
_ALL = 1 << 64


def sorted_pieces(read: Read, total: int, top: int, limit: int, grain: int = 1) -> Iterator[Numbers]:
    """Sort the ``total`` numbers below ``top`` that ``read`` yields; yield them in arrays of up to ``limit``.

    Numbers with the same quotient by ``grain`` come in the same array, which is longer if there are more of them.
    """
    parts = 1 if total <= limit else int(_SLACK * total / limit) + 1
    ends = [top * part // parts // grain * grain for part in range(parts + 1)]
    for low, high in pairwise(ends):
        yield from _piece(read, low, high, limit, grain)


def _piece(read: Read, low: int, high: int, limit: int, grain: int) -> Iterator[Numbers]:
    found = _within(read, low, high, limit, grain)
    if found is not None:
        found.sort()
        yield found
    else:
        middle = (low + high) // 2 // grain * grain
        yield from _piece(read, low, middle, limit, grain)
        yield from _piece(read, middle, high, limit, grain)


def _within(read: Read, low: int, high: int, limit: int, grain: int) -> Numbers | None:
    """Read the numbers from ``low`` up to ``high``, unless they are too many and the range can be divided."""
    found = [np.empty(0, dtype=np.uint64)]
    count = 0
    takes_all = high - low == _ALL
    for numbers in read():
        # One comparison instead of two: numbers below the range wrap around to above it.
        inside = numbers if takes_all else numbers[numbers - np.uint64(low) <= np.uint64(high - low - 1)]
        found.append(inside)
        count += len(inside)
        if count > limit and high - low > grain:
            return None
    return np.concatenate(found)
