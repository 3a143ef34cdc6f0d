"""Where keys are, as documents come and go."""

from __future__ import annotations

from collections import Counter, defaultdict

from hypothesis import given
from hypothesis import strategies as st

from es_simhash.plans.check import KeyPlaces

TERMS = [("bands", "a"), ("bands", "b"), ("blocks", "a")]


@given(st.lists(st.tuples(st.sampled_from(TERMS), st.integers(0, 3)), max_size=30))
def test_places_are_those_of_a_dictionary_of_lists(steps: list[tuple[tuple[str, str], int]]) -> None:
    """A step adds a place that a key lacks, and removes one that it has."""
    found, expected = KeyPlaces(), defaultdict[tuple[str, str], list[int]](list)
    for term, place in steps:
        if place in expected[term]:
            found.remove(term, place)
            expected[term].remove(place)
        else:
            found.add(term, place)
            expected[term].append(place)
        assert [found.shared([each]) for each in TERMS] == [Counter(expected[each]) for each in TERMS]
        assert found.shared(TERMS) == Counter(place for each in TERMS for place in expected[each])
