"""What is measured of pairs of texts: how similar they are, and how far they agree otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Similarities = npt.NDArray[np.float64]
# How far two texts agree in what `es_simhash.scheme.verdict.conditions` compare: a condition is not met; all are
# met; most numbers of both are the same as well; and these are several.
Agreements = npt.NDArray[np.uint8]
DIFFER, MET, NUMBERS, MANY_NUMBERS = range(4)


@dataclass(frozen=True, eq=False)
class PairMeasures:
    """The similarity of each pair of texts, 0 if it does not count and NaN if it is not known, and their agreement."""

    similarities: Similarities
    agreements: Agreements

    @classmethod
    def of_similarities(cls, similarities: Similarities) -> PairMeasures:
        """Return measures of pairs whose texts were not compared otherwise."""
        # np.full would be a good part of a search with few hits.
        return cls(similarities, np.frombuffer(bytearray([MET]) * len(similarities), dtype=np.uint8))

    def __getitem__(self, places: Any) -> PairMeasures:
        """Return the measures of some pairs."""
        return PairMeasures(self.similarities[places], self.agreements[places])

    @property
    def meeting(self) -> Similarities:
        """The similarities, 0 where a condition is not met."""
        found: Similarities = np.where(self.agreements == DIFFER, 0.0, self.similarities)
        return found
