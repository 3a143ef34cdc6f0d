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

A table holds the features of the first text of each pair by their hashes; those of the second are looked up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Codes, Integers, are_new, distinct_numbers, offsets_from_counts, rows_of
from es_simhash.errors import HashError, InputError, WeightError
from es_simhash.sketches.minhash.common import constants
from es_simhash.text.features import FeatureBatch

if TYPE_CHECKING:
    from es_simhash_native import KeptTexts


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


# Features that are put in and looked up at a time, to stay in a cache, and places of the table for each.
_AT_ONCE = 1 << 16
_PLACES = 16
_FACTORS = constants(8) | np.uint64(1)


@dataclass(frozen=True, eq=False, slots=True)
class WeightedSet:
    """The features of a text, each once, and their weights; the first ``heavy`` of them weigh the most.

    ``total`` is the weight of all features of the text: those here, and the ``rest``.
    """

    hashes: Codes
    weights: npt.NDArray[Any]
    heavy: int
    total: int
    rest: int = 0

    @property
    def outline(self) -> WeightedSet:
        """The same with the heavy features alone, unless these are most of them."""
        if 2 * self.heavy > len(self.hashes):
            return self
        hashes, weights = self.hashes[: self.heavy].copy(), self.weights[: self.heavy].copy()
        return WeightedSet(hashes, weights, self.heavy, self.total, self.total - int(weights.sum(dtype=np.int64)))


def weighted_sets(features: FeatureBatch, weights: Integers, are_heavy: npt.NDArray[np.bool_]) -> Iterator[WeightedSet]:
    """Yield the features of each text, given what they weigh, and which of them are heavy."""
    starts, rows = features.offsets[:-1], rows_of(features.offsets)
    before = offsets_from_counts(are_heavy.astype(np.int64))
    heavy = np.diff(before[features.offsets])
    # The heavy features of a text come first, followed by the others.
    rank = before[:-1] - before[starts][rows]
    own = np.arange(len(rows)) - starts[rows]
    places = starts[rows] + np.where(are_heavy, rank, heavy[rows] + own - rank)
    narrow = np.uint16 if weights.max(initial=0) < 1 << 16 else np.int64
    hashes, ordered = np.empty_like(features.hashes), np.empty(len(rows), dtype=narrow)
    hashes[places], ordered[places] = features.hashes, weights
    totals = np.diff(offsets_from_counts(weights)[features.offsets])
    bounds = zip(pairwise(features.offsets.tolist()), heavy.tolist(), totals.tolist(), strict=True)
    for (start, end), count, total in bounds:
        yield WeightedSet(hashes[start:end], ordered[start:end], count, total)


