"""Candidates where not all documents that share a key may be pairs: values must differ, or dates be near.

The documents of a key come in the order of their dates. Each is paired with those before it in its window, if they are
few. In a crowd, it is paired with the few nearest before it; where values must differ, with the few nearest before it
that have others, and with the next one that has others, if that is in a crowd. So whatever can be linked is linked in a
crowd as well, as long as each document has one value: all between two documents that are in scope are in the window of
both, and each run of equal values there is linked as a whole to the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, spread_chunks
from es_simhash.groups.pairs.candidates import PAIRS_AT_ONCE, POSITION_BITS, POSITION_MASK, HotKeys, pair_codes
from es_simhash.groups.pairs.scope_columns import ScopeColumns
from es_simhash.groups.pairs.sorting import Numbers

_POSITION = np.uint64(POSITION_BITS)


class ScopedLinker:
    """A `Linker` for documents of a scope, which gives those pairs that are in their windows, and differ."""

    def __init__(
        self, scopes: ScopeColumns, all: int, few: int, most: int | None = None, hot: HotKeys | None = None
    ) -> None:
        self._scopes = scopes
        self._limits = all, few, most
        self._hot = hot or HotKeys()
        self.left_out = self.cut_off = 0

    def pairs(self, pieces: Iterable[Numbers], table: int = 0) -> Iterator[Numbers]:
        """Yield the pairs, as numbers, of sorted and mixed entries of a table; the pieces have all that share a key."""
        for piece in pieces:
            words = piece[_share_key(piece >> _POSITION)]
            keys, documents = words >> _POSITION, self._scopes.documents(words & POSITION_MASK)
            starts = runs(keys)
            self._look_for_hot_keys(table, starts, documents)
            reach = self._scopes.reach(words, starts)
            sets = None if self._scopes.sets is None else self._scopes.sets[documents]
            found = links(keys, reach, sets, *self._limits)
            self.left_out += found.left_out
            self.cut_off += found.cut_off
            for one, other in found.pairs(PAIRS_AT_ONCE):
                first, second = documents[one], documents[other]
                yield self._scopes.differ(pair_codes(np.minimum(first, second), np.maximum(first, second)))

    def _look_for_hot_keys(self, table: int, starts: Integers, documents: Integers) -> None:
        places = np.flatnonzero(starts == np.arange(len(starts)))
        sizes = np.diff(places, append=len(starts))
        self._hot.add(table, sizes, documents[places + sizes - 1].astype(np.uint64))


@dataclass(frozen=True, eq=False)
class Linked:
    """The places of linked documents: each with ``taken`` ones before its ``top``, and each ``one`` with the ``next``.

    ``left_out`` counts the others in the windows, whether they would be in scope or not.
    """

    tops: Integers
    taken: Integers
    one: Integers
    next: Integers
    left_out: int
    cut_off: int

    def pairs(self, limit: int) -> Iterator[tuple[Integers, Integers]]:
        """Yield the places of both documents of each pair, ``limit`` at once at most."""
        for which, back in spread_chunks(self.taken, limit):
            yield self.tops[which] - 1 - back, which
        for start in range(0, len(self.one), limit):
            yield self.one[start : start + limit], self.next[start : start + limit]


def links(
    keys: npt.NDArray[np.generic],
    reach: Integers,
    sets: npt.NDArray[np.generic] | None,
    all: int,
    few: int,
    most: int | None,
) -> Linked:
    """Link documents, given their sorted keys, and for each the place of the first in its ``reach``.

    ``sets`` identify the values that must differ, if any must.
    """
    places = np.arange(len(keys))
    counts = places - reach
    is_crowd = counts > all
    blocks = places if sets is None else runs(keys, sets)
    tops = np.where(is_crowd, np.maximum(blocks, reach), places)
    taken = np.where(is_crowd, np.minimum(few, tops - reach), counts)
    is_cut = np.zeros(len(keys), dtype=np.bool_) if most is None else counts >= most
    taken[is_cut] = 0
    one = next_ = np.empty(0, dtype=np.int64)
    if sets is not None and len(keys):
        starts = np.flatnonzero(blocks == places)
        following = np.append(starts[1:], 0)[np.searchsorted(starts, places, side="right") - 1]
        is_linked = (following > 0) & (keys[following] == keys) & is_crowd[following] & ~is_cut[following]
        is_linked &= (reach[following] <= places) & (places < following - taken[following])
        one = np.flatnonzero(is_linked)
        next_ = following[one]
    return Linked(tops, taken, one, next_, int((counts - taken).sum()) - len(one), int(is_cut.sum()))


def runs(*columns: npt.NDArray[np.generic]) -> Integers:
    """Return for each row the place of the first of the equal ones that follow one another up to it."""
    is_first = np.ones(len(columns[0]), dtype=np.bool_)
    is_first[1:] = np.logical_or.reduce([each[1:] != each[:-1] for each in columns])
    return np.maximum.accumulate(np.where(is_first, np.arange(len(is_first)), 0))


def _share_key(keys: Numbers) -> npt.NDArray[np.bool_]:
    """Return which of sorted keys are there several times."""
    same = np.zeros(len(keys) + 1, dtype=np.bool_)
    np.equal(keys[1:], keys[:-1], out=same[1:-1])
    return same[1:] | same[:-1]
