"""How many bands documents share: the model agrees with drawn signatures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.sketches.bands import Bands
from es_simhash.sketches.tradeoffs import REVIEWS, band_probability, by_chance, least_shared, shared_among, sharing

DEFAULT = Bands(36, 3, 24)


@pytest.mark.parametrize(("similarity", "shared"), [(0.2, 1), (0.3, 2), (0.5, 3), (0.6, 10)])
def test_drawn_signatures_share_as_many_bands_as_computed(similarity: float, shared: int) -> None:
    rng, bands, pairs = np.random.default_rng(3), Bands(36, 3, 9), 20_000
    first, other = (rng.integers(0, 1 << 32, (pairs, bands.size), dtype=np.uint32) for _ in range(2))
    second = np.where(rng.random(first.shape) < similarity, first, other)
    met = (bands.values(first) == bands.values(second)).sum(axis=1) >= shared
    assert met.mean() == pytest.approx(sharing(similarity, bands, shared), abs=0.01)


@given(st.integers(1, 60), st.integers(1, 8))
def test_documents_without_anything_in_common_meet_as_random_keys_do(count: int, rows: int) -> None:
    bands = Bands(count, rows, 24)
    collides = 2.0 ** -(rows * bands.value_bits)
    assert sharing(0.0, bands, 1) == pytest.approx(1 - (1 - collides) ** count)


@pytest.mark.parametrize("similarity", [0.1, 0.5, 0.9])
def test_whole_values_in_the_keys_meet_with_the_probability_of_bands(similarity: float) -> None:
    assert sharing(similarity, Bands(8, 2, 64), 1) == pytest.approx(band_probability(similarity, 8, 2))


def test_by_chance_is_the_mean_over_unrelated_pairs() -> None:
    expected = 0.25 * sharing(0.1, DEFAULT, 2) + 0.75 * sharing(0.05, DEFAULT, 2)
    assert by_chance(DEFAULT, 2, [(0.1, 0.25), (0.05, 0.75)]) == pytest.approx(expected)
    assert sum(share for _, share in REVIEWS) == pytest.approx(1)


@given(st.floats(0.3, 0.9), st.integers(0, 10**10), st.integers(0, 10**10))
def test_larger_indices_ask_for_as_many_bands_or_more(similarity: float, few: int, more: int) -> None:
    least = least_shared(DEFAULT, 0.6)
    few, more = sorted((few, more))
    asked = [shared_among(DEFAULT, least, similarity, documents) for documents in (few, more)]
    assert least <= asked[0] <= asked[1]
    assert asked[1] == least or sharing(similarity, DEFAULT, asked[1]) >= 0.95
