"""One-permutation MinHash: each feature is read once, whatever the size of the signature.

The hash of a feature names one of ``size`` bins and a value; a bin keeps its smallest value (Li, Owen, Zhang,
"One permutation hashing", NIPS 2012). A bin that no feature fell into takes the value of the first filled bin
in a random sequence of its own (Shrivastava, "Optimal densification for fast and accurate minwise hashing",
ICML 2017). So two documents agree in a position with a probability of exactly their Jaccard similarity,
however short they are.

With h the 64-bit hash of a feature, all in unsigned integers::

    bin(h)   = (h >> 32) * size >> 32
    value(h) = h mod 2**32
    signature[i] = min(value(h) for features with bin(h) = i)

The sequence of bin i is all bins s in the order of fmix64(i * 2**32 + s), where fmix64 is the finaliser of
MurmurHash3. A value of 2**32 - 1 counts as no feature.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash.sketches.minhash.common import EMPTY, check_size, feature_hashes, runs, shuffle_keys

if TYPE_CHECKING:
    from es_simhash.sketches.minhash.common import Signatures
    from es_simhash.text.features import FeatureBatch

    Table = npt.NDArray[np.uint16]

# Features that are processed together.
_RUN = 1 << 14
# Rows with a smaller share of filled bins than one in this number are densified faster one by one.
_SPARSE = 8


def signatures(batch: FeatureBatch, size: int) -> Signatures:
    """Return signatures of ``size`` values; weights and repetitions of a feature do not matter."""
    check_size(size)
    hashes = feature_hashes(batch)
    offsets = batch.offsets
    counts = np.diff(offsets)
    table = np.full((len(batch), size), EMPTY, dtype=np.uint32)
    for documents in runs(offsets, _RUN):
        rows = table[documents]
        _fill(rows, hashes[offsets[documents.start] : offsets[documents.stop]], counts[documents])
        _densify(rows)
    return table


def _fill(rows: Signatures, hashes: npt.NDArray[np.uint64], counts: npt.NDArray[np.int64]) -> None:
    """Put the smallest value of each bin into the rows."""
    size = rows.shape[1]
    places = _bins(hashes, size).view(np.int64)
    places += np.repeat(np.arange(0, rows.size, size), counts)
    np.minimum.at(rows.reshape(-1), places, hashes.astype(np.uint32))


def _bins(hashes: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.uint64]:
    log2 = size.bit_length() - 1
    if size == 1 << log2 and log2 > 0:
        bins: npt.NDArray[np.uint64] = hashes >> np.uint64(64 - log2)
        return bins
    bins = hashes >> np.uint64(32)
    bins *= np.uint64(size)
    bins >>= np.uint64(32)
    return bins


def _densify(rows: Signatures) -> None:
    """Fill the empty bins of all rows that have a filled one."""
    empty = rows == EMPTY
    if not empty.any():
        return
    size = rows.shape[1]
    filled = size - np.count_nonzero(empty, axis=1)
    sparse = filled * _SPARSE < size
    for document in np.flatnonzero(sparse & (filled > 0)):
        _choose_among_filled(rows[document], ~empty[document])
    empty[sparse] = False
    _follow_sequences(rows.reshape(-1), np.flatnonzero(empty), size)


def _choose_among_filled(row: Signatures, filled: npt.NDArray[np.bool_]) -> None:
    """Find the nearest of the few filled bins for each bin."""
    sequences, ranks = _sequences(len(row))
    nearest = ranks[filled].min(axis=0)
    row[:] = row[sequences[np.arange(len(row)), nearest]]


def _follow_sequences(values: Signatures, places: npt.NDArray[np.int64], size: int) -> None:
    """Follow the sequences of all empty bins at once; ``values`` are rows, laid end to end."""
    before = values.copy()
    bins = places % size
    rows = places - bins
    sequences = _sequences(size)[0].reshape(-1)
    steps = bins * size
    while len(places):
        steps += 1
        found = before[rows + sequences[steps]]
        values[places] = found
        left = np.flatnonzero(found == EMPTY)
        places, rows, steps = places[left], rows[left], steps[left]


@lru_cache(maxsize=2)
def _sequences(size: int) -> tuple[Table, Table]:
    """Return as line i the sequence of bin i, itself first; and as element [s, i] the position of bin s in it."""
    sequences = np.empty((size, size), dtype=np.uint16)
    ranks = np.empty((size, size), dtype=np.uint16)
    for i in range(size):
        keys = shuffle_keys(i, size)
        keys[i] = 0
        sequences[i] = np.argsort(keys)
        ranks[sequences[i], i] = np.arange(size)
    return sequences, ranks
