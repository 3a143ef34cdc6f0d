"""The pairs that a deduplication finds, with all copies.

A deduplication compares only the first of documents with equal texts; the others inherit its pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, spread
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.groups.pairs.scope_columns import ScopeColumns
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.groups.union_find import UnionFind
from es_simhash.quality.truth import pairs_within

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False)
class PredictedPairs:
    """Near pairs, as numbers in ascending order.

    ``similarities`` are NaN, and ``distances`` -1, if they do not count; ``are_exact`` is False for estimates.
    """

    pairs: Numbers
    similarities: npt.NDArray[np.float64]
    are_exact: npt.NDArray[np.bool_]
    distances: npt.NDArray[np.int64]

    @classmethod
    def none(cls) -> PredictedPairs:
        """Return no pairs."""
        return cls(np.empty(0, np.uint64), np.empty(0, np.float64), np.empty(0, np.bool_), np.empty(0, np.int64))

    def similarities_of(self, pairs: Numbers) -> npt.NDArray[np.float64]:
        """Return the similarities of any pairs; NaN for pairs that are not near."""
        return self._of(pairs, self.similarities, np.nan)

    def are_exact_of(self, pairs: Numbers) -> npt.NDArray[np.bool_]:
        """Return whether the similarities of pairs are exact."""
        return self._of(pairs, self.are_exact, False)

    def distances_of(self, pairs: Numbers) -> npt.NDArray[np.int64]:
        """Return the distances of any pairs; -1 for pairs that are not near."""
        return self._of(pairs, self.distances, -1)

    def some(self, chosen: npt.NDArray[np.bool_]) -> PredictedPairs:
        """Return the chosen ones of the pairs."""
        return PredictedPairs(
            self.pairs[chosen], self.similarities[chosen], self.are_exact[chosen], self.distances[chosen]
        )

    def _of(self, pairs: Numbers, values: npt.NDArray[Scalar], unknown: object) -> npt.NDArray[Scalar]:
        found = np.full(len(pairs), unknown, dtype=values.dtype)
        if len(self.pairs):
            at = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
            there = self.pairs[at] == pairs
            found[there] = values[at[there]]
        return found


def first_positions(texts: Sequence[str]) -> Integers:
    """Return for each text the position of the first equal text."""
    firsts: dict[str, int] = {}
    return np.array([firsts.setdefault(text, place) for place, text in enumerate(texts)], dtype=np.int64)


def predict_pairs(groups: Groups[Corpus], originals: Integers) -> PredictedPairs:
    """Return the pairs that were found and those of copies; ``originals`` are the `first_positions` of the texts.

    With a scope these are the pairs in it.
    """
    blocks, identical_pairs, scopes = list(groups.pairs()), groups.counts.identical, groups.corpus.store.scopes
    pairs = np.concatenate(blocks) if blocks else None
    if pairs is None or not len(pairs):
        return PredictedPairs.none()
    identical = pairs[:identical_pairs]
    copies = pairs_within(
        np.where(np.isin(originals, originals[identical["second"]]), originals, -1 - np.arange(len(originals)))
    )
    near = pairs[identical_pairs:]
    if scopes:
        copies = copies[scopes.are_in_scope(*positions(copies))]
        originals = _originals_in_scope(scopes, identical, len(originals))
    which, expanded = _among_copies(originals, near)
    # A copy of a text is as near to it as the first of the identical pairs.
    rows = np.concatenate([np.repeat(identical[:1], len(copies)), near[which]])
    found = np.concatenate([copies, expanded])
    order = np.argsort(found)
    return _of_rows(found[order], rows[order])


def _originals_in_scope(scopes: ScopeColumns, identical: Pairs, count: int) -> Integers:
    """Return for each document the one that was compared in its stead."""
    union = UnionFind(count)
    if not scopes.by_pairs:
        union.union(identical["first"], identical["second"])
    originals: Integers = union.groups().firsts.astype(np.int64)
    return originals


def _of_rows(pairs: Numbers, rows: Pairs) -> PredictedPairs:
    names, count = rows.dtype.names or (), len(rows)
    return PredictedPairs(
        pairs,
        similarities=rows["similarity"] if "similarity" in names else np.full(count, np.nan),
        are_exact=rows["is_exact"] if "is_exact" in names else np.zeros(count, dtype=np.bool_),
        distances=rows["distance"].astype(np.int64) if "distance" in names else np.full(count, -1),
    )


def _among_copies(originals: Integers, near: Pairs) -> tuple[Integers, Numbers]:
    """Repeat each pair for all copies of its documents; return the source rows and the pairs."""
    members = np.argsort(originals, kind="stable")
    texts, starts, counts = np.unique(originals[members], return_index=True, return_counts=True)
    first, second = (np.searchsorted(texts, originals[near[side]]) for side in ("first", "second"))
    which, place = spread(counts[first] * counts[second])
    a = members[starts[first][which] + place // counts[second][which]]
    b = members[starts[second][which] + place % counts[second][which]]
    return which, pair_codes(np.minimum(a, b), np.maximum(a, b))
