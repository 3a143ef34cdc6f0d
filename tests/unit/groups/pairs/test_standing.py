"""Which document of a group stands for which, by the plainest definition."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs import compare
from es_simhash.groups.pairs.compare import canonicals_by_pairs, canonicals_of, in_turn


class OnALine:
    """Documents as numbers, near each other if they differ by no more than one; equal ones have equal texts."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = np.array(numbers, dtype=np.int64)
        self.compared = 0

    def load(self, positions: list[int]) -> None:
        """Nothing has to be loaded."""

    def are_near(self, first: Integers, second: Integers) -> Any:
        self.compared += len(first)
        return np.abs(self.numbers[first] - self.numbers[second]) <= 1

    def originals(self, groups: list[list[int]]) -> Any:
        found, place = list[int](), 0
        for group in groups:
            numbers = self.numbers[group].tolist()
            found += [place + numbers.index(each) for each in numbers]
            place += len(group)
        return np.array(found, dtype=np.int64)

    def expected(self, group: list[int]) -> list[int]:
        """Take one document after the other."""
        standing: list[int] = []
        found = []
        for each in group:
            near = [one for one in standing if abs(self.numbers[one] - self.numbers[each]) <= 1]
            if not near:
                standing.append(each)
            found.append([*near, each][0])
        return found


connected = st.lists(st.integers(0, 6), min_size=2, max_size=12).filter(
    lambda numbers: set(numbers) == set(range(min(numbers), max(numbers) + 1))
)


def canonicals(numbers: list[int], groups: list[list[int]], **how: Any) -> list[int]:
    nearness: Any = OnALine(numbers)
    return canonicals_of(groups, nearness, **how).tolist()


@given(st.lists(connected, max_size=4), st.randoms())
def test_each_is_a_duplicate_of_the_first_that_stands_for_itself_and_is_near(
    lines: list[list[int]], chosen: Any
) -> None:
    numbers = [number for line in lines for number in line]
    groups, start = [], 0
    for line in lines:
        group = list(range(start, start + len(line)))
        chosen.shuffle(group)
        groups.append(group)
        start += len(line)
    nearness = OnALine(numbers)
    assert canonicals(numbers, groups) == [each for group in groups for each in nearness.expected(group)]


def test_two_that_a_link_connects_need_no_comparison() -> None:
    nearness: Any = OnALine([0, 1, 5, 6])
    assert canonicals_of([[1, 0], [2, 3]], nearness).tolist() == [1, 1, 2, 2]
    assert nearness.compared == 0


def test_two_that_only_an_earlier_run_connected_are_compared() -> None:
    assert canonicals([0, 1, 5, 9], [[1, 0], [2, 3]], are_linked=False) == [1, 1, 2, 3]


def test_each_text_is_compared_once() -> None:
    nearness: Any = OnALine([0] * 50 + [1] * 50)
    assert canonicals_of([list(range(100))], nearness).tolist() == [0] * 100
    assert nearness.compared == 1


def test_no_groups_have_no_members() -> None:
    assert canonicals([], []) == []


@given(connected, st.randoms())
def test_each_canonical_document_comes_before_its_duplicates(numbers: list[int], chosen: Any) -> None:
    group = list(range(len(numbers)))
    chosen.shuffle(group)
    found = canonicals(numbers, [group])
    stands = dict(zip(group, found, strict=True))
    members = in_turn(group, found)
    assert sorted(members) == sorted(group)
    assert members[0] == group[0]
    for before, each in pairwise(members):
        assert stands[each] in (each, stands[before])


@given(st.integers(1, 12), st.data())
def test_by_pairs_each_is_a_duplicate_of_the_first_that_stands_for_itself_and_is_near(count: int, data: Any) -> None:
    documents = st.integers(0, count - 1)
    pairs = data.draw(st.lists(st.tuples(documents, documents).filter(lambda pair: pair[0] != pair[1]), max_size=30))
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    near = {frozenset(pair) for pair in pairs}
    expected: list[int] = []
    for each in range(count):
        standing = [one for one in range(each) if expected[one] == one and frozenset((one, each)) in near]
        expected.append([*standing, each][0])
    assert canonicals_by_pairs(count, first, second).tolist() == expected


@given(st.lists(connected, min_size=1, max_size=3), st.randoms(), st.integers(1, 6))
def test_very_large_groups_are_decided_by_the_pairs_that_were_found(
    all_numbers: list[list[int]], random: Any, most: int
) -> None:
    numbers = [each + 100 * place for place, own in enumerate(all_numbers) for each in own]
    groups, start = list[list[int]](), 0
    for own in all_numbers:
        groups.append(random.sample(range(start, start + len(own)), len(own)))
        start += len(own)
    near = [(a, b) for a, b in combinations(range(len(numbers)), 2) if abs(numbers[a] - numbers[b]) <= 1]
    pairs = np.array(near, dtype=[("first", "u4"), ("second", "u4")])
    expected = canonicals(numbers, groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare, "MOST_CONNECTED", most)
        assert canonicals(numbers, groups, pairs=lambda: [pairs[:3], pairs[3:]]) == expected
