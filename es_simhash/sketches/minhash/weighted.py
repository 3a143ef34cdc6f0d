"""Weighted MinHash: signatures that agree in proportion to the weights that documents share.

Consistent weighted sampling (Ioffe, "Improved consistent sampling, weighted minhash and L1 sketching", ICDM
2010): two documents agree in a position with a probability of sum(min(v, w)) / sum(max(v, w)) over the
weights v and w of all features. The weights of a feature that a document has several times are added up, and
a feature of weight 0 counts as absent.

For position i, counted from 0, and each feature with the 64-bit hash h and the weight w, with fmix64 the
finaliser of MurmurHash3 and e(j) = -ln((j + 1/2) / 2**13)::

    m = fmix64(h XOR fmix64(i + 1))
    j1, j2, j3, j4 = the four highest groups of 13 bits of m, from the top; j5 = the lowest 12 bits
    r = e(j1) + e(j2),  c = e(j3) + e(j4),  beta = (j5 + 1/2) / 2**12
    t = floor(ln(w) / r + beta)
    ln_a = ln(c) - r * (t - beta + 1)

The feature of the smallest ln_a is chosen, of equals the one of the smallest hash, and
``signature[i] = fmix64(h * 0x9E3779B97F4A7C15 + t) >> 32``, all modulo 2**64.

So that all machines compute the same values, ln is the following, within 1e-9 of the logarithm, in IEEE double
precision, each operation rounded by itself::

    x = m * 2**k with 1/2 <= m < 1,  s = (m - q) / (m + q) with q = 0.7071067811865476,  z = s * s
    ln(x) = (k - 1/2) * 0.6931471805599453 + s * (2 + z * (2/3 + z * (2/5 + z * (2/7 + z * 2/9))))
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import select
from es_simhash.errors import WeightError
from es_simhash.sketches.minhash.common import EMPTY, check_size, constants, feature_hashes, filled, runs
from es_simhash.text.features import FeatureBatch, distinct
from es_simhash.text.hashing import BASE, fmix64

if TYPE_CHECKING:
    from es_simhash.sketches.minhash.common import Signatures

    Hashes = npt.NDArray[np.uint64]
    Index = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

# Blocks of about this many pairs of a feature and a position stay in the cache.
_BLOCK = 1 << 14
_SQRT_HALF = 0.7071067811865476
_LN_2 = 0.6931471805599453


def signatures(batch: FeatureBatch, size: int) -> Signatures:
    """Return signatures of ``size`` values; without weights each occurrence of a feature weighs 1."""
    check_size(size)
    hashes, weights, offsets = _weighing(batch)
    keys = constants(size)
    table = np.full((len(batch), size), EMPTY, dtype=np.uint32)
    for documents in runs(offsets, _BLOCK):
        run = _Run.of(documents, hashes, weights, offsets)
        positions = max(1, _BLOCK // max(1, len(run.hashes)))
        for first in range(0, size, positions):
            block = slice(first, first + positions)
            table[run.documents, block] = run.sample(keys[block]).T
    return table


def ln(x: Floats) -> Floats:
    """Return the natural logarithm of positive numbers, within 1e-9, the same to the last bit on every machine."""
    m, k = np.frexp(x)
    s = m - _SQRT_HALF
    m += _SQRT_HALF
    s /= m
    z = s * s
    series = z * (2 / 9)
    for coefficient in (2 / 7, 2 / 5, 2 / 3):
        series += coefficient
        series *= z
    series += 2.0
    series *= s
    logarithms: Floats = k - 0.5
    logarithms *= _LN_2
    logarithms += series
    return logarithms


def _weighing(batch: FeatureBatch) -> tuple[Hashes, Floats, Index]:
    """Return each document's distinct features of positive weight in the order of their hashes, with offsets."""
    hashes = feature_hashes(batch)
    weights = np.ones(len(hashes)) if batch.weights is None else batch.weights
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        document = int(np.searchsorted(batch.offsets, wrong.argmax(), side="right")) - 1
        raise WeightError(
            f"has a feature of the weight {weights[wrong][0]}. Give weights that are finite and not negative.",
            document,
        )
    with np.errstate(over="ignore"):
        features = distinct(FeatureBatch(hashes, batch.offsets, weights))
    sums = np.asarray(features.weights, dtype=np.float64)
    if np.isinf(sums).any():
        raise WeightError("The weights of a repeated feature add up to infinity. Give smaller weights.")
    hashes, offsets = select(features.hashes, features.offsets, sums > 0)
    return hashes, sums[sums > 0], offsets


