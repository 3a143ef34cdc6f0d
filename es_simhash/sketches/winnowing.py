"""Winnowing: few hashes of a text's n-grams, chosen so that texts with a long enough run in common share one of them.

Of each window of w consecutive n-grams, the smallest hash is chosen (Schleimer, Wilkerson, Aiken, "Winnowing: Local
Algorithms for Document Fingerprinting", SIGMOD 2003). A run of w + n - 1 tokens is a window of w n-grams. Two texts
that have it in common choose the same hash of it, whatever surrounds it. Of random hashes, 2 / (w + 1) are chosen.
Where a text has fewer than w n-grams, these are one window.
"""

from __future__ import annotations

import numpy as np

from es_simhash._core.arrays import Integers, offsets_from_counts, select, spread
from es_simhash._core.bit_codes import Codes
from es_simhash.text.hashing.poly64 import BASE, fmix64

_BASE = np.uint64(BASE)


def grams(hashes: Codes, offsets: Integers, n: int) -> tuple[Codes, Integers]:
    """Return the hashes of each text's n-grams, in order, and the texts' offsets, given those of its tokens.

    With h1 … hn the hashes of the tokens, the hash of the n-gram is ``fmix64(p)`` of the polynomial
    ``p = (…((n · BASE + h1) · BASE + h2)…) · BASE + hn`` modulo 2**64 (see `es_simhash.text.hashing.poly64`).
    """
    counts = np.maximum(np.diff(offsets) - n + 1, 0)
    windows = max(len(hashes) - n + 1, 0)
    values = np.full(windows, n, dtype=np.uint64)
    for place in range(n):
        values *= _BASE
        values += hashes[place : place + windows]
    rows, places = spread(counts)
    return fmix64(values[offsets[:-1][rows] + places]), offsets_from_counts(counts)


def minima(hashes: Codes, offsets: Integers, window: int) -> tuple[Codes, Integers]:
    """Return the smallest hash of each window of a text's n-grams, in order, and the texts' offsets.

    The same one as in the window before is left out.
    """
    counts = np.diff(offsets)
    smallest = _of_windows(hashes, window)
    kept = np.repeat(offsets[1:], counts) - np.arange(len(hashes)) >= window
    few = np.flatnonzero((counts > 0) & (counts < window))
    if len(few):
        bounds = np.column_stack([offsets[few], offsets[few + 1]]).ravel()
        smallest[offsets[few]] = np.minimum.reduceat(np.append(hashes, np.uint64(0)), bounds)[::2]
        kept[offsets[few]] = True
    kept[1:] &= smallest[1:] != smallest[:-1]
    kept[offsets[:-1][counts > 0]] = True
    return select(smallest, offsets, kept)


def _of_windows(hashes: Codes, window: int) -> Codes:
    """Return the smallest of the ``window`` hashes from each place on; where fewer follow, of any of them."""
    smallest, size = hashes.copy(), 1
    while size < window and size < len(hashes):
        step = min(size, window - size)
        np.minimum(smallest[:-step], smallest[step:], out=smallest[:-step])
        size += step
    return smallest
