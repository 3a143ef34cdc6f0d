"""Bands: groups of rows of a MinHash signature. Each is a key that similar documents often share.

Two documents of Jaccard similarity j agree on a row of the signature with probability j, on all r rows of a
band with ``j**r``, and on at least one of b bands with ``1 - (1 - j**r)**b`` (Leskovec, Rajaraman, Ullman, Mining of
Massive Datasets, 3.4). `es_simhash.sketches.tradeoffs` counts on how many.

A key is not a hash of its rows but holds their lowest bits, so the keys of a document are also its b-bit signature (Li,
König, "b-bit minwise hashing", WWW 2010), and no other need be stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from es_simhash._core import arrays
from es_simhash.errors import FormatError, HashError, SchemeError
from es_simhash.sketches.hamming import bit_count
from es_simhash.sketches.minhash.common import VALUE_BITS, similarities_of_shares
from es_simhash.text.hashing.registry import BASE

if TYPE_CHECKING:
    import numpy.typing as npt

    from es_simhash.sketches.key_index import Keys

    Signatures = npt.NDArray[np.uint32]

_MIN_KEY_BITS, _MAX_KEY_BITS = 6, 64
BITS_A_DIGIT = 6


@dataclass(frozen=True)
class Bands:
    """``count`` bands of ``rows`` rows each, from a signature's first row on; rows left over are not used.

    Each row keeps its lowest ``value_bits = min(32, key_bits // rows)`` bits. The key of band i, counted from 0, whose
    rows keep the values v1 … vr, is defined as::

        packed = 0
        for v in (v1, …, vr):
            packed = packed * 2**value_bits + v
        key = (packed + (i + 1) * (0x9E3779B97F4A7C15 >> (64 - key_bits))) mod 2**key_bits

    So the rows can be read back from the key, and equal rows of two bands have unequal keys: all keys can share one
    field. Unequal bands of unlike documents have equal keys with probability ``2**-(rows * value_bits)``.
    """

    count: int
    rows: int
    key_bits: int = 30

    def __post_init__(self) -> None:
        for name, value in (("count", self.count), ("rows", self.rows)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise SchemeError(f"Bands cannot have {name}={value!r}. Choose a whole number from 1.")
        if not isinstance(self.key_bits, int) or not _MIN_KEY_BITS <= self.key_bits <= _MAX_KEY_BITS:
            raise SchemeError(
                f"The key of a band cannot have {self.key_bits!r} bits. "
                f"Choose a whole number from {_MIN_KEY_BITS} to {_MAX_KEY_BITS}."
            )
        if self.rows > self.key_bits:
            raise SchemeError(
                f"A key of {self.key_bits} bits cannot hold a bit of each of {self.rows} rows. "
                "Choose fewer rows or wider keys."
            )

    @cached_property
    def value_bits(self) -> int:
        """How many bits of each row a key holds."""
        return min(VALUE_BITS, self.key_bits // self.rows)

    @property
    def size(self) -> int:
        """The number of rows that the keys hold."""
        return self.count * self.rows

    def packed(self, signatures: Signatures) -> Keys:
        """Return what the keys of signatures of shape ``(N, size)`` hold of their rows, of shape ``(N, count)``.

        That is all of a key but the band: the numbers have as many bits as they need of 32 or 64.
        """
        if signatures.dtype != np.uint32 or signatures.ndim != 2 or signatures.shape[1] < self.size:
            raise HashError(
                f"An array of {signatures.dtype} of shape {signatures.shape} does not hold signatures for "
                f"{self.count} bands of {self.rows} rows. Give a uint32 array of shape (N, {self.size}) or wider."
            )
        rows = signatures[:, : self.size].reshape(len(signatures), self.count, self.rows) & self._value_mask
        packed: Keys = rows[:, :, 0].astype(self.packed_type)
        bits = packed.dtype.type(self.value_bits)
        for row in range(1, self.rows):
            packed = packed << bits | rows[:, :, row]
        return packed

    @property
    def packed_type(self) -> type[np.uint32 | np.uint64]:
        """The type of `packed` numbers."""
        return np.uint32 if self.rows * self.value_bits <= 32 else np.uint64

    def similarities(self, first: Keys, second: Keys) -> npt.NDArray[np.float64]:
        """Estimate similarities from `packed` rows as `es_simhash.sketches.minhash.common.estimates` does."""
        bits, number = self.value_bits, first.dtype.type
        # A value that is not zero carries into its highest bit (Warren, "Hacker's Delight", 6-1).
        high = number(sum(1 << (row * bits + bits - 1) for row in range(self.rows)))
        below = number(sum(((1 << (bits - 1)) - 1) << (row * bits) for row in range(self.rows)))
        differing = first ^ second
        differing = (((differing & below) + below) | differing) & high
        agreeing = self.size - bit_count(differing).sum(axis=1, dtype=np.int64)
        return similarities_of_shares(agreeing / self.size, bits)

    def values(self, signatures: Signatures) -> npt.NDArray[np.uint64]:
        """Return the keys of signatures of shape ``(N, size)`` as numbers, an array of shape ``(N, count)``."""
        return (self.packed(signatures).astype(np.uint64) + self._shifts) & self._key_mask

    def signatures(self, values: npt.NDArray[np.uint64]) -> Signatures:
        """Return the lowest ``value_bits`` bits of the rows that these keys hold, an array of shape ``(N, size)``."""
        packed = (values - self._shifts) & self._key_mask
        rows = (packed[:, :, np.newaxis] >> self._row_shifts).astype(np.uint32) & self._value_mask
        return rows.reshape(len(values), self.size)

    def keys(self, signatures: Signatures) -> list[list[str]]:
        """Write the keys of each signature in base64url digits, most significant first.

        ``key_bits`` must be a multiple of 6, so that every digit counts.
        """
        keys: list[list[str]] = arrays.strings(self.key_points(signatures)).tolist()
        return keys

    def key_points(self, signatures: Signatures) -> npt.NDArray[np.uint32]:
        """Return the code points of the keys, along the last axis."""
        return arrays.code_points(self.values(signatures), self.key_digits, arrays.BASE64URL)

    def signatures_of_keys(self, joined: Sequence[str]) -> Signatures:
        """Return `signatures` of the keys of each document, given as one text: in order, with nothing between."""
        if any(len(keys) != self.count * self.key_digits for keys in joined):
            raise FormatError(
                f"These are not the {self.count} keys of {self.key_digits} characters that each document of this "
                "scheme has. Read them again, or with the scheme by which they were stored."
            )
        values = arrays.values_of("".join(joined), self.key_digits, arrays.BASE64URL)
        return self.signatures(values.reshape(len(joined), self.count))

    @property
    def key_digits(self) -> int:
        """The number of characters of a key."""
        if self.key_bits % BITS_A_DIGIT:
            raise SchemeError(
                f"Keys of {self.key_bits} bits do not fill base64 digits. Choose key_bits of 6, 12, 18, … 60."
            )
        return self.key_bits // BITS_A_DIGIT

    @cached_property
    def _value_mask(self) -> np.uint32:
        return np.uint32((1 << self.value_bits) - 1)

    @cached_property
    def _key_mask(self) -> np.uint64:
        return np.uint64((1 << self.key_bits) - 1)

    @cached_property
    def _shifts(self) -> npt.NDArray[np.uint64]:
        return np.arange(1, self.count + 1, dtype=np.uint64) * np.uint64(BASE >> (64 - self.key_bits))

    @cached_property
    def _row_shifts(self) -> npt.NDArray[np.uint64]:
        return np.arange(self.rows - 1, -1, -1, dtype=np.uint64) * np.uint64(self.value_bits)
