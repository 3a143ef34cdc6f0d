"""Batches of weighted, hashed features: made of tokens, and condensed to SimHash and MinHash."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import rows_of
from es_simhash.errors import WeightError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from es_simhash._core.arrays import Integers
    from es_simhash._core.bit_codes import Codes

Weights: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]

# Up to this floor, the first features of a document are counted before all of them.
_GLANCE = 64
# Float weights that are whole numbers below this are kept as integers, whose sums are exact.
_LARGEST_WHOLE = 1 << 31


@dataclass(frozen=True, eq=False)
class FeatureBatch:
    """The hashed features of many documents, one document after the other.

    ``hashes`` are codes (see `es_simhash._core.bit_codes`); document ``i`` owns those from ``offsets[i]`` up to
    ``offsets[i + 1]``. ``weights`` has one number a hash; ``None`` means that each weighs 1.
    """

    hashes: Codes
    offsets: Integers
    weights: Weights | None = None

    def __post_init__(self) -> None:
        if self.weights is None:
            return
        if self.weights.dtype not in (np.int64, np.float64) or len(self.weights) != len(self.hashes):
            raise WeightError(
                f"{len(self.weights)} weights of {self.weights.dtype} do not fit {len(self.hashes)} hashes. "
                "Give an array of int64 or float64 with one weight a hash."
            )

    @classmethod
    def of(cls, documents: Iterable[Iterable[int]]) -> FeatureBatch:
        """Return a batch of documents, each given by hashes of 64 bits.

        >>> len(FeatureBatch.of([[1, 2, 3], [2]]))
        2
        """
        lists = [list(document) for document in documents]
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        return cls(np.array([value for each in lists for value in each], dtype=np.uint64), offsets)

    @property
    def first_words(self) -> Codes:
        """The first 64 bits of each hash, which distinguish features."""
        return self.hashes if self.hashes.ndim == 1 else np.ascontiguousarray(self.hashes[:, 0])

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.offsets) - 1


def distinct(features: FeatureBatch) -> FeatureBatch:
    """Return each feature of a document once, in any order, with the sum of its weights.

    Features are the same if the first 64 bits of their hashes are.
    """
    if features.weights is None and features.hashes.ndim == 1:
        hashes = _sorted_in_documents(features.hashes, features.offsets)
        positions = np.flatnonzero(_is_first(hashes, features.offsets))
        return FeatureBatch(hashes[positions], np.searchsorted(positions, features.offsets))
    order = _order_in_documents(features)
    hashes = features.hashes[order]
    firsts = np.flatnonzero(_is_first(features.first_words[order], features.offsets))
    weights = features.weights
    if weights is not None:
        weights = np.add.reduceat(weights[order], firsts) if len(firsts) else weights[:0]
    return FeatureBatch(hashes[firsts], np.searchsorted(firsts, features.offsets), weights)


def distinct_counts(features: FeatureBatch, enough: int) -> Integers:
    """Count the distinct features of each document, or return any number from ``enough`` on if there are that many."""
    narrow = FeatureBatch(features.first_words, features.offsets)
    if enough > _GLANCE:
        return np.diff(distinct(narrow).offsets)
    counts = np.diff(features.offsets)
    filled = np.flatnonzero(counts)
    counts[filled] = _distinct_among_first(2 * enough, narrow, filled)
    bounds = features.offsets.tolist()
    for document in filled[counts[filled] < enough].tolist():
        counts[document] = len(np.unique(narrow.hashes[bounds[document] : bounds[document + 1]]))
    return counts


def _distinct_among_first(first: int, features: FeatureBatch, documents: Integers) -> Integers:
    """Count how many of each document's ``first`` features are distinct: nearly always these suffice."""
    places = features.offsets[documents, np.newaxis] + np.arange(first)
    glance = features.hashes[np.minimum(places, features.offsets[documents + 1, np.newaxis] - 1)]
    glance.sort(axis=1)
    changes: Integers = (glance[:, 1:] != glance[:, :-1]).sum(axis=1)
    return changes + 1


def check_weights(weights: Iterable[float]) -> Weights:
    """Return the weights as an array; NaN, infinite and non-numeric ones are a `WeightError`."""
    listed = list(weights)
    for weight in listed:
        if not _is_finite(weight):
            shown = repr(weight)[:40]
            raise WeightError(f"A weight is {shown}. Weights must be finite numbers: remove or replace it.")
    array = np.array(listed, dtype=np.float64)
    whole = not len(array) or (np.abs(array).max() < _LARGEST_WHOLE and not np.any(array % 1))
    return array.astype(np.int64) if whole else array


def _is_finite(weight: object) -> bool:
    try:
        return not isinstance(weight, str | bytes) and math.isfinite(weight)  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        return False


def _sorted_in_documents(hashes: Codes, offsets: Integers) -> Codes:
    ordered = hashes.copy()
    bounds = offsets.tolist()
    for start, end in pairwise(bounds):
        ordered[start:end].sort()
    return ordered


def _order_in_documents(features: FeatureBatch) -> Integers:
    return np.lexsort((features.first_words, rows_of(features.offsets)))


def _is_first(ordered: Codes, offsets: Integers) -> npt.NDArray[np.bool_]:
    """Return whether each hash is the first of its value in its document, the hashes being in order."""
    first = np.empty(len(ordered) + 1, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
    first[offsets] = True
    return first[:-1]
