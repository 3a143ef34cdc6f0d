"""Fingerprints and hashes of 1 to 128 bits as numpy arrays ("codes").

A code of up to 64 bits is one ``uint64``, an array of N codes has the shape ``(N,)``. A wider code is two
``uint64``, the more significant first, an array of N has the shape ``(N, 2)``. Unused high bits are zero.
Bit positions are counted as the bits are written down: position 0 is the most significant bit.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash.errors import HashError, SchemeError

Codes = npt.NDArray[np.uint64]

MAX_BITS = 128
_WORD = 64
_WORD_MASK = (1 << _WORD) - 1


def check_bits(bits: int) -> int:
    """Return ``bits`` if it is a width that codes can have."""
    if not isinstance(bits, int) or isinstance(bits, bool) or not 1 <= bits <= MAX_BITS:
        raise SchemeError(f"A fingerprint cannot have {bits!r} bits. Choose a whole number from 1 to {MAX_BITS}.")
    return bits


def words_per_code(bits: int) -> int:
    """Return the number of 64-bit words in a code of ``bits`` bits."""
    return 1 if bits <= _WORD else 2


def check_codes(codes: Codes, bits: int) -> Codes:
    """Return ``codes`` if it is an array of codes of ``bits`` bits."""
    check_bits(bits)
    wide = words_per_code(bits) == 2
    if codes.dtype != np.uint64 or codes.ndim != 1 + wide or (wide and codes.shape[1] != 2):
        raise HashError(
            f"An array of {codes.dtype} of shape {codes.shape} does not hold codes of {bits} bits. "
            f"Give a uint64 array of shape {'(N, 2)' if wide else '(N,)'}."
        )
    top = codes[:, 0] if wide else codes
    top_bits = bits - 64 if wide else bits
    if len(top) and int(top.max()).bit_length() > top_bits:
        raise HashError(f"A code has more than {bits} bits. Give codes whose unused high bits are zero.")
    return codes


def from_ints(values: Iterable[int], bits: int) -> Codes:
    """Convert Python integers, which must fit into ``bits`` bits, to codes."""
    check_bits(bits)
    try:
        listed = [operator.index(value) for value in values]
    except TypeError:
        raise HashError("A code is not a whole number. Give integers.") from None
    for value in listed:
        if not 0 <= value < 1 << bits:
            raise HashError(f"{value} is not an unsigned integer of {bits} bits. Give values from 0 to 2**{bits} - 1.")
    if words_per_code(bits) == 1:
        return np.array(listed, dtype=np.uint64)
    halves = [(value >> _WORD, value & _WORD_MASK) for value in listed]
    return np.array(halves, dtype=np.uint64).reshape(-1, 2)


def to_ints(codes: Codes) -> list[int]:
    """Convert codes to Python integers."""
    listed: list[Any] = codes.tolist()
    return listed if codes.ndim == 1 else [high << _WORD | low for high, low in listed]


def extract(codes: Codes, bits: int, start: int, width: int) -> Codes:
    """Return ``width`` (1 to 64) bits of each code from position ``start``, as an array of shape ``(N,)``."""
    after = bits - start - width
    mask = np.uint64((1 << width) - 1)
    if codes.ndim == 1:
        return (codes >> np.uint64(after)) & mask
    high, low = codes[:, 0], codes[:, 1]
    if after >= _WORD:
        return (high >> np.uint64(after - _WORD)) & mask
    part = low >> np.uint64(after)
    if after and after + width > _WORD:
        part = part | (high << np.uint64(_WORD - after))
    return part & mask