@dataclass(frozen=True)
class _Run:
    """The features of some consecutive documents; ``documents`` are those that have any."""

    documents: Index
    starts: Index
    counts: Index
    hashes: Hashes
    ln_weights: Floats
    unique: Hashes
    in_unique: Index

    @classmethod
    def of(cls, run: slice, hashes: Hashes, weights: Floats, offsets: Index) -> _Run:
        offsets = offsets[run.start : run.stop + 1]
        here = slice(offsets[0], offsets[-1])
        documents, starts = filled(offsets - offsets[0])
        counts = np.diff(offsets)[documents]
        unique, in_unique = np.unique(hashes[here], return_inverse=True)
        return cls(run.start + documents, starts, counts, hashes[here], ln(weights[here]), unique, in_unique)

    def sample(self, keys: Hashes) -> Signatures:
        """Return a line for each key with the values of all documents."""
        r, ln_c, beta = (drawn.take(self.in_unique, axis=1) for drawn in _draw(self.unique, keys))
        t = self.ln_weights / r
        t += beta
        np.floor(t, out=t)
        ln_a = t - beta
        ln_a += 1.0
        ln_a *= r
        np.subtract(ln_c, ln_a, out=ln_a)
        chosen = self._first_smallest(ln_a)
        hashes = self.hashes[chosen % len(self.hashes)]
        times = t.reshape(-1)[chosen].astype(np.int64).view(np.uint64)
        values = fmix64(hashes * np.uint64(BASE) + times)
        values >>= np.uint64(32)
        return values.astype(np.uint32)

    def _first_smallest(self, ln_a: Floats) -> Index:
        """Return the position of the first smallest number of each line and document, in all lines laid end to end."""
        smallest = np.minimum.reduceat(ln_a, self.starts, axis=1)
        places = np.flatnonzero(ln_a == np.repeat(smallest, self.counts, axis=1))
        starts = np.arange(len(ln_a))[:, np.newaxis] * ln_a.shape[1] + self.starts
        first: Index = places[np.searchsorted(places, starts)]
        return first


def _draw(hashes: Hashes, keys: Hashes) -> tuple[Floats, Floats, Floats]:
    """Draw the random numbers r, ln(c) and beta of each key (a line) and hash (a column)."""
    m = fmix64(hashes ^ keys[:, np.newaxis])
    r = _exponential(m, 51)
    r += _exponential(m, 38)
    c = _exponential(m, 25)
    c += _exponential(m, 12)
    m &= np.uint64(0xFFF)
    beta = m.view(np.int64).astype(np.float64)
    beta += 0.5
    beta *= 2.0**-12
    return r, ln(c), beta


def _exponential(m: Hashes, shift: int) -> Floats:
    """Return the numbers e(j) for the 13 bits j of ``m`` from bit ``shift`` on."""
    j = m >> np.uint64(shift)
    j &= np.uint64(0x1FFF)
    exponentials: Floats = _exponentials().take(j.view(np.int64))
    return exponentials


@lru_cache(maxsize=1)
def _exponentials() -> Floats:
    """Return the numbers e(j) for all j of 13 bits."""
    j = np.arange(1 << 13, dtype=np.float64)
    return -ln((j + 0.5) / (1 << 13))
