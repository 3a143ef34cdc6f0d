"""Groups as connected components: each pair of near-duplicates links its two documents.

A group has at least two documents. Its first document, by position, stands for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_numbers
from es_simhash._core.native import native

Positions = npt.NDArray[Any]


class UnionFind:
    """The groups of ``count`` documents, to which pairs are added in arrays; it takes 4 bytes a document.

    Every document points to an earlier one of its group, or to itself if it is the first, the root. A round over some
    pairs halves the paths to their roots until they are one step long, then lets the later root of each pair point to
    the earlier one.
    """

    def __init__(self, count: int) -> None:
        kernels = native()
        self._compiled: Any = kernels.Components(count) if kernels and count < 1 << 32 else None
        if self._compiled is None:
            self._parents = np.arange(count, dtype=np.uint32 if count <= 1 << 32 else np.int64)

    def union(self, first: Positions, second: Positions) -> None:
        """Put the documents of each pair into one group."""
        if self._compiled is not None:
            self._compiled.union(*(np.ascontiguousarray(side, dtype=np.uint32) for side in (first, second)))
            return
        while len(first):
            first, second = self._roots(first), self._roots(second)
            apart = first != second
            first, second = first[apart], second[apart]
            # A root that several pairs link to others takes the earliest; the next round links these.
            np.minimum.at(self._parents, np.maximum(first, second), np.minimum(first, second))

    def groups(self) -> Components:
        """Return the groups so far."""
        return Components(self._roots(slice(None)) if self._compiled is None else self._compiled.firsts())

    def _roots(self, documents: Positions | slice) -> Positions:
        """Find the roots of documents, or of all; afterwards these point straight to their roots."""
        while True:
            parents: Positions = self._parents[documents]
            grandparents: Positions = self._parents[parents]
            if np.array_equal(parents, grandparents):
                return parents
            self._parents[documents] = grandparents


class Components:
    """The groups of documents; ``firsts`` has, for each, the position of its group's first, or its own.

    The first stands for the group; it need not have the lowest position.
    """

    def __init__(self, firsts: Positions) -> None:
        self.firsts = firsts

    @cached_property
    def _members(self) -> tuple[Integers, Integers]:
        """The documents of all groups, those of a group together, and where each group begins."""
        later = np.flatnonzero(self.firsts != np.arange(len(self.firsts), dtype=self.firsts.dtype))
        heads = self.firsts[later]
        members = np.concatenate([later, distinct_numbers(heads).astype(np.int64)])
        firsts = self.firsts[members]
        members = members[np.lexsort((members, firsts != members, firsts))]
        return members, np.flatnonzero(self.firsts[members] == members)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._members[1])

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the positions of each group, its first document before the others, in the order of first documents."""
        members, starts = self._members
        for start, stop in pairwise([*starts.tolist(), len(members)]):
            yield members[start:stop].tolist()
