"""The rule: each clause decides where the ones before it do not, and nothing but the pair plays a part."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.rule import CLAUSES, Clause, PairMeasures, are_near, clauses

SHARES = st.floats(0.01, 1)


def clause(s: float, *, meets: bool = True, least: float = 0.6) -> Clause:
    texts = PairMeasures(np.array([s]), np.array([meets]))
    return CLAUSES[clauses(Criteria(None, least), None, texts)[0]]


@pytest.mark.parametrize(
    ("s", "meets", "expected"),
    [(0.59, True, "below"), (0.59, False, "below"), (0.6, True, "similar"), (0.99, False, "numbers")],
)
def test_the_first_clause_that_holds_decides(s: float, meets: bool, expected: Clause) -> None:
    assert clause(s, meets=meets) == expected


@given(SHARES, SHARES)
def test_a_pair_is_near_if_its_similarity_is_at_least_the_minimum(s: float, least: float) -> None:
    assert (clause(s, least=least) == "similar") == (s >= least)


@given(SHARES, st.booleans(), SHARES, SHARES)
def test_a_lower_minimum_only_adds_pairs(s: float, meets: bool, one: float, other: float) -> None:
    lower, higher = sorted((one, other))
    assert clause(s, meets=meets, least=higher) != "similar" or clause(s, meets=meets, least=lower) == "similar"


@given(st.lists(st.tuples(SHARES, st.booleans()), min_size=1, max_size=8), st.data())
def test_other_pairs_change_no_clause(pairs: list[tuple[float, bool]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(pairs) - 1))
    similarities, meets = zip(*pairs, strict=True)
    together = clauses(Criteria(None, 0.6), None, PairMeasures(np.array(similarities), np.array(meets)))
    s, meets_alone = pairs[place]
    assert CLAUSES[together[place]] == clause(s, meets=meets_alone)


def test_a_distance_within_the_maximum_decides_before_texts_do() -> None:
    distances = np.array([3, 4, 3, 4])
    texts = PairMeasures(np.array([0.1, 0.1, 0.9, 0.6]), np.array([True, True, False, True]))
    found = clauses(Criteria(3, 0.5), distances, texts)
    assert [CLAUSES[each] for each in found] == ["bits", "below", "bits", "similar"]
    assert are_near(found).tolist() == [True, False, True, True]
    found = clauses(Criteria(3, None), distances, None)
    assert [CLAUSES[each] for each in found] == ["bits", "below", "bits", "below"]


def test_an_unknown_similarity_is_below_every_minimum() -> None:
    texts = PairMeasures.of_similarities(np.array([np.nan]))
    assert CLAUSES[clauses(Criteria(None, 0.5), None, texts)[0]] == "below"
