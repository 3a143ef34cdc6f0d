"""The surroundings of documents: how many others are similar to each, and how similar the nearest one is.

Near-duplicates are compact, and their surroundings sparse (Chaudhuri, Ganti, Motwani, "Robust identification of fuzzy
duplicates", ICDE 2005): a pair that is as similar as many others are, through a form or a template, needs more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash.scheme.settings import Crowding
from es_simhash.scheme.verdict.measures import Similarities


@dataclass(frozen=True, eq=False)
class Surroundings:
    """For each of some documents the number of others that are similar to it (``crowd``), and the ``best`` similarity.

    Documents with equal texts count as one.
    """

    crowd: Integers
    best: Similarities

    @classmethod
    def of_none(cls, documents: int) -> Surroundings:
        """Return the surroundings of documents before any pair is known."""
        return cls(np.zeros(documents, dtype=np.int64), np.zeros(documents, dtype=np.float64))

    def add(self, first: Integers, second: Integers, similarities: Similarities, crowding: Crowding) -> None:
        """Count pairs, given by the positions of their documents."""
        crowded = similarities >= crowding.least
        for side in (first, second):
            np.add.at(self.crowd, side[crowded], 1)
            np.maximum.at(self.best, side, similarities)

    def of_pairs(self, first: Integers, second: Integers) -> tuple[Similarities, Integers]:
        """Return the product of the best similarities, and the smaller crowd, of both documents of each pair."""
        return self.best[first] * self.best[second], np.minimum(self.crowd[first], self.crowd[second])


@dataclass(frozen=True)
class Around:
    """The surroundings of a single document, by the similarities of other texts; see `Surroundings`."""

    crowd: int
    best: float

    @classmethod
    def of(cls, others: Iterable[tuple[str | None, bool, float]], crowding: Crowding) -> Around:
        """Take in other documents: the hash of the text if it is known, whether the text is the same, the similarity.

        A similarity is NaN if it is not known.
        """
        found: dict[object, float] = {}
        for number, (content, is_same, similarity) in enumerate(others):
            if not is_same and not math.isnan(similarity):
                found[number if content is None else content] = similarity
        crowd = sum(similarity >= crowding.least for similarity in found.values())
        return cls(crowd, max(found.values(), default=0.0))
