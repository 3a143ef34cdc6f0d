"""Where keys are, as documents come and go."""

from __future__ import annotations

from collections import Counter, defaultdict

from hypothesis import given
from hypothesis import strategies as st

from es_simhash.plans.check import KeyPlaces

TERMS = [("bands", "a"), ("bands", "b"), ("blocks", "a")]


def keys_of(terms: list[tuple[str, str]]) -> dict[str, list[str]]:
    return {name: [key for other, key in terms if other == name] for name, _ in terms}


@given(st.lists(st.tuples(st.sampled_from(TERMS), st.integers(0, 3)), max_size=30))
def test_places_are_those_of_a_dictionary_of_lists(steps: list[tuple[tuple[str, str], int]]) -> None:
    """A step adds a place that a key lacks, and removes one that it has."""
    found, expected = KeyPlaces(), defaultdict[tuple[str, str], list[int]](list)
    for term, place in steps:
        if place in expected[term]:
            found.remove(keys_of([term]), place)
            expected[term].remove(place)
        else:
            found.add(keys_of([term]), place)
            expected[term].append(place)
        assert [found.shared(keys_of([each])) for each in TERMS] == [Counter(expected[each]) for each in TERMS]
        assert found.shared(keys_of(TERMS)) == Counter(place for each in TERMS for place in expected[each])
