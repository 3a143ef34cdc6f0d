"""Weighted features of texts, and the weight of those that two texts share, for millions of pairs.

A table holds the features of the first text of each pair by their hashes; those of the second are looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Codes, Integers, distinct_numbers, offsets_from_counts, rows_of
from es_simhash.sketches.minhash.common import constants
from es_simhash.text.features import FeatureBatch

if TYPE_CHECKING:
    from es_simhash_native import KeptTexts


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
