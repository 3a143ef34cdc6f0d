"""A caller's share of the numbers that must agree replaces that of the scheme, wherever texts decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import EsSimhashError, GroupOptions, Scheme, Verification, dedup
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_texts import TextCorpus
from es_simhash.plans.distinct.pages import SearchOptions
from es_simhash.plans.find_options import FindOptions
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.verifier import verification_of
from tests.support.fuzzing import examples
from tests.support.volumes import volume

WITH_NUMBERS = replace(Scheme(), verification=Verification(0.7, numbers=0.5))
ESTIMATING = replace(Scheme(), verification=None)
SHARES = st.floats(0, 1)


def criteria_of_page(**options: Any) -> Criteria:
    return SearchOptions(distinct=True, **options).near.criteria(Scheme())


ASKED: list[Callable[..., Criteria]] = [
    lambda **options: FindOptions(**options).criteria(Scheme()),
    criteria_of_page,
    lambda **options: GroupOptions(**options).criteria(Scheme()),
]


@pytest.mark.parametrize("asked", ASKED)
def test_every_options_take_numbers_and_refuse_them_where_fingerprints_decide(asked: Callable[..., Criteria]) -> None:
    assert asked(numbers=0.75).verification == Verification(numbers=0.75)
    assert asked(numbers=0).verification == asked().verification == Verification()
    assert asked(numbers=0, estimate=True) == asked(estimate=True)
    with pytest.raises(EsSimhashError, match="Leave"):
        asked(numbers=0.75, estimate=True)
    for by_bits in ({"by": "simhash"}, {"distance": 3}):
        with pytest.raises(EsSimhashError, match="Leave out the numbers, or search by a similarity"):
            asked(numbers=0.75, **by_bits)
    for wrong in (1.5, -0.1, float("nan"), "many", True):
        with pytest.raises(EsSimhashError, match="numbers cannot be"):
            asked(numbers=wrong)


def test_everything_else_stays_as_the_scheme_says() -> None:
    assert verification_of(WITH_NUMBERS, estimate=False) == WITH_NUMBERS.verification
    assert verification_of(WITH_NUMBERS, estimate=False, numbers=1) == Verification(0.7, numbers=1)
    assert verification_of(WITH_NUMBERS, estimate=False, numbers=0) == Verification(0.7)
    assert verification_of(WITH_NUMBERS, estimate=True, numbers=0) is None


def test_without_a_verification_the_features_of_fingerprints_are_compared_and_the_numbers() -> None:
    found = verification_of(ESTIMATING, estimate=False, numbers=0.5)
    assert found == replace(Verification.of_fingerprints(0.6), numbers=0.5)
    assert verification_of(ESTIMATING, estimate=False, numbers=0) is None
    assert verification_of(ESTIMATING, estimate=False) is None


def test_other_candidates_keep_the_numbers() -> None:
    found = FindOptions(numbers=0.5, candidates="more_like_this").criteria(Scheme()).verification
    assert found == Verification(numbers=0.5)


def test_texts_that_contain_one_another_are_compared_by_no_numbers() -> None:
    with pytest.raises(EsSimhashError, match="Leave out what compares"):
        FindOptions(relation="containing", numbers=0.5)


VOLUMES = st.builds(volume, st.integers(1, 4), st.integers(2019, 2022), st.none() | st.integers(1, 9))


@given(st.lists(VOLUMES, min_size=2, max_size=8), SHARES, SHARES)
@examples(30)
def test_a_higher_share_of_numbers_adds_no_pair(texts: list[str], one: float, other: float) -> None:
    lower, higher = sorted((one, other))
    found = [pairs_by(texts, share) for share in (None, lower, higher)]
    assert found[0] >= found[1] >= found[2]


@given(st.lists(VOLUMES, min_size=2, max_size=8), SHARES)
@examples(30)
def test_what_is_refused_is_what_the_numbers_take_away(texts: list[str], share: float) -> None:
    different = list(dict.fromkeys(texts))
    with deduplicated(different, None) as without, deduplicated(different, share) as found:
        assert found.counts.near + found.counts.refused == without.counts.near
        assert without.counts.refused == 0


def deduplicated(texts: list[str], numbers: float | None) -> Groups[TextCorpus]:
    return dedup(((str(place), text) for place, text in enumerate(texts)), numbers=numbers)


def pairs_by(texts: list[str], numbers: float | None) -> set[tuple[int, int]]:
    with deduplicated(texts, numbers) as found:
        return {(int(pair["first"]), int(pair["second"])) for pairs in found.pairs() for pair in pairs}
