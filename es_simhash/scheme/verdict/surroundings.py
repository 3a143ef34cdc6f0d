"""The surroundings of documents: how many others are similar to each, and how similar the nearest one is.

Near-duplicates are compact, and their surroundings sparse (Chaudhuri, Ganti, Motwani, "Robust identification of fuzzy
duplicates", ICDE 2005): a pair that is as similar as many others are, through a form or a template, needs more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash.scheme.verdict.measures import Similarities
from es_simhash.scheme.verdict.verification import Crowding


@dataclass(frozen=True, eq=False)
class Surroundings:
    """For each of some texts the number of other documents that are similar to it (``crowd``), and the ``best``
    similarity of these.

    A text counts as often as documents have it (``copies``): to a document, its own copies are others as well.
    """

    crowd: Integers
    best: Similarities
    copies: npt.NDArray[np.uint32]

    @classmethod
    def of_copies(cls, copies: npt.NDArray[Any]) -> Surroundings:
        """Return the surroundings of texts, each with the number of its copies, before any pair is known."""
        return cls(copies.astype(np.int64) - 1, (copies > 1).astype(np.float64), copies.astype(np.uint32))

    def add(self, first: Integers, second: Integers, similarities: Similarities, crowding: Crowding) -> None:
        """Count pairs of unequal texts, given by their positions."""
        crowded = similarities >= crowding.least
        for side, other in ((first, second), (second, first)):
            np.add.at(self.crowd, side[crowded], self.copies[other[crowded]])
            np.maximum.at(self.best, side, similarities)

    def share(self, firsts: Integers) -> None:
        """Give each text what is around its first copy, which alone was paired with others."""
        self.crowd[:], self.best[:] = self.crowd[firsts], self.best[firsts]

    def of_pairs(self, first: Integers, second: Integers) -> tuple[Similarities, Integers]:
        """Return the product of the best similarities, and the smaller crowd, of both texts of each pair."""
        return self.best[first] * self.best[second], np.minimum(self.crowd[first], self.crowd[second])


@dataclass(frozen=True)
class Around:
    """The surroundings of a single document, by the similarities of others; see `Surroundings`."""

    crowd: int
    best: float

    @classmethod
    def of(cls, similarities: Iterable[float], crowding: Crowding) -> Around:
        """Take in other documents; a similarity is NaN if it is not known."""
        known = [each for each in similarities if not math.isnan(each)]
        return cls(sum(each >= crowding.least for each in known), max(known, default=0.0))
