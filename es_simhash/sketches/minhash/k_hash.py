"""Classic MinHash: the smallest values of ``size`` hash functions on the features of a document.

Two documents agree in a position with a probability of their Jaccard similarity (Broder, "On the resemblance
and containment of documents", 1997). Function i, counted from 0, of a feature with the 64-bit hash h::

    a = fmix64(i + 1) mod 2**32, made odd by setting its lowest bit
    x = h mod 2**32, made odd alike
    value(h) = (a * x mod 2**32) >> 1
    signature[i] = min(value(h) for all features)

where fmix64 is the finaliser of MurmurHash3. With y = x >> 1 this is the linear function (a * y + b) mod
2**31, b = (a - 1) / 2, by a single multiplication. Only these 31 bits of a hash count: of a million features
of a document about one in 4,000 is lost to collisions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from es_simhash.sketches.minhash.common import EMPTY, check_size, constants, feature_hashes, filled, runs

if TYPE_CHECKING:
    import numpy.typing as npt

    from es_simhash.sketches.minhash.common import Signatures
    from es_simhash.text.features import FeatureBatch

# Features that are worked on together.
_RUN = 1 << 15
_ODD = np.uint32(1)


def signatures(batch: FeatureBatch, size: int) -> Signatures:
    """Return signatures of ``size`` values; weights and repetitions of a feature do not matter."""
    check_size(size)
    hashes = feature_hashes(batch)
    offsets = batch.offsets
    multipliers = constants(size).astype(np.uint32) | _ODD
    table = np.full((len(batch), size), EMPTY, dtype=np.uint32)
    for documents in runs(offsets, _RUN):
        here = offsets[documents.start : documents.stop + 1]
        words = hashes[here[0] : here[-1]].astype(np.uint32) | _ODD
        rows, starts = filled(here - here[0])
        table[documents.start + rows] = _minima(words, starts, multipliers).T >> _ODD
    return table


def _minima(
    words: npt.NDArray[np.uint32], starts: npt.NDArray[np.int64], multipliers: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]:
    """Return a line for each multiplier: the smallest products of the documents that begin at ``starts``."""
    minima = np.empty((len(multipliers), len(starts)), dtype=np.uint32)
    products = np.empty_like(words)
    for multiplier, line in zip(multipliers, minima, strict=True):
        np.multiply(words, multiplier, out=products)
        np.minimum.reduceat(products, starts, out=line)
    return minima