def shared_weights(texts: Sequence[WeightedSet], first: Integers, second: Integers) -> Integers:
    """Return the weight of the features that both texts of each pair have here, given their positions."""
    found = np.zeros(len(first), dtype=np.int64)
    sizes = np.array([len(text.hashes) for text in texts], dtype=np.int64)
    order = np.argsort(first, kind="stable")
    owners = first[order]
    is_new = np.diff(owners, prepend=-1) != 0
    ends = np.cumsum(sizes[second[order]] + sizes[owners] * is_new)
    for some in np.split(order, np.flatnonzero(np.diff(ends // _AT_ONCE)) + 1):
        if len(some):
            found[some] = _looked_up(texts, first[some], second[some])
    return found


def _looked_up(texts: Sequence[WeightedSet], first: Integers, second: Integers) -> Integers:
    """Return the same, for so few pairs that all their features are in memory at once."""
    owners, which = np.unique(first, return_inverse=True)
    salts = constants(len(owners))
    own, own_salts = _joined([texts[owner] for owner in owners.tolist()], salts)
    others = [texts[other] for other in second.tolist()]
    asked, asked_salts = _joined(others, salts[which])
    are_shared = _are_in(own, own ^ own_salts, asked, asked ^ asked_salts, _FACTORS)
    sums = offsets_from_counts(np.concatenate([other.weights for other in others]) * are_shared)
    shared: Integers = np.diff(sums[np.cumsum([0, *(len(other.hashes) for other in others)])])
    return shared


def _joined(texts: Sequence[WeightedSet], salts: Codes) -> tuple[Codes, Codes]:
    """Join the features of texts, each with the salt of its text."""
    return np.concatenate([text.hashes for text in texts]), np.repeat(salts, [len(text.hashes) for text in texts])


def _are_in(there: Codes, keys: Codes, asked: Codes, asked_keys: Codes, factors: Codes) -> npt.NDArray[np.bool_]:
    """Return whether each feature that is asked for is there: the same hash, with the same key.

    Only one of the features with the same place in the table stays there: the others get a table of their own.
    """
    if not len(there):
        return np.zeros(len(asked), dtype=np.bool_)
    bits = (_PLACES * len(there)).bit_length()
    shift, numbers = np.uint64(64 - bits), np.arange(len(there), dtype=np.int32)
    places = (keys * factors[0] >> shift).view(np.int64)
    asked_places = (asked_keys * factors[0] >> shift).view(np.int64)
    table = np.zeros(1 << bits, dtype=np.int32)
    table[places] = numbers
    at = table.take(asked_places)
    are_in: npt.NDArray[np.bool_] = keys.take(at) == asked_keys
    same = np.flatnonzero(are_in)
    are_in[same] = there[at[same]] == asked[same]
    is_left = table.take(places) != numbers
    if is_left.any():
        crowded = np.zeros(1 << bits, dtype=np.bool_)
        crowded[places[is_left]] = True
        open_ = np.flatnonzero(crowded.take(asked_places))
        are_in[open_] |= _are_in(there[is_left], keys[is_left], asked[open_], asked_keys[open_], np.roll(factors, 1))
    return are_in


# A byte of text makes up to one feature: a hash of 8 bytes, and its weight.
_BYTES_A_BYTE = 12
# The limit for texts that are all in memory themselves.
_MEMORY = 256 << 20
# The overhead of a cached text, in addition to its features.
_BYTES_A_TEXT = 300

# The texts of these numbers, which ascend, and how many bytes each has.
Take = Callable[[Integers], Iterable[str]]
Sizes = Callable[[Integers], Integers]
# The parts of each text that are compared.
Prepare = Callable[[Iterable[str]], Iterator[WeightedSet]]


class SetCache:
    """Texts by their numbers, with about ``limit`` bytes of their features cached, or those of a single pair.

    The compiled kernels make features in ``threads``.
    """

    def __init__(self, prepare: Prepare, take: Take, sizes: Sizes, limit: int, threads: int = 1) -> None:
        self._prepare = prepare
        self._take = take
        self._sizes = sizes
        self._limit = limit
        self._threads = threads
        self._outlines: dict[int, WeightedSet] = {}
        self._kept: KeptTexts | None = None
        self._bytes = 0

    @classmethod
    def of(cls, prepare: Prepare, texts: Sequence[str]) -> SetCache:
        """Cache texts that are all in memory."""
        sizes = np.array([len(text) for text in texts], dtype=np.int64)
        return cls(prepare, lambda rows: [texts[row] for row in rows.tolist()], sizes.__getitem__, _MEMORY)

    def parts(self, pairs: Integers) -> Iterator[Integers]:
        """Split the pairs, two rows of numbers, into parts whose texts' features all fit in memory; yield positions.

        The texts are cut into blocks; the pairs of two blocks are a part.
        """
        if not pairs.size:
            return
        rows = distinct_numbers(pairs)
        blocks = np.cumsum(self._sizes(rows)) * 2 * _BYTES_A_BYTE // self._limit
        first, second = blocks[np.searchsorted(rows, pairs)]
        order = np.lexsort((second, first))
        cuts = np.flatnonzero((np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)) + 1
        yield from np.split(order, cuts)

    def texts(self, rows: Integers) -> list[str]:
        """Return the texts themselves."""
        return list(self._take(rows))

    def kept(self, keep: Callable[[int, int], KeptTexts]) -> KeptTexts:
        """Return where the compiled kernels keep texts, made by ``keep`` with the limit of bytes, and the threads."""
        if self._kept is None:
            self._kept = keep(self._limit, self._threads)
        return self._kept

    def whole(self, rows: Integers) -> list[WeightedSet]:
        """Return all features of texts."""
        return list(self._prepare(self._take(rows)))

    def outlines(self, rows: Integers) -> list[WeightedSet]:
        """Return the outlines of texts, which stay cached while there is room."""
        missing = np.array([row for row in rows.tolist() if row not in self._outlines], dtype=np.int64)
        for row, features in zip(missing.tolist(), self._prepare(self._take(missing)), strict=True):
            outline = features.outline
            self._outlines[row] = outline
            self._bytes += _size(outline)
        found = [self._outlines[row] for row in rows.tolist()]
        self._make_room(set(rows.tolist()))
        return found

    def _make_room(self, needed: set[int]) -> None:
        """Drop the outlines that came first."""
        if self._bytes > self._limit:
            for row in [row for row in self._outlines if row not in needed]:
                self._bytes -= _size(self._outlines.pop(row))
                if self._bytes <= self._limit:
                    return


def fits(texts: Iterable[str]) -> bool:
    """Return whether the features of texts that are all in memory may be so, too."""
    return sum(map(len, texts)) * _BYTES_A_BYTE <= _MEMORY


def _size(features: WeightedSet) -> int:
    return features.hashes.nbytes + features.weights.nbytes + _BYTES_A_TEXT
