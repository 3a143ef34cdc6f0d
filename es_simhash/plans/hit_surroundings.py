"""The surroundings of hits, as far as the hits of one search show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import MinHash
from es_simhash.scheme.verdict.measures import PairMeasures
from es_simhash.scheme.verdict.plausible import are_plausible
from es_simhash.scheme.verdict.surroundings import Surroundings
from es_simhash.scheme.verdict.verification import Crowding
from es_simhash.scheme.verdict.verifier import Verifier
from es_simhash.sketches.minhash.common import Signatures

# Whether two hits, given by their places, are in scope.
PairsInScope: TypeAlias = Callable[[int, int], bool]

# How many of the hits that are most similar to a text are compared with each other.
_MOST_COMPARED = 32


@dataclass(frozen=True, eq=False)
class HitSurroundings:
    """What is around the hits of a search: the text, and other hits that are as similar to it as a crowd is.

    Their ``texts`` were ``measured``, as far as they are known, and ``keyed`` are the values that their band keys hold.
    Pairs of them that are not ``in_scope`` are not around each other.
    """

    verifier: Verifier
    criteria: Criteria
    texts: Sequence[str | None]
    measured: PairMeasures
    keyed: Signatures | None
    in_scope: PairsInScope | None = None

    def __call__(self) -> Surroundings:
        """Compare the hits that may be near-duplicates with the others, if a search for them would do so."""
        crowding, similarities = self.criteria.crowding, self.measured.similarities
        assert crowding
        texts = [text or "" for text in self.texts]
        similar = np.flatnonzero(similarities >= crowding.least)
        nearest = similar[np.argsort(-similarities[similar], kind="stable")].tolist()
        # Of equal texts, some may be out of scope with others: then each hit stands for itself.
        names: Sequence[str | int] = texts if self.in_scope is None else range(len(texts))
        copies = Counter(names[place] for place in nearest)
        numbers = {name: number for number, name in enumerate(copies)}
        firsts = {names[place]: place for place in reversed(nearest)}
        distinct = np.array([firsts[name] for name in numbers], dtype=np.int64)
        among = Surroundings.of_copies(np.array(list(copies.values()), dtype=np.int64))
        pairs = self._pairs(distinct, crowding)
        if pairs.size:
            found = self.verifier.measures([texts[place] for place in distinct.tolist()], pairs, crowding.least)
            among.add(pairs[0], pairs[1], found.similarities, crowding)
        own = [numbers[names[place]] for place in nearest]
        around = Surroundings.of_copies(np.ones(len(texts), dtype=np.int64))
        around.best[:] = np.nan_to_num(similarities)
        around.crowd[nearest] = among.crowd[own] + 1
        around.best[nearest] = np.maximum(among.best[own], similarities[nearest])
        return around

    def _pairs(self, distinct: Integers, crowding: Crowding) -> Integers:
        """Return the pairs to compare, by their positions in the places of distinct texts, the nearest first."""
        some = distinct[:_MOST_COMPARED]
        pairs = np.array(list(combinations(range(len(some)), 2)), dtype=np.int64).reshape(-1, 2).T
        # What is around a hit that is too far from the text makes no difference.
        least = self.criteria.similarity
        assert least is not None
        near = self.measured.similarities[some] >= least - crowding.lowering(least)
        pairs = pairs[:, near[pairs[0]]]
        if self.in_scope is not None:
            among = [self.in_scope(*pair) for pair in some[pairs].T.tolist()]
            pairs = pairs[:, np.array(among, dtype=np.bool_)]
        if self.keyed is None or not (minhash := self.verifier.settings.minhash):
            return pairs
        return pairs[:, _are_compared(minhash, self.criteria, *self.keyed[some[pairs]])]


def _are_compared(minhash: MinHash, criteria: Criteria, first: Signatures, second: Signatures) -> npt.NDArray[np.bool_]:
    """Return which pairs share a key, and are plausible."""
    agree = (first == second).reshape(len(first), minhash.bands, minhash.rows)
    share: npt.NDArray[np.bool_] = agree.all(axis=2).any(axis=1)
    return share & are_plausible(minhash, criteria, first, second)
