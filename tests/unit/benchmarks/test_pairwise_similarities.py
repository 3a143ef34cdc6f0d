"""Similarities of all pairs are those of sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import pairwise_similarities
from es_simhash.text.features import FeatureBatch

SETS = st.lists(st.sets(st.integers(0, 40), min_size=1), min_size=1, max_size=8)


@given(SETS)
def test_similarities_are_those_of_sets(sets: list[set[int]]) -> None:
    features = FeatureBatch(
        np.array([each for some in sets for each in sorted(some)], dtype=np.uint64),
        np.cumsum([0, *map(len, sets)]),
    )
    expected = [len(a & b) / len(a | b) for a, b in combinations(sets, 2)]
    with pytest.MonkeyPatch.context() as patch:
        for at_once in (1 << 14, 3):
            patch.setattr(pairwise_similarities, "_AT_ONCE", at_once)
            assert pairwise_similarities.jaccards(features).tolist() == expected
