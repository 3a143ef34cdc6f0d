"""Jaccard similarities of all pairs of some hundred documents, by the features that they share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import rows_of
from es_simhash.text.features import FeatureBatch

_AT_ONCE = 1 << 14


def jaccards(features: FeatureBatch) -> npt.NDArray[np.float64]:
    """Return the similarities of the pairs (0, 1), (0, 2) … (1, 2) …, given the distinct features of each document.

    Each document must have features.
    """
    sizes = np.diff(features.offsets)
    _, numbers, counts = np.unique(features.hashes, return_inverse=True, return_counts=True)
    is_shared = counts > 1
    documents = rows_of(features.offsets)[is_shared[numbers]]
    numbers = (np.cumsum(is_shared) - 1)[numbers[is_shared[numbers]]]
    shared = np.zeros((len(sizes), len(sizes)), dtype=np.float32)
    for start in range(0, int(is_shared.sum()), _AT_ONCE):  # whole numbers, which floats add exactly
        has = np.zeros((len(sizes), _AT_ONCE), dtype=np.float32)
        here = (numbers >= start) & (numbers < start + _AT_ONCE)
        has[documents[here], numbers[here] - start] = 1
        shared += has @ has.T
    first, second = np.triu_indices(len(sizes), 1)
    common = shared[first, second].astype(np.float64)
    return np.asarray(common / (sizes[first] + sizes[second] - common))
