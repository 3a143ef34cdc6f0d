"""What is measured of pairs of texts: how similar they are, and whether they share enough numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Similarities = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PairMeasures:
    """The similarity of each pair of texts, 0 if it does not count and NaN if it is not known, and whether it
    ``meets`` the share of numbers that is asked for (see `es_simhash.scheme.verdict.shared_numbers`).
    """

    similarities: Similarities
    meets: Flags

    @classmethod
    def of_similarities(cls, similarities: Similarities) -> PairMeasures:
        """Return measures of pairs whose texts were not compared otherwise."""
        # np.full would be a good part of a search with few hits.
        return cls(similarities, np.frombuffer(bytearray(b"\1") * len(similarities), dtype=np.bool_))

    def __getitem__(self, places: Any) -> PairMeasures:
        """Return the measures of some pairs."""
        return PairMeasures(self.similarities[places], self.meets[places])

    @property
    def meeting(self) -> Similarities:
        """The similarities, 0 where too few numbers are shared."""
        found: Similarities = np.where(self.meets, self.similarities, 0.0)
        return found
