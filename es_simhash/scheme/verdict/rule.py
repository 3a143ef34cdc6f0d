"""The rule that decides by which clause two documents are near-duplicates, or are not.

With s, the similarity of the texts a and b, and what is known of their surroundings
(`es_simhash.scheme.verdict.surroundings`), the first of these clauses that holds decides:

``equal``       near-duplicates: the texts are the same
``bits``        near-duplicates: their SimHashes are within the maximum distance, where distances count
``conditions``  no near-duplicates: lengths, numbers or first lines differ too much
``below``       no near-duplicates: s < T, the minimum similarity; less `Crowding.lowering` if most numbers of both are
                the same, and these are several
``apart``       near-duplicates: s ≥ T + `Crowding.step` · log2(max(1, min(crowd(a), crowd(b)) / 2)), so they stand out
                from the crowd: where both are like more than two others, each doubling asks for more
``nearest``     near-duplicates: s ≥ `Crowding.nearest` · best(a) · best(b), so they are as near as two copies of one
                original; and most numbers of both are the same, or s ≥ `Crowding.copies`
``crowded``     no near-duplicates: none of these

Without `Crowding` every pair from the minimum on is near (``similar``).

Duplicates are compact and their surroundings sparse (Chaudhuri, Ganti, Motwani, "Robust identification of fuzzy
duplicates", ICDE 2005), which also set its scale (Zelnik-Manor, Perona, "Self-tuning spectral clustering",
NIPS 2004). The product in ``nearest``: if a differs from its nearest by 1 - best(a), and b likewise, two copies of one
original have a similarity of about best(a) · best(b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.native import by_kernels
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.measures import DIFFER, MANY_NUMBERS, NUMBERS, PairMeasures, Similarities
from es_simhash.scheme.verdict.surroundings import Around
from es_simhash.scheme.verdict.verification import Crowding

Clause: TypeAlias = Literal["equal", "bits", "similar", "nearest", "apart", "crowded", "below", "conditions"]
CLAUSES: tuple[Clause, ...] = get_args(Clause)
EQUAL = CLAUSES.index("equal")
CROWDED = CLAUSES.index("crowded")

# Where so few are around one of two texts, no more is asked of them, whatever is around the other.
NO_CROWD = 2

_NOTHING = np.float64(0.0)

Clauses: TypeAlias = npt.NDArray[np.uint8]
# The place of a hit, the position of its clause in `CLAUSES`, and whether that is settled (see `are_settled`).
Verdict: TypeAlias = tuple[int, int, bool]


@dataclass(frozen=True, eq=False)
class Near:
    """How near the two documents of each pair are; None where it does not count.

    ``best`` is the product of the best similarities of both documents, and ``crowd`` the smaller number of others
    around them.
    """

    distances: npt.NDArray[np.number] | None
    texts: PairMeasures | None
    best: Similarities | float = 0.0
    crowd: Integers | int = 0


def clauses(criteria: Criteria, near: Near) -> Clauses:
    """Return the deciding clause of pairs of unequal texts, as positions in `CLAUSES`."""
    count = 0
    tried: list[tuple[Clause, npt.NDArray[np.bool_]]] = []
    if near.distances is not None:
        count = len(near.distances)
        if criteria.distance is not None:
            tried.append(("bits", near.distances <= criteria.distance))
    if near.texts is not None:
        count = len(near.texts.similarities)
        if criteria.similarity is not None:
            tried += _by_texts(criteria.similarity, criteria.crowding, near.texts, near)
    found = np.full(count, CROWDED if criteria.similarity is not None else CLAUSES.index("below"), dtype=np.uint8)
    for name, holds in reversed(tried):
        found[holds] = CLAUSES.index(name)
    return found


def _by_texts(
    least: float, crowding: Crowding | None, texts: PairMeasures, near: Near
) -> list[tuple[Clause, npt.NDArray[np.bool_]]]:
    s, differ = texts.similarities, texts.agreements == DIFFER
    if crowding is None:
        return [("conditions", differ), ("below", ~(s >= least)), ("similar", s >= least)]
    needed = _needed(least, crowding, texts)
    return [
        ("conditions", differ),
        ("below", ~(s >= needed)),
        ("apart", s >= needed + _more(crowding, near)),
        ("nearest", _are_nearest(crowding, texts, near)),
    ]


def _needed(least: float, crowding: Crowding, texts: PairMeasures) -> Similarities:
    """Return the similarity that pairs need where nothing is around them."""
    needed: Similarities = least - crowding.lowering(least) * (texts.agreements == MANY_NUMBERS)
    return needed


def _more(crowding: Crowding, near: Near) -> Similarities | np.float64:
    """Return how much more the crowds around pairs ask for."""
    if isinstance(near.crowd, int) and near.crowd <= NO_CROWD:
        return _NOTHING
    more: Similarities = crowding.step * np.log2(np.maximum(1.0, np.asarray(near.crowd) / NO_CROWD))
    return more


def _are_nearest(crowding: Crowding, texts: PairMeasures, near: Near) -> npt.NDArray[np.bool_]:
    like_copies = (texts.agreements >= NUMBERS) | (texts.similarities >= crowding.copies)
    nearest: npt.NDArray[np.bool_] = like_copies & (texts.similarities >= crowding.nearest * near.best)
    return nearest


def highest_minimum(crowding: Crowding, texts: PairMeasures, near: Near) -> Similarities:
    """Return the highest minimum similarity by which each pair is near by its texts; 0 or less if by none."""
    found = texts.similarities - np.where(_are_nearest(crowding, texts, near), 0.0, _more(crowding, near))
    # Numbers lower a minimum T by `Crowding.lowering`: what is needed is the higher of T - numbers and 2 T - 1.
    lowered = np.minimum(found + crowding.numbers, (found + 1.0) / 2)
    found = np.where(texts.agreements == MANY_NUMBERS, lowered, found)
    highest: Similarities = np.where(texts.agreements == DIFFER, 0.0, found)
    return highest


def verdicts(
    criteria: Criteria, near: Near, around: Around | None, same_texts: Sequence[bool]
) -> tuple[list[Verdict], int]:
    """Return the verdicts on the hits of a search that are near, and how many others are crowded.

    ``around`` are the surroundings of the text, as far as the search knows them.
    """
    crowd = around.crowd if around else 0
    if isinstance(near.best, float) and isinstance(near.crowd, int) and near.texts is not None:
        compiled = _by_kernels(criteria, near, near.best, crowd, same_texts)
        if compiled is not None:
            return compiled
    found = clauses(criteria, near)
    found[np.array(same_texts, dtype=np.bool_) & are_near(found)] = EQUAL
    settled = are_settled(criteria, Near(None, near.texts, crowd=crowd), found)
    places = np.flatnonzero(are_near(found))
    kept = zip(places.tolist(), found[places].tolist(), settled[places].tolist(), strict=True)
    return list(kept), int(np.count_nonzero(found == CROWDED))


def _by_kernels(
    criteria: Criteria, near: Near, best: float, own_crowd: int, same_texts: Sequence[bool]
) -> tuple[list[Verdict], int] | None:
    texts, crowding, lowered, more, own_more = near.texts, criteria.crowding, None, 0.0, 0.0
    assert texts is not None
    if crowding and criteria.similarity is not None:
        lowered = crowding.lowering(criteria.similarity), crowding.nearest, crowding.copies
        more, own_more = float(_more(crowding, near)), float(_more(crowding, Near(None, None, crowd=own_crowd)))
    rule, surroundings = (criteria.distance, criteria.similarity, lowered), (best, more, own_more)
    measures = near.distances, texts.similarities, texts.agreements
    return by_kernels(lambda kernels: kernels.verdicts(rule, surroundings, *measures, same_texts))


def are_near(clauses: Clauses) -> npt.NDArray[np.bool_]:
    """Return which pairs are near-duplicates by their clauses."""
    return clauses < CROWDED


def are_settled(criteria: Criteria, own: Near, clauses: Clauses) -> npt.NDArray[np.bool_]:
    """Return which verdicts of a search hold whatever else is around the hits; ``own`` has the text's own crowd.

    More around a hit can only raise its best similarity and its crowd: what stands out from the text's own crowd still
    does, and what does not stand out still does not.
    """
    if criteria.crowding is None or criteria.similarity is None or own.texts is None:
        return np.ones(len(clauses), dtype=np.bool_)
    by_surroundings = (clauses == CLAUSES.index("apart")) | (clauses == CLAUSES.index("nearest"))
    if not by_surroundings.any():
        return ~by_surroundings
    needed = _needed(criteria.similarity, criteria.crowding, own.texts)
    return ~by_surroundings | (own.texts.similarities >= needed + _more(criteria.crowding, own))
