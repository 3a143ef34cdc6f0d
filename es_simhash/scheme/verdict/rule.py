"""The rule that decides whether two documents are near-duplicates, and by which clause.

With s, the similarity of two texts (`es_simhash.scheme.verdict.verifier`), the first of these clauses that holds
decides:

``equal``    near-duplicates: the texts are the same
``bits``     near-duplicates: their SimHashes are within the maximum distance, where distances count
``below``    no near-duplicates: s is below the minimum similarity
``numbers``  no near-duplicates: they share fewer of their numbers than is asked for
``similar``  near-duplicates: s is at least the minimum similarity

So the verdict is a function of both documents, the settings, and the table that weighs features. Whatever else an
index or a file has makes no difference, and a lower minimum only adds pairs.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import MinHash
from es_simhash.sketches.minhash.common import standard_error
from es_simhash.sketches.tradeoffs import sharing

Clause: TypeAlias = Literal["equal", "bits", "similar", "numbers", "below"]
CLAUSES: tuple[Clause, ...] = get_args(Clause)
EQUAL, BITS, SIMILAR, NUMBERS, BELOW = range(len(CLAUSES))

Clauses: TypeAlias = npt.NDArray[np.uint8]


def clauses(criteria: Criteria, distances: npt.NDArray[np.number] | None, texts: PairMeasures | None) -> Clauses:
    """Return the deciding clause of pairs of unequal texts, as positions in `CLAUSES`.

    ``distances`` or ``texts`` are None where these do not count, or are not known.
    """
    count = len(distances) if distances is not None else 0 if texts is None else len(texts.similarities)
    found = np.full(count, BELOW, dtype=np.uint8)
    if texts is not None and criteria.similarity is not None:
        # An unknown similarity, NaN, is not at least the minimum.
        similar = texts.similarities >= criteria.similarity
        found[similar] = np.where(texts.meets[similar], np.uint8(SIMILAR), np.uint8(NUMBERS))
    if distances is not None and criteria.distance is not None:
        found[distances <= criteria.distance] = BITS
    return found


def are_near(clauses: Clauses) -> Flags:
    """Return which pairs are near-duplicates by their clauses."""
    return clauses <= SIMILAR


Similarities = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PairMeasures:
    """The similarity of each pair of texts, 0 if it does not count and NaN if it is not known, and whether it
    ``meets`` the share of numbers that is asked for (see `es_simhash.scheme.verdict.verifier`).
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


# Standard errors beyond which an estimate leaves no doubt, and how much the weights of features seldom change.
_DOUBT, _BY_WEIGHTS = 3.0, 0.15
# The probability with which keys find pairs that are not looked for.
_SELDOM = 0.05


def lowest_estimate(criteria: Criteria, minhash: MinHash, value_bits: int) -> float:
    """Return the lowest Jaccard similarity of texts that are compared, as estimated by the values that keys hold."""
    verification = criteria.verification
    if verification is None:
        return -1.0
    if verification.measure == "jaccard" and verification.features == "scheme":
        doubt = _DOUBT * standard_error(criteria.least, minhash.layout.size, value_bits)
        return criteria.least - _BY_WEIGHTS - doubt
    return min(criteria.least / 2, _seldom_found(minhash))


@cache
def _seldom_found(minhash: MinHash) -> float:
    """Return the similarity that keys seldom find, in hundredths."""
    return bisect_left(range(100), _SELDOM, key=lambda hundredths: _found(minhash, hundredths / 100)) / 100


def _found(minhash: MinHash, similarity: float) -> float:
    return sharing(similarity, minhash.layout, minhash.shared)
