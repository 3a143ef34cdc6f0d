"""SimHash: each bit shows on which side of a random hyperplane a weighted feature vector lies.

Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002; as in Manku, Jain, Das Sarma,
"Detecting near-duplicates for web crawling", WWW 2007. Each feature's hash adds its weight to the sums of the bits
that it has set and takes it from the others; sums above 0 give the bit 1, sums of 0 and below the bit 0. The hashes
stand for the hyperplanes' coordinates (+1 or -1), so that no hyperplane is ever kept.

Sums of parts add up to the sums of the whole: a document that grows need not be hashed again.

Bits are counted in parallel, 64 positions at a time. Hashes are laid out in groups of 15, each document beginning a
new group (zeros fill its last). A tree of carry-save adders (Harley & Seal; Warren, Hacker's Delight, 5-2) turns a
group's 15 words into four: the ones, twos, fours and eights of its 64 counts. Merged pairwise these become counts of
four bits next to each other in one word, then of eight bits, which are added up over as many groups as a byte can
hold, and at last over all groups of the document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes, Integers, offsets_from_counts, positions_in_rows
from es_simhash.errors import WeightError
from es_simhash.text.features import FeatureBatch, check_weights
from es_simhash.text.hashing import hash_tokens

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]

_GROUP = 15
# A byte can hold the counts of this many groups: 17 * 15 = 255.
_GROUPS_A_BYTE = 17
# Features that are counted at once: their tree fits into the second-level cache.
_CHUNK = 1 << 15

_EVERY_1ST = np.uint64(0x5555555555555555)
_EVERY_2ND = np.uint64(0x3333333333333333)
_EVERY_4TH = np.uint64(0x0F0F0F0F0F0F0F0F)


def bit_counts(hashes: Words, offsets: Integers) -> Counts:
    """Count how many of each document's 64-bit hashes set each bit: shape (documents, 64), bit 0 (of value 1) first."""
    counts = np.empty((len(offsets) - 1, 64), dtype=np.int64)
    for first, after in _chunks(offsets):
        bounds = offsets[first : after + 1]
        counts[first:after] = _count_chunk(hashes[bounds[0] : bounds[-1]], bounds - bounds[0])
    return counts


def _chunks(offsets: Integers) -> list[tuple[int, int]]:
    """Return runs of documents that have about `_CHUNK` features together."""
    marks = np.searchsorted(offsets, np.arange(offsets[0], offsets[-1], _CHUNK), side="right") - 1
    bounds = np.unique(np.concatenate(([0], marks, [len(offsets) - 1]))).tolist()
    return list(pairwise(bounds))


