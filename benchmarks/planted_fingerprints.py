"""Generated fingerprints with planted groups: any number of them, in any order, without an index.

Each number below ``count`` is a place; an affine map says which document is there, so that the documents of a group lie
far apart. Places are divided into kinds of groups, and what lies after them are documents without duplicates. Values
are mixed from numbers alone, so a part can be made without the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
import numpy.typing as npt

from es_simhash.groups.pairs.fingerprint_store import Condensed
from es_simhash.text import hashing

Words = npt.NDArray[np.uint64]
Values = npt.NDArray[np.uint8]

SIZE = 128
_WORDS = SIZE // 8
_AT_ONCE = 1 << 17
# Of each member's values this share of 256 is its own, so that two members agree in four fifths.
_OWN = 26
# So many values have the keys of grouping at most.
_ROWS = 5
_GOLDEN = 0.6180339887


@dataclass(frozen=True)
class Kind:
    """A kind of planted groups: their ``share`` of all documents, and the ``size`` of a group."""

    name: str
    share: float
    size: int


EQUAL, COMMON = "equal texts", "one key in common"
KINDS = (
    Kind("pairs", 0.1, 2),
    Kind(EQUAL, 0.02, 2),
    Kind("fives", 0.05, 5),
    Kind("forties", 0.02, 40),
    Kind("thousands", 0.01, 1000),
)
# So many documents have a key in common, and nothing else.
_COMMON_SHARE = 0.01


@dataclass(frozen=True)
class Planted:
    """``count`` generated documents."""

    count: int

    def batches(self) -> Iterator[Condensed]:
        """Yield all documents in the order of their positions."""
        for first in range(0, self.count, _AT_ONCE):
            yield self._made(np.arange(first, min(first + _AT_ONCE, self.count), dtype=np.uint64))

    @cached_property
    def firsts(self) -> npt.NDArray[np.uint32]:
        """The first document of each one's planted group, or itself: what grouping should find."""
        found = np.arange(self.count, dtype=np.uint32)
        for kind, places in self._ranges():
            for start in range(places.start, places.stop, _AT_ONCE * kind.size):
                some = np.arange(start, min(start + _AT_ONCE * kind.size, places.stop), dtype=np.uint64)
                members = self._positions(some).reshape(-1, kind.size)
                found[members] = members.min(axis=1, keepdims=True)
        return found

    def _ranges(self) -> Iterator[tuple[Kind, range]]:
        start = 0
        for kind in KINDS:
            stop = start + int(self.count * kind.share) // kind.size * kind.size
            yield kind, range(start, stop)
            start = stop

    def _made(self, positions: Words) -> Condensed:
        places = self._places(positions)
        group, noisy = places + np.uint64(self.count), np.zeros(len(places), dtype=np.bool_)
        contents = _mixed(places, 0)
        planted = 0
        for number, (kind, own) in enumerate(self._ranges()):
            here = (places >= np.uint64(own.start)) & (places < np.uint64(own.stop))
            group[here] = (places[here] - np.uint64(own.start)) // np.uint64(kind.size) << np.uint64(3) | np.uint64(
                number
            )
            group[here] |= np.uint64(1 << 62)
            if kind.name == EQUAL:
                contents[here] = _mixed(group[here], 0)
            else:
                noisy |= here
            planted = own.stop
        values = _values(group, 1)
        values[noisy] = _with_noise(values[noisy], places[noisy])
        common = (places >= np.uint64(planted)) & (places < np.uint64(planted + int(self.count * _COMMON_SHARE)))
        values[common, :_ROWS] = 0
        statuses = np.zeros(len(places), dtype=np.uint8)
        return Condensed(statuses, np.stack([contents >> np.uint64(16), contents], axis=1), contents, values)

    @cached_property
    def _factor(self) -> int:
        factor = int(_GOLDEN * self.count) | 1
        while gcd(factor, self.count) > 1:
            factor += 2
        return factor

    def _places(self, positions: Words) -> Words:
        return positions * np.uint64(self._factor) % np.uint64(self.count)

    def _positions(self, places: Words) -> Words:
        return places * np.uint64(pow(self._factor, -1, self.count)) % np.uint64(self.count)


def _mixed(numbers: Words, salt: int) -> Words:
    return hashing.fmix64(numbers * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt))


def _values(numbers: Words, salt: int) -> Values:
    """Make the values of signatures, a byte each, from a number a signature."""
    seeds = _mixed(numbers, salt)
    words = seeds[:, None] + np.arange(_WORDS, dtype=np.uint64) * np.uint64(0xD1342543DE82EF95)
    return hashing.fmix64(words).view(np.uint8)


def _with_noise(values: Values, places: Words) -> Values:
    return np.where(_values(places, 2) < _OWN, _values(places, 3), values)
