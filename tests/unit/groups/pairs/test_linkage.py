"""What links make of documents, by the plainest definitions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.groups.pairs.linkage import Linkage, groups_among


class OnALine:
    """Documents as numbers, near each other if they differ by no more than one; equal ones have equal texts."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers

    def are_near(self, one: int, others: list[int]) -> Any:
        return np.array([self.near(one, other) for other in others], dtype=np.bool_)

    def near(self, a: int, b: int) -> bool:
        return abs(self.numbers[a] - self.numbers[b]) <= 1

    def interchangeable(self, positions: list[int]) -> dict[int, list[int]]:
        firsts: dict[int, list[int]] = {}
        for position in positions:
            firsts.setdefault(self.numbers[position], []).append(position)
        return {each[0]: each for each in firsts.values()}


def groups(numbers: list[int], linkage: Linkage) -> list[list[int]]:
    nearness: Any = OnALine(numbers)
    return list(groups_among(range(len(numbers)), nearness, linkage))


connected = st.lists(st.integers(0, 6), min_size=3, max_size=12).filter(
    lambda numbers: set(numbers) == set(range(min(numbers), max(numbers) + 1))
)


@given(connected)
def test_single_linkage_makes_one_group(numbers: list[int]) -> None:
    assert groups(numbers, "single") == [list(range(len(numbers)))]


@given(connected)
def test_in_a_star_all_are_near_the_first_and_who_is_left_is_near_no_other_left(numbers: list[int]) -> None:
    line, found = OnALine(numbers), groups(numbers, "star")
    assert all(line.near(group[0], member) for group in found for member in group)
    members = [member for group in found for member in group]
    assert len(set(members)) == len(members)
    alone = set(range(len(numbers))) - set(members)
    assert not any(line.near(a, b) for a, b in combinations(alone, 2))


@given(connected)
def test_in_a_complete_group_all_are_near_each_other(numbers: list[int]) -> None:
    line, found = OnALine(numbers), groups(numbers, "complete")
    assert all(line.near(a, b) for group in found for a, b in combinations(group, 2))
    assert all(group == sorted(group) and len(group) > 1 for group in found)
    alone = set(range(len(numbers))) - {member for group in found for member in group}
    assert not any(line.near(a, b) for a, b in combinations(alone, 2))


@pytest.mark.parametrize("linkage", ["star", "complete", "single"])
def test_equal_texts_are_in_one_group(linkage: Linkage) -> None:
    assert groups([5, 5, 5, 5], linkage) == [[0, 1, 2, 3]]


def test_a_chain() -> None:
    chain = [0, 1, 2, 3, 4, 5]
    assert groups(chain, "star") == [[0, 1], [2, 3], [4, 5]]
    assert groups([2, 1, 3, 0, 4], "star") == [[0, 1, 2]]
    assert groups([2, 1, 3, 0, 4], "complete") == [[0, 1], [2, 4]]
