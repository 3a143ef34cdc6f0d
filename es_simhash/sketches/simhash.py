"""SimHash: each bit shows on which side of a random hyperplane a weighted feature vector lies.

Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002; as in Manku, Jain, Das Sarma,
"Detecting near-duplicates for web crawling", WWW 2007. Each feature's hash adds its weight to the sums of the bits
that it has set and takes it from the others; sums above 0 give the bit 1, sums of 0 and below the bit 0. The hashes
stand for the hyperplanes' coordinates (+1 or -1), so that no hyperplane is ever kept.

Sums of parts add up to the sums of the whole: a document that grows need not be hashed again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from es_simhash._core import bit_codes
from es_simhash._core.arrays import Integers
from es_simhash._core.bit_codes import Codes
from es_simhash.errors import WeightError
from es_simhash.sketches.bit_counts import bit_counts
from es_simhash.text.features import FeatureBatch, check_weights
from es_simhash.text.hashing.poly64 import hash_tokens

BitSums: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]

_EPSILON = float(np.finfo(np.float64).eps)


def simhashes(features: FeatureBatch, bits: int) -> Codes:
    """Return the SimHash of each document, of as many bits as its features' hashes have."""
    return from_sums(bit_sums(features, bits))


def from_sums(sums: BitSums) -> Codes:
    """Return the SimHashes of documents, given their sums as rows: one a bit, the most significant first."""
    bits = sums.shape[1]
    signs = np.zeros((len(sums), bits + -bits % 64), dtype=np.bool_)
    np.greater(sums, 0, out=signs[:, -bits:])
    packed = np.packbits(signs, axis=1).view(">u8").astype(np.uint64)
    return packed[:, 0] if bit_codes.words_per_code(bits) == 1 else packed


def bit_sums(features: FeatureBatch, bits: int) -> BitSums:
    """Return the sums of each document: a row a document, a column a bit of the hashes, the most significant first.

    Sums of integer weights are exact integers. Sums of other weights are floats whose signs are always exact.
    """
    columns = np.atleast_2d(features.hashes.T)
    sums = np.concatenate([_word_sums(np.ascontiguousarray(column), features) for column in columns], axis=1)
    return sums[:, sums.shape[1] - bits :]


def simhash_of_hashes(weighted: Iterable[tuple[int, float]], bits: int) -> int:
    """Return the SimHash of (hash, weight) pairs, the hashes being integers of ``bits`` bits."""
    pairs = list(weighted)
    hashes = bit_codes.from_ints((value for value, _ in pairs), bits)
    return bit_codes.to_ints(simhashes(_one_document(hashes, [weight for _, weight in pairs]), bits))[0]


def simhash_of_vector(
    vector: Mapping[Any, float], bits: int = 64, dimension_hash: Callable[[Any], int] | None = None
) -> int:
    """Return the SimHash of a sparse numeric vector, whose values may be negative and fractional.

    A dimension is hashed by its name (a number by its decimal digits) with poly64, or by ``dimension_hash``, which
    must return integers of ``bits`` bits. Widths other than 32, 64 and 128 take the upper bits of the next one.
    """
    if dimension_hash is not None:
        return simhash_of_hashes(((dimension_hash(name), value) for name, value in vector.items()), bits)
    width = next(width for width in (32, 64, 128) if width >= bit_codes.check_bits(bits))
    hashes = hash_tokens([str(name) for name in vector], width)
    sums = bit_sums(_one_document(hashes, list(vector.values())), width)
    return bit_codes.to_ints(from_sums(sums[:, :bits]))[0]


def _one_document(hashes: Codes, weights: list[float]) -> FeatureBatch:
    return FeatureBatch(hashes, np.array([0, len(hashes)], dtype=np.int64), check_weights(weights))


def _word_sums(hashes: Codes, features: FeatureBatch) -> BitSums:
    """Return the sums of 64 bits."""
    weights = features.weights
    if weights is None:
        counts = bit_counts(hashes, features.offsets)[:, ::-1]
        return 2 * counts - np.diff(features.offsets)[:, np.newaxis]
    if weights.dtype == np.int64:
        return _integer_sums(hashes, features.offsets, cast("Integers", weights))
    bounds = features.offsets.tolist()
    rows = [_float_sums(hashes[a:b], weights[a:b]) for a, b in pairwise(bounds)]
    return np.array(rows, dtype=np.float64).reshape(-1, 64)


def _integer_sums(hashes: Codes, offsets: npt.NDArray[np.int64], weights: npt.NDArray[np.int64]) -> BitSums:
    """Count once for each binary digit of the weights; a negative weight counts for the complement."""
    sums = np.zeros((len(offsets) - 1, 64), dtype=np.int64)
    directed = np.where(weights < 0, ~hashes, hashes)
    sizes = np.abs(weights)
    for digit in range(int(sizes.max(initial=0)).bit_length()):
        has_digit = (sizes >> digit) & 1
        with_digit = np.cumsum(np.concatenate(([0], has_digit)))[offsets]
        counts = bit_counts(np.where(has_digit, directed, np.uint64(0)), offsets)[:, ::-1]
        sums += (2 * counts - np.diff(with_digit)[:, np.newaxis]) << digit
    return sums


def _float_sums(hashes: Codes, weights: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sum in the order of the hashes; sum exactly where rounding could have moved a sum across 0."""
    with np.errstate(over="ignore"):
        total = float(np.abs(weights).sum(dtype=np.float64))
    if not math.isfinite(total):
        raise WeightError("The weights add up to more than a float can hold. Scale them down.")
    order = np.lexsort((weights, hashes))
    bits = np.unpackbits(hashes[order].astype(">u8").view(np.uint8).reshape(-1, 8), axis=1)
    terms = np.where(bits, weights[order, np.newaxis], -weights[order, np.newaxis])
    sums: npt.NDArray[np.float64] = terms.sum(axis=0, dtype=np.float64)
    for column in np.flatnonzero(np.abs(sums) <= total * len(weights) * _EPSILON):
        sums[column] = math.fsum(terms[:, column])
    return sums