def _count_chunk(hashes: Words, offsets: Integers) -> Counts:
    groups = -(-np.diff(offsets) // _GROUP)
    group_offsets = offsets_from_counts(groups)
    nibbles = _nibble_counts(_columns(hashes, offsets, group_offsets))
    bytes_ = np.concatenate((nibbles & _EVERY_4TH, (nibbles >> np.uint64(4)) & _EVERY_4TH))
    return _sum_groups(bytes_, group_offsets)


def _columns(hashes: Words, offsets: Integers, group_offsets: Integers) -> Words:
    """Lay out the hashes as 15 rows: row i holds the i-th hash of each group."""
    padded = np.zeros(group_offsets[-1] * _GROUP, dtype=np.uint64)
    targets = (group_offsets[:-1] * _GROUP).tolist()
    bounds = offsets.tolist()
    for target, start, end in zip(targets, bounds, bounds[1:], strict=False):
        padded[target : target + end - start] = hashes[start:end]
    return np.ascontiguousarray(padded.reshape(-1, _GROUP).T)


def _nibble_counts(rows: Words) -> Words:
    """Count each group in four bits: row i has the counts of the bits i, i + 4, i + 8, …"""
    planes = _add_fifteen(rows)
    _swap(planes[0::2], planes[1::2], 1, _EVERY_1ST)
    _swap(planes[:2], planes[2:], 2, _EVERY_2ND)
    return planes


def _swap(low: Words, high: Words, width: int, mask: np.uint64) -> None:
    """Exchange the odd fields of ``low`` with the even ones of ``high``, fields being of ``width`` bits.

    If ``low`` and ``high`` were the lower and the upper bits of 64 numbers, ``low`` then has, next to each other, both
    bits of the even numbers, and ``high`` those of the odd ones (a delta swap; Hacker's Delight, 7-1).
    """
    shift = np.uint64(width)
    difference = ((low >> shift) ^ high) & mask
    np.bitwise_xor(high, difference, out=high)
    np.bitwise_xor(low, difference << shift, out=low)


def _add_fifteen(rows: Words) -> Words:
    """Add 15 words bit by bit, in place: the ones, twos, fours and eights of the 64 sums, as four rows."""
    scratch = np.empty_like(rows[:5])
    _add(rows[0:5], rows[5:10], rows[10:15], scratch)  # five ones in 0 … 4, five twos in 5 … 9
    _add(rows[0:10:5], rows[1:10:5], rows[2:10:5], scratch)  # a one in 0, twos in 1 and 5, a four in 6
    _add(rows[0:10:5], rows[3:10:5], rows[4:10:5], scratch)  # the one in 0, twos in 3 and 5, a four in 8
    _add(rows[5:6], rows[1:2], rows[3:4], scratch)  # the two in 5, a four in 1
    _add(rows[6:7], rows[8:9], rows[1:2], scratch)  # the four in 6, the eight in 8
    return rows[[0, 5, 6, 8]]


def _add(a: Words, b: Words, c: Words, scratch: Words) -> None:
    """Add three words, row by row: the sum overwrites ``a``, the carry ``b``."""
    room = scratch[: len(a)]
    np.bitwise_xor(a, b, out=room)
    np.bitwise_and(a, b, out=b)
    np.bitwise_xor(room, c, out=a)
    np.bitwise_and(room, c, out=room)
    np.bitwise_or(b, room, out=b)


def _sum_groups(bytes_: Words, group_offsets: Integers) -> Counts:
    """Add up the byte counts of each document's groups; row i of ``bytes_`` has those of the bits i, i + 8, …"""
    groups = np.diff(group_offsets)
    sums = np.zeros((len(groups), 8, 8), dtype=np.int64)
    filled = np.flatnonzero(groups)
    if not len(filled):
        return sums.reshape(-1, 64)
    runs = -(-groups[filled] // _GROUPS_A_BYTE)
    starts = np.repeat(group_offsets[filled], runs) + positions_in_rows(runs) * _GROUPS_A_BYTE
    added = np.stack([np.add.reduceat(row, starts) for row in bytes_], axis=1)
    fields = added.astype("<u8").view(np.uint8).astype(np.int64)
    sums[filled] = np.add.reduceat(fields, offsets_from_counts(runs)[:-1], axis=0).reshape(-1, 8, 8)
    return cast("Counts", sums.transpose(0, 2, 1).reshape(-1, 64))


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
    return packed[:, 0] if arrays.words_per_code(bits) == 1 else packed


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
    hashes = arrays.from_ints((value for value, _ in pairs), bits)
    return arrays.to_ints(simhashes(_one_document(hashes, [weight for _, weight in pairs]), bits))[0]


def simhash_of_vector(
    vector: Mapping[Any, float], bits: int = 64, dimension_hash: Callable[[Any], int] | None = None
) -> int:
    """Return the SimHash of a sparse numeric vector, whose values may be negative and fractional.

    A dimension is hashed by its name (a number by its decimal digits) with poly64, or by ``dimension_hash``, which
    must return integers of ``bits`` bits. Widths other than 32, 64 and 128 take the upper bits of the next one.
    """
    if dimension_hash is not None:
        return simhash_of_hashes(((dimension_hash(name), value) for name, value in vector.items()), bits)
    width = next(width for width in (32, 64, 128) if width >= arrays.check_bits(bits))
    hashes = hash_tokens([str(name) for name in vector], width)
    sums = bit_sums(_one_document(hashes, list(vector.values())), width)
    return arrays.to_ints(from_sums(sums[:, :bits]))[0]


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
