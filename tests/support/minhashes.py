"""What the tests of the MinHash kernels share: batches, random pairs of documents, and plain Python arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from es_simhash.text.features import FeatureBatch

WORD = (1 << 64) - 1

# Words of few distinct values repeat themselves within a document and between documents.
words = st.integers(0, WORD) | st.integers(0, 5) | st.sampled_from([WORD, 0xFFFFFFFF, 1 << 32])
documents = st.lists(st.lists(words, max_size=30), max_size=6)


def batch(texts: Sequence[Sequence[int]], weights: Sequence[Sequence[float]] | None = None) -> FeatureBatch:
    """Return a batch of documents given as lists of hashes."""
    flat = None if weights is None else np.array([weight for line in weights for weight in line])
    return replace(FeatureBatch.of(texts), weights=flat)


def table(matrix: npt.NDArray[np.uint64]) -> FeatureBatch:
    """Return a batch of documents of the same length."""
    return FeatureBatch(matrix.reshape(-1), np.arange(0, matrix.size + 1, matrix.shape[1]))


def pairs(seed: int, count: int, shared: int, only_a: int, only_b: int) -> tuple[FeatureBatch, FeatureBatch]:
    """Make ``count`` pairs of documents of random hashes, with ``shared`` hashes in common."""
    size = (count, shared + only_a + only_b)
    hashes = np.random.default_rng(seed).integers(0, 2**64, size, dtype=np.uint64)
    a, b = hashes[:, : shared + only_a], np.delete(hashes, np.s_[shared : shared + only_a], axis=1)
    return table(a), table(b)


def assert_mean(numbers: npt.NDArray[np.float64], expected: float) -> None:
    """Check that the mean of independent numbers is the expected one, within four of its standard errors."""
    assert abs(numbers.mean() - expected) <= 4 * numbers.std() / len(numbers) ** 0.5


def hexes(signatures: npt.NDArray[np.uint32]) -> list[str]:
    """Each row as hexadecimal values."""
    return [" ".join(f"{value:08x}" for value in row) for row in signatures.tolist()]


def shuffled(features: FeatureBatch, seed: int) -> tuple[FeatureBatch, list[int]]:
    """Shuffle the documents and the features of each; return the order of the documents, too."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(features))
    places = [rng.permutation(np.arange(*features.offsets[i : i + 2])) for i in order]
    place = np.concatenate([np.empty(0, dtype=np.int64), *places])
    weights = None if features.weights is None else features.weights[place]
    offsets = np.cumsum([0, *map(len, places)])
    return FeatureBatch(features.hashes[place], offsets, weights), order.tolist()


def fmix64(x: int) -> int:
    """Compute the finaliser of MurmurHash3."""
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & WORD
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & WORD
    return x ^ x >> 33


Kernel = Callable[[FeatureBatch, int], npt.NDArray[np.uint32]]

# Documents of 0, 1, 4 and 40 features, for the values that must never change.
GOLDEN = [[fmix64(1000 * size + number) for number in range(size)] for size in (0, 1, 4, 40)]
