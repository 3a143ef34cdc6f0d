"""What the MinHash kernels share: the shape of signatures, checks of input, the walk through a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash.errors import HashError, SchemeError
from es_simhash.text.hashing.poly64 import fmix64

if TYPE_CHECKING:
    from collections.abc import Iterator

    from es_simhash.text.features import FeatureBatch

Signatures = npt.NDArray[np.uint32]
"""One row of ``size`` values a document. A document without features has a row of nothing but `EMPTY`."""

EMPTY = np.uint32(0xFFFFFFFF)
# The tables of `one_permutation` take 4 * size**2 bytes; the standard error is below 0.008 by then.
MAX_SIZE = 4096
VALUE_BITS = 32


def check_size(size: int) -> int:
    """Return ``size`` if signatures can have that many values."""
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= MAX_SIZE:
        raise SchemeError(f"A signature cannot have {size!r} values. Choose a whole number from 1 to {MAX_SIZE}.")
    return size


def check_value_bits(bits: int) -> int:
    """Return ``bits`` if values can be cut to that many."""
    if not isinstance(bits, int) or isinstance(bits, bool) or not 1 <= bits <= VALUE_BITS:
        raise SchemeError(f"A value cannot have {bits!r} bits. Choose a whole number from 1 to {VALUE_BITS}.")
    return bits


def feature_hashes(batch: FeatureBatch) -> npt.NDArray[np.uint64]:
    """Return the hashes of a batch, which must be single words."""
    if batch.hashes.ndim != 1 or batch.hashes.dtype != np.uint64:
        raise HashError(
            f"MinHash cannot use feature hashes of type {batch.hashes.dtype} and shape {batch.hashes.shape}. "
            "Hash the features to 64 bits."
        )
    return batch.hashes


def runs(offsets: npt.NDArray[np.int64], features: int) -> Iterator[slice]:
    """Yield slices of consecutive documents, of about ``features`` features together, so that they fit a cache.

    A document is never divided: a longer one makes a longer run.
    """
    targets = np.arange(0, offsets[-1], features)
    cuts = np.unique(np.append(np.searchsorted(offsets, targets), [0, len(offsets) - 1]))
    for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        yield slice(first, last)


def filled(offsets: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the documents that have features, and where their features start."""
    documents = np.flatnonzero(np.diff(offsets))
    return documents, offsets[documents]


def constants(count: int) -> npt.NDArray[np.uint64]:
    """Return a pseudo-random word for each of ``count`` hash functions: fmix64(1), fmix64(2) and so on."""
    return fmix64(np.arange(1, count + 1, dtype=np.uint64))


def shuffle_keys(number: int, rows: int) -> npt.NDArray[np.uint64]:
    """Return distinct pseudo-random words, one a row, that sort the rows into permutation ``number``.

    The word of a row is fmix64(number * 2**32 + row).
    """
    return fmix64(np.arange(rows, dtype=np.uint64) + np.uint64(number << 32))
