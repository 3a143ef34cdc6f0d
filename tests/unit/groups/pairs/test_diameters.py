"""What is found of many groups at once is what is found of each pair by itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Scheme
from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.condense import Condensed
from es_simhash.groups.pairs.diameters import diameters
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.nearness import Near, Nearness, values_of
from es_simhash.groups.pairs.spool import Spools
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.measures import PairMeasures
from es_simhash.sketches.minhash.estimate import estimate, standard_error

SCHEME = Scheme()
BITS = 4
Value = tuple[int, float, float | None]


class Documents:
    """Documents with few different texts, and fingerprints that are like those of another."""

    def __init__(self, seed: int, count: int) -> None:
        rng = np.random.default_rng(seed)
        assert SCHEME.minhash
        texts = rng.integers(0, max(1, count - 3), count)
        self.contents = np.stack([texts, texts], axis=1).astype(np.uint64)
        one = rng.integers(0, 1 << 64, dtype=np.uint64)
        self.simhashes = (one ^ (np.uint64(1) << rng.integers(0, 64, count, dtype=np.uint64)))[texts]
        self.values = rng.integers(0, 3, (count, SCHEME.minhash.size)).astype(np.uint8)[texts]
        self.measured = rng.random((count, count))

    def exact(self, first: Integers, second: Integers, least: Any) -> PairMeasures:
        return PairMeasures.of_similarities(self.measured[first, second])

    def value(self, one: int, other: int, is_exact: bool) -> Value:
        distance = (int(self.simhashes[one]) ^ int(self.simhashes[other])).bit_count()
        if (self.contents[one] == self.contents[other]).all():
            similarity = 1.0
        elif is_exact:
            similarity = float(self.measured[one, other])
        else:
            similarity = estimate(self.values[one].astype(np.uint32), self.values[other].astype(np.uint32), BITS)
        return distance, similarity, None if is_exact else _error(similarity)

    def diameter(self, group: Sequence[int], is_exact: bool) -> tuple[Any, ...]:
        texts = [each for place, each in enumerate(group) if self._text(each) not in map(self._text, group[:place])]
        pairs = list(combinations(texts, 2)) if len(texts) > 2 else [(group[0], each) for each in group]
        if len(texts) > 64:
            near = [self.value(texts[0], each, is_exact) for each in texts]
            ends = np.argmax([distance for distance, *_ in near]), np.argmin([each for _, each, _ in near])
            pairs = [(end, each) for end in (texts[0], *(texts[end] for end in ends)) for each in texts]
        values = [self.value(*pair, is_exact) for pair in pairs]
        least = min(similarity for _, similarity, _ in values)
        farthest = max(distance for distance, *_ in values)
        return farthest, least, len(texts) <= 64, None if is_exact else _error(least)

    def _text(self, document: int) -> int:
        return int(self.contents[document, 0])

    def nearness(self, spools: Spools, is_exact: bool) -> Nearness:
        store = FingerprintStore(SCHEME, spools, BITS)
        statuses = np.zeros(len(self.contents), dtype=np.uint8)
        store.add(Condensed(statuses, self.contents, self.simhashes, self.values))
        store.complete()
        return Nearness(store, Criteria.of(SCHEME), self.exact if is_exact else None)


def to_firsts(nearness: Nearness, groups: Sequence[Sequence[int]]) -> Near:
    firsts, members = ([value for group in groups for value in some(group)] for some in (_first_for_each, iter))
    return nearness.between(np.array(firsts, dtype=np.int64), np.array(members, dtype=np.int64))


def _first_for_each(group: Sequence[int]) -> list[int]:
    return [group[0]] * len(group)


def _error(similarity: float) -> float:
    assert SCHEME.minhash
    return standard_error(similarity, SCHEME.minhash.size, BITS)


@given(st.integers(0, 1000), st.lists(st.sampled_from([2, 3, 4, 5, 9, 63, 64, 66, 80]), max_size=6), st.booleans())
def test_groups_compared_at_once_are_as_each_pair_compared_alone(seed: int, sizes: list[int], is_exact: bool) -> None:
    documents = Documents(seed, sum(sizes) + 1)
    order = np.random.default_rng(seed).permutation(sum(sizes) + 1)
    groups = [part.tolist() for part in np.split(order, np.cumsum(sizes))[:-1]]

    with Spools(1 << 20) as spools:
        nearness = documents.nearness(spools, is_exact)
        nearness.load([position for group in groups for position in group])
        near = to_firsts(nearness, groups)
        values, found_diameters = list(values_of(near)), diameters(nearness, groups, near)
    assert values == [pytest.approx(documents.value(group[0], each, is_exact)) for group in groups for each in group]
    for group, found_diameter in zip(groups, found_diameters, strict=True):
        assert (
            *(found_diameter.distance, found_diameter.similarity),
            *(found_diameter.all_pairs, found_diameter.standard_error),
        ) == pytest.approx(documents.diameter(group, is_exact))


def test_rows_that_are_not_loaded_are_read() -> None:
    documents = Documents(1, 20)
    with Spools(1 << 20) as spools:
        nearness = documents.nearness(spools, is_exact=False)
        groups = [[3, 1, 2], [19, 0]]
        unloaded = list(values_of(to_firsts(nearness, groups)))
        nearness.load([1, 2, 3])
        assert list(values_of(to_firsts(nearness, groups))) == unloaded
        nearness.load([0, 1, 2, 3, 19])
        assert list(values_of(to_firsts(nearness, groups))) == unloaded
