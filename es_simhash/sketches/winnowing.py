"""Winnowing: few hashes of a text's n-grams, chosen so that texts with a long enough run in common share one of them.

Of each window of w consecutive n-grams, the smallest hash is chosen (Schleimer, Wilkerson, Aiken, "Winnowing: Local
Algorithms for Document Fingerprinting", SIGMOD 2003). A run of w + n - 1 tokens is a window of w n-grams. Two texts
that have it in common choose the same hash of it, whatever surrounds it. Of random hashes, 2 / (w + 1) are chosen.
If a text has fewer than w n-grams, these are one window.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Codes, Integers, select
from es_simhash.text.hashing.registry import BASE, fmix64


def grams(hashes: Codes, offsets: Integers, n: int) -> tuple[Codes, Integers]:
    """Return the hashes of each text's n-grams, in order, and the texts' offsets, given those of its tokens.

    With h1 … hn the hashes of the tokens, the hash of the n-gram is ``fmix64(p)`` of the polynomial
    ``p = (…((n · BASE + h1) · BASE + h2)…) · BASE + hn`` modulo 2**64 (see `es_simhash.text.hashing.registry`).
    """
    values, size = hashes, 1
    for bit in bin(n)[3:]:  # two runs of a length make one of twice that length, and a token more the next one
        values = _joined(values, size, values[size:])
        size *= 2
        if bit == "1":
            values = _joined(values, 1, hashes[size:])
            size += 1
    values = values + _power(n, n)
    return select(fmix64(values), offsets, _is_followed(offsets, n)[: len(values)])


def _joined(values: Codes, size: int, others: Codes) -> Codes:
    """Return the polynomials of runs that go on with the ``others``, which are of this size."""
    joined = values[: len(others)] * _power(1, size)
    joined += others
    return joined


def minima(hashes: Codes, offsets: Integers, window: int) -> tuple[Codes, Integers]:
    """Return the smallest hash of each window of a text's n-grams, in order, and the texts' offsets.

    The same one as in the window before is left out.
    """
    counts = np.diff(offsets)
    smallest, kept = _of_windows(hashes, window), _is_followed(offsets, window)
    few = np.flatnonzero((counts > 0) & (counts < window))
    if len(few):
        bounds = np.column_stack([offsets[few], offsets[few + 1]]).ravel()
        smallest[offsets[few]] = np.minimum.reduceat(np.append(hashes, np.uint64(0)), bounds)[::2]
    kept[1:] &= smallest[1:] != smallest[:-1]
    kept[offsets[:-1][counts > 0]] = True
    return select(smallest, offsets, kept)


def _power(factor: int, exponent: int) -> np.uint64:
    """Return a multiple of a power of the base of the polynomials."""
    return np.uint64(factor * pow(BASE, exponent, 1 << 64) % (1 << 64))


def _is_followed(offsets: Integers, length: int) -> npt.NDArray[np.bool_]:
    """Return the places from which on a text has as many elements."""
    followed = np.ones(offsets[-1], dtype=np.bool_)
    # Beyond the beginning of a short text are the last places of the one before.
    last = (offsets[1:, np.newaxis] - np.arange(1, length)).ravel()
    followed[last[last >= 0]] = False
    return followed


def _of_windows(hashes: Codes, window: int) -> Codes:
    """Return the smallest of the ``window`` hashes from each place on; where fewer follow, of any of them."""
    smallest, size = hashes.copy(), 1
    while size < window and size < len(hashes):
        step = min(size, window - size)
        np.minimum(smallest[:-step], smallest[step:], out=smallest[:-step])
        size += step
    return smallest
