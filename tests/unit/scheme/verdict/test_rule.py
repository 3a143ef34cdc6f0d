"""The rule: each clause decides where the ones before it do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.environment import NATIVE
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.measures import DIFFER, MANY_NUMBERS, MET, NUMBERS, PairMeasures
from es_simhash.scheme.verdict.rule import (
    CLAUSES,
    CROWDED,
    Clause,
    Near,
    are_near,
    are_settled,
    clauses,
    highest_minimum,
    verdicts,
)
from es_simhash.scheme.verdict.surroundings import Around
from es_simhash.scheme.verdict.verification import Crowding, Verification

CROWDING = Crowding(least=0.4, step=0.2, nearest=0.9, copies=0.85, numbers=0.1)


def clause(
    s: float, *, best: float = 1.0, crowd: int = 1, agreement: int = MET, crowding: Crowding | None = CROWDING
) -> Clause:
    criteria = Criteria(None, 0.65, Verification(crowding=crowding))
    texts = PairMeasures(np.array([s]), np.array([agreement], dtype=np.uint8))
    return CLAUSES[clauses(criteria, Near(None, texts, np.array([best]), np.array([crowd])))[0]]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"s": 0.64}, "below"),
        ({"s": 0.99, "agreement": DIFFER}, "conditions"),
        ({"s": 0.65}, "apart"),
        ({"s": 0.55, "agreement": NUMBERS}, "below"),
        ({"s": 0.55, "agreement": MANY_NUMBERS}, "apart"),
        ({"s": 0.84, "crowd": 4}, "crowded"),
        ({"s": 0.86, "crowd": 4, "best": 1.0}, "apart"),
        ({"s": 0.8, "crowd": 100, "best": 0.8}, "crowded"),
        ({"s": 0.8, "crowd": 100, "best": 0.8, "agreement": NUMBERS}, "nearest"),
        ({"s": 0.85, "crowd": 100, "best": 0.94}, "nearest"),
        ({"s": 0.85, "crowd": 100, "best": 0.95}, "crowded"),
        ({"s": 0.65, "crowd": 1_000, "crowding": None}, "similar"),
        ({"s": 0.6, "agreement": MANY_NUMBERS, "crowding": None}, "below"),
    ],
)
def test_the_first_clause_that_holds_decides(given: Any, expected: Clause) -> None:
    assert clause(**given) == expected


@given(st.data())
def test_the_kernels_decide_the_hits_of_a_search_as_numpy_does(data: st.DataObject) -> None:
    pytest.importorskip("es_simhash_native")
    count = data.draw(st.integers(0, 8))

    def column(values: st.SearchStrategy[Any], dtype: Any) -> Any:
        return np.array(data.draw(st.lists(values, min_size=count, max_size=count)), dtype=dtype)

    shares = st.sampled_from([0.0, 0.4, 0.55, 0.585, 0.65, 0.65 - 0.1, 0.85, 0.9, 1.0]) | st.floats(0, 1)
    texts = PairMeasures(column(shares | st.just(np.nan), float), column(st.integers(0, 3), np.uint8))
    crowding = data.draw(st.sampled_from([CROWDING, None]))
    criteria = Criteria(
        data.draw(st.sampled_from([3, None])), data.draw(st.sampled_from([0.65, None])), Verification(crowding=crowding)
    )
    distances = column(st.integers(0, 6), np.int64) if criteria.distance is not None else None
    same = column(st.booleans(), np.bool_).tolist()
    crowd, best = data.draw(st.integers(0, 40)), data.draw(shares)
    near = Near(distances, texts, best, data.draw(st.integers(0, crowd)))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(NATIVE, raising=False)
        found = verdicts(criteria, near, Around(crowd, best), same)
        patch.setenv(NATIVE, "0")
        assert verdicts(criteria, near, Around(crowd, best), same) == found


@given(
    *(st.floats(0, 1), st.floats(0, 1), st.integers(0, 5_000), st.floats(0, 0.5), st.integers(0, 500)),
    st.sampled_from([MET, NUMBERS, MANY_NUMBERS]),
)
def test_sparser_surroundings_never_part_a_pair(
    s: float, best: float, crowd: int, nearer: float, fewer: int, agreement: int
) -> None:
    before = clause(s, best=best, crowd=crowd, agreement=agreement)
    after = clause(s, best=best - nearer, crowd=max(0, crowd - fewer), agreement=agreement)
    assert CLAUSES.index(after) < CROWDED or CLAUSES.index(before) >= CROWDED


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 50), st.integers(0, 500), st.sampled_from([MET, MANY_NUMBERS]))
def test_what_is_settled_holds_whatever_else_is_around_the_other(
    s: float, best: float, crowd: int, more: int, agreement: int
) -> None:
    criteria = Criteria(None, 0.65, Verification(crowding=CROWDING))
    texts = PairMeasures(np.array([s]), np.array([agreement], dtype=np.uint8))
    # The other document's crowd is known to be at least 3, and may be larger.
    near = Near(None, texts, np.array([best]), np.array([min(crowd, 3)]))
    found = clauses(criteria, near)
    [settled] = are_settled(criteria, Near(None, texts, np.array([best]), np.array([crowd])), found)
    later = clauses(criteria, Near(None, texts, np.array([min(1.0, best + 0.1)]), np.array([min(crowd, 3 + more)])))
    assert not settled or are_near(later)[0] == are_near(found)[0]


@given(
    *(st.floats(0.01, 1), st.floats(0, 1), st.integers(0, 500), st.floats(0.21, 0.99)),
    st.sampled_from([DIFFER, MET, NUMBERS, MANY_NUMBERS]),
)
def test_pairs_are_near_up_to_the_highest_minimum(
    s: float, best: float, crowd: int, least: float, agreement: int
) -> None:
    texts = PairMeasures(np.array([s]), np.array([agreement], dtype=np.uint8))
    near = Near(None, texts, np.array([best]), np.array([crowd]))
    [highest] = highest_minimum(CROWDING, texts, near).tolist()
    criteria = Criteria(None, least, Verification(least, crowding=CROWDING))
    [is_near] = are_near(clauses(criteria, near)).tolist()
    assert abs(highest - least) < 1e-9 or is_near == (least < highest)


def test_a_distance_within_the_maximum_decides_before_texts_do() -> None:
    distances = np.array([3, 4, 3, 4])
    texts = PairMeasures(np.array([0.1, 0.1, 0.9, 0.6]), np.array([MET, MET, DIFFER, MET], dtype=np.uint8))
    found = clauses(Criteria(3, 0.5), Near(distances, texts))
    assert [CLAUSES[each] for each in found] == ["bits", "below", "bits", "similar"]
    found = clauses(Criteria(3, None), Near(distances, None))
    assert [CLAUSES[each] for each in found] == ["bits", "below", "bits", "below"]


def test_an_unknown_similarity_is_below_every_minimum() -> None:
    texts = PairMeasures.of_similarities(np.array([np.nan]))
    assert CLAUSES[clauses(Criteria(None, 0.5), Near(None, texts))[0]] == "below"
