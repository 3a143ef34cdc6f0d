"""A Bloom filter of keys: which of many keys may have been added, in two bits of memory each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

# Odd numbers, whose products with a key are spread over all 64 bits.
_FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
_BITS_A_KEY, _LEAST_BITS = 16, 20


class KeyFilter:
    """A filter with ``room`` for a number of keys; once full, it takes one in 70 of the others for one that was added.

    Its memory is two to four bytes for each key that there is room for.
    """

    def __init__(self, room: int) -> None:
        bits = max(_LEAST_BITS, (_BITS_A_KEY * room).bit_length())
        self.room = room
        self._shift = np.uint64(64 - bits)
        self._bytes = np.zeros(1 << (bits - 3), dtype=np.uint8)

    def add(self, keys: npt.NDArray[np.uint64]) -> None:
        """Add keys, given as numbers."""
        self.room -= keys.size
        for places, masks in self._flags(keys):
            np.bitwise_or.at(self._bytes, places, masks)

    def may_have(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Return which keys may have been added; the others were not."""
        found = np.ones(keys.shape, dtype=np.bool_)
        for places, masks in self._flags(keys):
            found &= self._bytes[places] & masks != 0
        return found

    def _flags(self, keys: npt.NDArray[np.uint64]) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.uint8]]]:
        """Yield the bytes, and the bit in each, that stand for keys."""
        for factor in _FACTORS:
            flags = (keys * np.uint64(factor)) >> self._shift
            yield (flags >> np.uint64(3)).astype(np.intp), np.left_shift(1, flags & np.uint64(7)).astype(np.uint8)
