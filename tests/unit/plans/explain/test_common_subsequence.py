from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from es_simhash.plans.explain.text_differences import aligned

items = st.lists(st.sampled_from("abcd"), max_size=14)


def length(a: list[str], b: list[str]) -> int:
    """The length of the longest common subsequence, by the table of the textbook."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(items, items)
def test_it_is_a_common_subsequence_and_none_is_longer(a: list[str], b: list[str]) -> None:
    pairs = aligned(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))
    assert len(pairs) == length(a, b)


@given(items)
def test_a_list_is_aligned_with_itself(a: list[str]) -> None:
    assert aligned(a, a) == [(i, i) for i in range(len(a))]


def test_long_lists_that_meet_the_worst_case_of_difflib_are_aligned() -> None:
    a = [each for i in range(1500) for each in (f"a{i}", " ")]
    b = [each for i in range(1500) for each in (f"b{i}", " ")]
    assert len(aligned(a, b)) == 1500
