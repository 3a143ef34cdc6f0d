"""Hamming distance: the number of bit positions in which two codes differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash.errors import SchemeError

if TYPE_CHECKING:
    from es_simhash._core.arrays import Codes

Distances = npt.NDArray[np.uint8]


def check_distance(distance: int) -> int:
    """Return ``distance`` if it can be a greatest Hamming distance."""
    if not isinstance(distance, int) or isinstance(distance, bool) or distance < 0:
        raise SchemeError(f"{distance!r} is not a Hamming distance. Choose a whole number from 0.")
    return distance


def distance(a: int, b: int) -> int:
    """Return the Hamming distance of two codes given as integers."""
    return (a ^ b).bit_count()


def distances(a: Codes, b: Codes) -> Distances:
    """Return the Hamming distances of two arrays of codes; shapes broadcast, so one code may meet many.

    Codes of more than 64 bits have a last axis of two words (see `_core.bit_codes`), which both must have: one such
    code has the shape (1, 2), for (2,) would be two codes of 64 bits.
    """
    if a.ndim < 2 and b.ndim < 2:
        return bit_count(a ^ b)
    # Word by word: a sum over an axis of two is several times slower.
    return bit_count(a[..., 0] ^ b[..., 0]) + bit_count(a[..., 1] ^ b[..., 1])


def _bit_count_swar(x: Codes) -> Distances:
    """Count bits in parallel within each word (Warren, Hacker's Delight, 5-1), for numpy before 2.0."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    with np.errstate(over="ignore"):
        return ((x * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.uint8)


bit_count = np.bitwise_count if hasattr(np, "bitwise_count") else _bit_count_swar
