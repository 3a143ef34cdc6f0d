"""Keys for a size: the model of candidates in vain, and the smallest keys that keep them few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import SchemeError
from es_simhash.sketches.bands import Bands
from es_simhash.sketches.key_plans import (
    KEY_BITS,
    LEAST_VALUE_BITS,
    TYPICAL,
    UNLIKE,
    Goal,
    bands_for,
    bytes_of,
    false_share,
    meeting,
    plan_keys,
)
from es_simhash.sketches.minhash.estimate import standard_error
from es_simhash.sketches.tradeoffs import band_candidates, band_probability

SIMILARITIES = st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9])
DOCUMENTS = st.integers(0, 9).map(lambda power: 10**power)


@given(SIMILARITIES, DOCUMENTS)
def test_chosen_keys_find_enough_and_no_smaller_ones_are_as_selective(similarity: float, documents: int) -> None:
    goal = Goal(documents)
    found = plan_keys(similarity, goal)
    assert found
    assert band_probability(similarity, found.count, found.rows) >= goal.recall
    assert standard_error(similarity, found.size, found.value_bits) <= 0.07
    smaller = [each for each in bands_for(similarity, goal.recall) if bytes_of(each) < bytes_of(found)]
    if documents * false_share(found, TYPICAL) <= goal.candidates:
        assert all(documents * false_share(each, TYPICAL) > goal.candidates for each in smaller)


@pytest.mark.parametrize("similarity", [0.6, 0.7, 0.8])
def test_up_to_a_thousand_million_documents_few_are_met_in_vain(similarity: float) -> None:
    for documents in (10**4, 10**5, 10**6, 10**7, 10**8, 10**9):
        found = plan_keys(similarity, Goal(documents))
        assert found
        assert documents * false_share(found, TYPICAL) <= 100


@given(SIMILARITIES, DOCUMENTS, st.floats(1, 1e4))
def test_a_stricter_goal_takes_no_fewer_bytes(similarity: float, documents: int, most: float) -> None:
    lax, strict = (plan_keys(similarity, Goal(documents, most=each)) for each in (2 * most, most))
    assert lax
    assert strict
    assert bytes_of(lax) <= bytes_of(strict) or documents * false_share(lax, TYPICAL) > 2 * most


def test_keys_of_all_widths_are_tried_and_hold_enough_of_each_row() -> None:
    found = list(bands_for(0.9, 0.99))
    assert {each.key_bits for each in found} == set(KEY_BITS) == {24, 30, 36, 42, 48, 54, 60}
    assert min(each.value_bits for each in found) == LEAST_VALUE_BITS


def test_with_too_high_a_goal_the_most_selective_keys_are_chosen() -> None:
    found = plan_keys(0.5, Goal(10**9))
    assert found
    assert 10**9 * false_share(found, TYPICAL) > 100
    assert all(false_share(found, TYPICAL) <= false_share(each, TYPICAL) for each in bands_for(0.5, 0.99))


def test_there_may_be_no_keys() -> None:
    assert plan_keys(0.01, Goal(10)) is None


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


@pytest.mark.parametrize(("documents", "most"), [(100, 20), (5_000, 50), (10**4, 100), (10**9, 100)])
def test_a_goal_allows_a_hundredth_of_the_documents_within_limits(documents: int, most: float) -> None:
    assert Goal(documents).candidates == most
    assert Goal(documents, most=7).candidates == 7


def test_goals_that_cannot_be_are_refused() -> None:
    for wrong in ({"recall": 1.0}, {"recall": 0.0}, {"documents": 0}):
        with pytest.raises(SchemeError, match=r"\. \w"):
            Goal(**{"documents": 10, **wrong})  # type: ignore[arg-type]
