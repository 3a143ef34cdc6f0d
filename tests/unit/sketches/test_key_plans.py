"""The model of candidates in vain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.sketches.bands import Bands
from es_simhash.sketches.key_plans import UNLIKE, false_share, meeting
from es_simhash.sketches.tradeoffs import band_candidates


@given(st.integers(1, 60), st.integers(1, 8), st.integers(0, 9))
def test_documents_without_anything_in_common_meet_as_random_ones_do(count: int, rows: int, power: int) -> None:
    bands = Bands(count, rows, 48)
    expected = band_candidates(count, rows * bands.value_bits, 10**power)
    assert false_share(bands, UNLIKE) * 10**power == pytest.approx(expected)


def test_signatures_that_agree_as_their_similarity_meet_as_computed() -> None:
    rng, bands, similarity, pairs = np.random.default_rng(3), Bands(19, 3, 24), 0.2, 20_000
    first, other = (rng.integers(0, 1 << 32, (pairs, bands.size), dtype=np.uint32) for _ in range(2))
    second = np.where(rng.random(first.shape) < similarity, first, other)
    met = (bands.values(first) == bands.values(second)).any(axis=1).mean()
    assert met == pytest.approx(meeting(similarity, bands), abs=0.01)
