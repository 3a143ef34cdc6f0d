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

from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.measures import Flags, PairMeasures

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
