"""Exact similarities of two documents' features, to re-rank what signatures and keys found.

Features have four forms: a set; a mapping from feature to weight; an array of 64-bit hashes, sorted, each once; or a
pair of such an array and an array of weights. Give both documents as Python objects, or both as arrays. Without weights
each feature weighs 1, so the formulas for weights hold for sets too. With v and w the weights of a feature in the two
documents, 0 where it is absent, and sums over all features::

    jaccard            |A ∩ B| / |A ∪ B|
    weighted_jaccard   Σ min(v, w) / Σ max(v, w)
    containment        Σ min(v, w) / Σ v             of sets: |A ∩ B| / |A| (Broder)
    overlap            Σ min(v, w) / min(Σ v, Σ w)   of sets: |A ∩ B| / min(|A|, |B|) (Szymkiewicz, Simpson)
    balanced           √(weighted_jaccard · overlap)
    cosine             Σ v w / √(Σ v² · Σ w²)

Two documents without features, or without weight, have the similarity 1; one such document and any other have 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import are_new
from es_simhash.errors import HashError, InputError, WeightError

Hashes: TypeAlias = npt.NDArray[np.uint64]
Vector: TypeAlias = npt.NDArray[np.float64]
PythonFeatures: TypeAlias = AbstractSet[Any] | Mapping[Any, float]
ArrayFeatures: TypeAlias = Hashes | tuple[Hashes, Vector | npt.NDArray[np.int64]]
Features: TypeAlias = PythonFeatures | ArrayFeatures


def jaccard(a: Features, b: Features) -> float:
    """Return the share of all features that both documents have, whatever their weights."""
    if _is_array(a) and _is_array(b):
        both = np.concatenate((_hashes(a), _hashes(b)))
        both.sort(kind="stable")  # merges the two sorted halves
        shared = int(np.count_nonzero(both[1:] == both[:-1]))
        union = len(both) - shared
    else:
        left, right = _mapping(a).keys(), _mapping(b).keys()
        shared = len(left & right)
        union = len(left) + len(right) - shared
    return shared / union if union else 1.0


def weighted_jaccard(a: Features, b: Features) -> float:
    """Return the share of the weight of all features that both documents have."""
    return _shared(a, b, lambda v, w: _total(np.maximum(v, w)))


def containment(a: Features, b: Features) -> float:
    """Return the share of the weight of ``a`` that ``b`` has as well: near 1 where ``a`` is a part of ``b``."""
    return _shared(a, b, lambda v, w: _total(v))


def overlap(a: Features, b: Features) -> float:
    """Return the share of the lighter document's weight that the other has too: near 1 if one is part of the other.

    With its idf as the weight of a feature in both documents this is the idf containment,
    Σ idf(A ∩ B) / min(Σ idf(A), Σ idf(B)).
    """
    return _shared(a, b, lambda v, w: min(_total(v), _total(w)))


def balanced(a: Features, b: Features) -> float:
    """Return the geometric mean of `weighted_jaccard` and `overlap`: texts that grew lose less than by the former."""
    found = _shared(a, b, lambda v, w: math.sqrt(_total(np.maximum(v, w)) * min(_total(v), _total(w))))
    return min(1.0, found)


def cosine(a: Features, b: Features) -> float:
    """Return the cosine of the angle between the weights as vectors, from -1 to 1; weights may be negative."""
    v, w = (_scaled(vector) for vector in _aligned(a, b))
    if v.any() != w.any():
        return 0.0
    if not v.any():
        return 1.0
    quotient = (v * w).sum() / math.sqrt((v * v).sum() * (w * w).sum())
    return float(min(1.0, max(-1.0, quotient)))


def _shared(a: Features, b: Features, whole_of: Callable[[Vector, Vector], float]) -> float:
    """Return the weight that both documents have of every feature, as a share of the ``whole_of`` their weights."""
    v, w = _aligned(a, b)
    lowest = min(v.min(initial=0.0), w.min(initial=0.0))
    if lowest < 0:
        raise WeightError(f"A feature has the weight {lowest}. Give weights of 0 or more, or take the cosine.")
    if v.any() != w.any():
        return 0.0
    whole = whole_of(v, w)
    return _total(np.minimum(v, w)) / whole if whole else 1.0


def _total(vector: Vector) -> float:
    with np.errstate(over="ignore"):
        total = float(vector.sum())
    if math.isinf(total):
        raise WeightError("The weights of a document add up to infinity. Give smaller weights.")
    return total


def _scaled(vector: Vector) -> Vector:
    """Scale the vector by the power of two that keeps its squares in range."""
    _, exponent = np.frexp(np.abs(vector).max(initial=0.0))
    scaled: Vector = np.ldexp(vector, -exponent)
    return scaled


def _aligned(a: Features, b: Features) -> tuple[Vector, Vector]:
    """Return the weights in both documents of every feature that one of them has."""
    if _is_array(a) and _is_array(b):
        v, w = _aligned_arrays(a, b)
    else:
        v, w = _aligned_mappings(_mapping(a), _mapping(b))
    for vector in (v, w):
        infinite = vector[~np.isfinite(vector)]
        if len(infinite):
            raise WeightError(f"A feature has the weight {infinite[0]}. Give finite weights.")
    return v, w


def _aligned_mappings(a: Mapping[Any, float], b: Mapping[Any, float]) -> tuple[Vector, Vector]:
    features = dict.fromkeys((*a, *b))
    v, w = ([weights.get(feature, 0.0) for feature in features] for weights in (a, b))
    return np.array(v, dtype=np.float64), np.array(w, dtype=np.float64)


def _aligned_arrays(a: ArrayFeatures, b: ArrayFeatures) -> tuple[Vector, Vector]:
    hashes_a, hashes_b = _hashes(a), _hashes(b)
    hashes = np.concatenate((hashes_a, hashes_b))
    order = hashes.argsort(kind="stable")  # merges the two sorted halves
    ordered = hashes[order]
    is_new = are_new(ordered)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.cumsum(is_new) - 1
    v, w = np.zeros((2, np.count_nonzero(is_new)))
    v[places[: len(hashes_a)]] = _weights(a, len(hashes_a))
    w[places[len(hashes_a) :]] = _weights(b, len(hashes_b))
    return v, w


def _is_array(features: Features) -> TypeGuard[ArrayFeatures]:
    if isinstance(features, tuple):
        return len(features) == 2 and all(isinstance(part, np.ndarray) for part in features)
    return isinstance(features, np.ndarray)


def _hashes(features: ArrayFeatures) -> Hashes:
    hashes = features[0] if isinstance(features, tuple) else features
    if hashes.ndim != 1 or hashes.dtype != np.uint64 or (hashes[1:] <= hashes[:-1]).any():
        raise HashError(
            f"An array of {hashes.dtype} of shape {hashes.shape} does not hold sorted, distinct hashes. "
            "Give what numpy.unique makes of them, as uint64."
        )
    return hashes


def _weights(features: ArrayFeatures, count: int) -> npt.NDArray[Any]:
    weights = features[1] if isinstance(features, tuple) else np.ones(count)
    if weights.shape != (count,):
        raise WeightError(f"Weights of shape {weights.shape} do not fit {count} hashes. Give one weight a hash.")
    return weights


def _mapping(features: Features) -> Mapping[Any, float]:
    if isinstance(features, Mapping):
        return features
    if isinstance(features, AbstractSet):
        return dict.fromkeys(features, 1.0)
    raise InputError(
        f"Features cannot be read from {type(features).__name__} here. "
        "Give both documents as sets or mappings, or both as arrays of hashes."
    )
