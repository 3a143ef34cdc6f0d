"""Bottom-k sketches: the k smallest distinct hashes of a document, as a sorted array.

A sketch of fewer than k hashes is the whole set. Unlike signatures, sketches also estimate the number of distinct
features, of a document or of the union of many.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import distinct_numbers
from es_simhash.errors import SchemeError
from es_simhash.sketches.minhash.common import feature_hashes

if TYPE_CHECKING:
    from es_simhash.text.features import FeatureBatch

Sketch = npt.NDArray[np.uint64]

_RANGE = 2.0**64


def sketches(batch: FeatureBatch, k: int) -> list[Sketch]:
    """Return the sketch of each document; weights and repetitions of a feature do not matter."""
    _check_k(k)
    hashes = feature_hashes(batch)
    ends = batch.offsets.tolist()
    return [distinct_numbers(hashes[start:end])[:k] for start, end in pairwise(ends)]


def union(a: Sketch, b: Sketch, k: int) -> Sketch:
    """Return the sketch of the union of two documents, from their sketches."""
    return distinct_numbers(np.concatenate((a, b)))[: _check_k(k)]


def estimate(a: Sketch, b: Sketch, k: int) -> float:
    """Estimate the Jaccard similarity, without bias: the share of the union's sketch that lies in both.

    Beyer, Haas, Reinwald, Sismanis, Gemulla, "On synopses for distinct-value estimation under multiset
    operations", SIGMOD 2007. Two documents without features have the similarity 1.
    """
    smallest = union(a, b, k)
    if not len(smallest):
        return 1.0
    in_both = np.intersect1d(a, b, assume_unique=True) <= smallest[-1]
    return int(np.count_nonzero(in_both)) / len(smallest)


def cardinality(sketch: Sketch, k: int) -> float:
    """Estimate the number of distinct features, without bias: (k - 1) / u, u the k-th smallest hash as a share of all.

    Beyer et al., as for `estimate`. Of a sketch of fewer than k hashes, it is the exact count.
    """
    if _check_k(k) < 2:
        raise SchemeError("Distinct features cannot be counted from one hash. Choose k from 2.")
    if len(sketch) < k:
        return float(len(sketch))
    return (k - 1) * _RANGE / (float(sketch[k - 1]) + 1)


def _check_k(k: int) -> int:
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise SchemeError(f"A sketch cannot have {k!r} hashes. Choose a whole number from 1.")
    return k
