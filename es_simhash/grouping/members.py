"""Which documents make a group: what links connect, or who is near the one that stands for the group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from es_simhash import hamming
from es_simhash.arrays import Integers
from es_simhash.dedup.kept import Kept
from es_simhash.dedup.spool import Columns, Rows
from es_simhash.minhash.estimate import estimates
from es_simhash.query import Criteria


class Nearness:
    """How near documents are, by what is kept of them; positions need not ascend."""

    def __init__(self, kept: Kept, criteria: Criteria) -> None:
        self._kept = kept
        self._criteria = criteria

    def to_first(self, positions: Sequence[int]) -> tuple[list[int | None], list[float | None]]:
        """The distance and the similarity of each document to the first of them; None where the scheme has neither."""
        rows = np.array(positions, dtype=np.int64)
        distances: list[int | None] = [None] * len(rows)
        similarities: list[float | None] = [None] * len(rows)
        if self._kept.settings.simhash:
            own = self._taken(self._kept.simhashes, rows)
            words = [hamming.distances(own[:, word], own[0, word]) for word in range(own.shape[1])]
            distances = np.stack(words, axis=1).sum(axis=1, dtype=np.int64).tolist()
        if self._kept.settings.minhash:
            values = self._taken(self._kept.values, rows)
            similarities = estimates(values[:1], values, self._kept.value_bits).tolist()
        return distances, similarities

    def are_near_first(self, positions: Sequence[int]) -> list[bool]:
        """Whether each document meets the criteria together with the first."""
        return [
            self._criteria.are_met(distance, similarity)
            for distance, similarity in zip(*self.to_first(positions), strict=True)
        ]

    def _taken(self, columns: Columns, rows: Integers) -> Rows:
        """The rows of documents, whatever their order."""
        order = np.argsort(rows, kind="stable")
        found = columns.take(rows[order])
        taken = np.empty_like(found)
        taken[order] = found
        return taken


def stars(ordered: Sequence[int], nearness: Nearness) -> Iterator[list[int]]:
    """The groups among connected documents, each of which is near the first of its group.

    The first document takes all that are near it, then the first of the rest does, and so on. Who is left alone is in
    no group.
    """
    rest = list(ordered)
    while len(rest) > 1:
        are_near = nearness.are_near_first(rest)
        group = [position for position, near in zip(rest, are_near, strict=True) if near]
        rest = [position for position, near in zip(rest, are_near, strict=True) if not near]
        if len(group) > 1:
            yield group
