"""Bands: groups of rows of a MinHash signature, each of which is a key that similar documents often share.

Two documents of Jaccard similarity j agree on a row of the signature with probability j, on all r rows of a
band with j**r, and on at least one of b bands with 1 - (1 - j**r)**b (Leskovec, Rajaraman, Ullman, Mining of
Massive Datasets, 3.4). `es_simhash.planning` chooses b and r by this curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from es_simhash import digits
from es_simhash.errors import HashError, SchemeError
from es_simhash.hashing.poly64 import BASE, fmix64

if TYPE_CHECKING:
    import numpy.typing as npt

    Signatures = npt.NDArray[np.uint32]

_MIN_KEY_BITS, _MAX_KEY_BITS = 6, 64
BITS_A_DIGIT = 6


@dataclass(frozen=True)
class Bands:
    """``count`` bands of ``rows`` rows each, from a signature's first row on; rows left over are not used.

    The key of band i, whose rows have the values v1 … vr, is defined thus, all arithmetic modulo 2**64::

        h = 0
        for v in (i, v1, …, vr):
            h = h * 0x9E3779B97F4A7C15 + v + 1
        key = fmix64(h) >> (64 - key_bits)

    where i counts from 0 and fmix64 is the finaliser of MurmurHash3. The band's number is part of the hash,
    so the keys of all bands can share one field. Unequal bands have equal keys with probability 2**-key_bits.
    """

    count: int
    rows: int
    key_bits: int = 36

    def __post_init__(self) -> None:
        for name, value in (("count", self.count), ("rows", self.rows)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise SchemeError(f"Bands cannot have {name}={value!r}. Choose a whole number from 1.")
        if not isinstance(self.key_bits, int) or not _MIN_KEY_BITS <= self.key_bits <= _MAX_KEY_BITS:
            raise SchemeError(
                f"The key of a band cannot have {self.key_bits!r} bits. "
                f"Choose a whole number from {_MIN_KEY_BITS} to {_MAX_KEY_BITS}."
            )

    def values(self, signatures: Signatures) -> npt.NDArray[np.uint64]:
        """The keys of signatures of shape ``(N, size)`` as numbers, an array of shape ``(N, count)``."""
        used = self.count * self.rows
        if signatures.dtype != np.uint32 or signatures.ndim != 2 or signatures.shape[1] < used:
            raise HashError(
                f"An array of {signatures.dtype} of shape {signatures.shape} does not hold signatures for "
                f"{self.count} bands of {self.rows} rows. Give a uint32 array of shape (N, {used}) or wider."
            )
        rows = signatures[:, :used].reshape(len(signatures), self.count, self.rows)
        folded = np.empty(rows.shape[:2], dtype=np.uint64)
        folded[:] = np.arange(1, self.count + 1, dtype=np.uint64)
        for row in range(self.rows):
            folded *= np.uint64(BASE)
            folded += rows[:, :, row]
            folded += np.uint64(1)
        return fmix64(folded) >> np.uint64(64 - self.key_bits)

    def keys(self, signatures: Signatures) -> list[list[str]]:
        """The keys of each signature as texts: the key in base64url digits, most significant first.

        ``key_bits`` must be a multiple of 6, so that every digit counts.
        """
        if self.key_bits % BITS_A_DIGIT:
            raise SchemeError(
                f"Keys of {self.key_bits} bits do not fill base64 digits. Choose key_bits of 6, 12, 18, … 60."
            )
        points = digits.code_points(self.values(signatures), self.key_bits // BITS_A_DIGIT, digits.BASE64URL)
        keys: list[list[str]] = digits.strings(points).tolist()
        return keys
