"""The diameters of groups, of many at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, positions_in_rows, spread_chunks
from es_simhash.groups.pairs.nearness import Near, Nearness

# The diameter of groups with more different texts than this is not computed from all pairs.
_ALL_PAIRS = 64
# The members of groups with no more texts are compared by comparing them to the one that stands for them.
_PAIR = 2
_COMPARED_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Diameter:
    """The largest distance and the lowest similarity found between members of a group.

    Unless ``all_pairs`` were compared, some pair may be farther apart. An estimated similarity has a
    ``standard_error``.
    """

    distance: int | None
    similarity: float | None
    all_pairs: bool
    standard_error: float | None = None


def diameters(nearness: Nearness, groups: Sequence[Sequence[int]], to_canonicals: Near) -> list[Diameter]:
    """Compute the diameters of groups; in one with many texts, compare those that are far from the first.

    ``to_canonicals`` compares the members of groups, one after the other, each to the one that stands for it.
    """
    texts, counts = nearness.texts(groups)
    numbers = np.repeat(np.arange(len(groups)), [len(each) for each in groups])
    found = _Farthest(to_canonicals, len(groups))
    # Of two texts one stands for the other, unless a scope keeps some of their documents apart.
    few = 1 if nearness.is_by_pairs else _PAIR
    found.add(numbers, to_canonicals, counts[numbers] <= few)
    for which, near in _among(nearness, texts, counts, few):
        found.add(which, near)
    return found.diameters(nearness, counts <= _ALL_PAIRS)


def _among(nearness: Nearness, texts: Integers, counts: Integers, few: int) -> Iterator[tuple[Integers, Near]]:
    """Compare the texts of groups with more than a few; yield each pair's number of the group, and its nearness."""
    numbers = np.repeat(np.arange(len(counts)), counts)
    before = positions_in_rows(counts)
    before[~((counts > few) & (counts <= _ALL_PAIRS))[numbers]] = 0
    for which, back in spread_chunks(before, _COMPARED_AT_ONCE):
        yield numbers[which], nearness.between(texts[which - 1 - back], texts[which])
    for number in np.flatnonzero(counts > _ALL_PAIRS).tolist():
        for near in _around(nearness, texts[numbers == number]):
            yield np.full(counts[number], number), near


def _around(nearness: Nearness, texts: Integers) -> Iterator[Near]:
    """Compare all texts to the first, and to those that are the farthest from it."""
    first = nearness.to(int(texts[0]), texts)
    yield first
    farthest = [] if first.distances is None else [first.distances.argmax()]
    farthest += [] if first.similarities is None else [first.similarities.argmin()]
    for end in {int(each) for each in farthest}:
        yield nearness.to(int(texts[end]), texts)


class _Farthest:
    """The largest distance and the lowest similarity of each group."""

    def __init__(self, near: Near, groups: int) -> None:
        self._distances = None if near.distances is None else np.zeros(groups, dtype=np.int64)
        self._similarities = None if near.similarities is None else np.ones(groups, dtype=np.float64)

    def add(self, numbers: Integers, near: Near, counting: npt.NDArray[np.bool_] | slice = slice(None)) -> None:
        """Take in the pairs of groups with these numbers, as far as they count."""
        if self._distances is not None and near.distances is not None:
            np.maximum.at(self._distances, numbers[counting], near.distances[counting])
        if self._similarities is not None and near.similarities is not None:
            np.minimum.at(self._similarities, numbers[counting], near.similarities[counting])

    def diameters(self, nearness: Nearness, all_pairs: npt.NDArray[np.bool_]) -> list[Diameter]:
        """Return the diameters of the groups; ``all_pairs`` says where all pairs were compared."""
        errors = None if self._similarities is None else nearness.errors(self._similarities)
        nothing = [None] * len(all_pairs)
        distances, similarities, standard_errors = (
            nothing if values is None else values.tolist() for values in (self._distances, self._similarities, errors)
        )
        return list(map(Diameter, distances, similarities, all_pairs.tolist(), standard_errors))
