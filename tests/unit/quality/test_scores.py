"""Scores are what their definitions say, counted pair by pair and document by document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.quality.scores import Confusion, Contingency, adjusted_rand_index, harmonic_mean

Clusters = Sequence[int]


def arrays(true: Clusters, found: Clusters) -> Contingency:
    return Contingency.of(*(np.unique(np.array(each), return_inverse=True)[1].reshape(-1) for each in (true, found)))


def ari(true: Clusters, found: Clusters) -> float:
    table = arrays(true, found)
    return float(adjusted_rand_index(table.pairs(np.ones(len(set(true)))), np.asarray(float(len(true)))))


def b_cubed(true: Clusters, found: Clusters) -> tuple[float, float]:
    precision, recall = (float(each.sum()) / len(true) for each in arrays(true, found).b_cubed())
    return precision, recall


def counted(true: Clusters, found: Clusters) -> tuple[int, int, int]:
    """Pairs found rightly, found wrongly and missed, one by one."""
    together = [(true[a] == true[b], found[a] == found[b]) for a, b in combinations(range(len(true)), 2)]
    return together.count((True, True)), together.count((False, True)), together.count((True, False))


def ari_by_definition(true: Clusters, found: Clusters) -> float:
    """(index - expected index) / (highest index - expected index), as Hubert and Arabie define it."""
    right, wrong, missed = counted(true, found)
    pairs = len(true) * (len(true) - 1) / 2
    expected = (right + missed) * (right + wrong) / pairs if pairs else 0.0
    highest = ((right + missed) + (right + wrong)) / 2
    return 1.0 if highest == expected else (right - expected) / (highest - expected)


def b_cubed_by_definition(true: Clusters, found: Clusters) -> tuple[float, float]:
    """The means over documents, each of whose own clusters are looked at."""
    precision = recall = 0.0
    for own_true, own_found in zip(true, found, strict=True):
        both = sum(t == own_true and f == own_found for t, f in zip(true, found, strict=True))
        precision += both / found.count(own_found) / len(true)
        recall += both / true.count(own_true) / len(true)
    return precision, recall


clusterings = st.integers(1, 25).flatmap(
    lambda size: st.tuples(*(st.lists(st.integers(0, 6), min_size=size, max_size=size) for _ in range(2)))
)


@given(clusterings)
def test_scores_of_clusterings_are_what_their_definitions_say(both: tuple[list[int], list[int]]) -> None:
    true, found = both
    pairs = arrays(true, found).pairs(np.ones(len(set(true))))
    assert (pairs.right, pairs.wrong, pairs.missed) == pytest.approx(counted(true, found))
    assert ari(true, found) == pytest.approx(ari_by_definition(true, found))
    assert b_cubed(true, found) == pytest.approx(b_cubed_by_definition(true, found))


@given(clusterings, st.data())
def test_clusters_that_come_several_times_count_as_copies_of_their_own(
    both: tuple[list[int], list[int]], data: st.DataObject
) -> None:
    true, found = both
    names = sorted(set(true))
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(names), max_size=len(names)))
    copies = [(f"{t} {copy}", f) for t, f in zip(true, found, strict=True) for copy in range(times[names.index(t)])]
    pairs = arrays(true, found).pairs(np.array(times, dtype=np.float64))
    expected = [[a == b for a, b in combinations(side, 2)] for side in zip(*copies, strict=True)] or [[], []]
    outcomes = list(zip(*expected, strict=True))
    # Copies of a true cluster are true clusters of their own, so what they have together in a found one counts no pair.
    same = [(a[0].split()[0], b[0].split()[0]) for a, b in combinations(copies, 2)]
    wrong = sum(not t and f and x != y for (t, f), (x, y) in zip(outcomes, same, strict=True))
    assert (pairs.right, pairs.wrong, pairs.missed) == pytest.approx(
        (outcomes.count((True, True)), wrong, outcomes.count((True, False)))
    )


def test_the_examples_of_bagga_and_baldwin() -> None:
    true = [1] * 5 + [2] * 2 + [3] * 5
    first, second = [1] * 5 + [2] * 7, [1] * 5 + [2] * 2 + [1] * 5
    assert b_cubed(true, first) == pytest.approx((0.762, 1.0), abs=0.001)
    assert b_cubed(true, second) == pytest.approx((0.583, 1.0), abs=0.001)


def test_the_example_of_yeung_and_ruzzo() -> None:
    # The contingency table 1 1 0 / 1 2 1 / 0 0 4 of "Details of the adjusted Rand index", 2001.
    assert ari([1, 1, 2, 2, 2, 2, 3, 3, 3, 3], [1, 2, 1, 2, 2, 3, 3, 3, 3, 3]) == pytest.approx(0.313, abs=0.0005)


def test_equal_clusterings_have_an_index_of_one_and_all_in_one_has_none() -> None:
    assert ari([1, 1, 2], [5, 5, 7]) == 1
    assert ari([1, 2, 3], [1, 2, 3]) == 1
    assert ari([1, 1, 2, 2], [1, 1, 1, 1]) == 0


def test_undefined_scores_are_nan() -> None:
    nothing = Confusion(np.array(0.0), np.array(0.0), np.array(3.0))
    assert np.isnan(nothing.precision)
    assert (float(nothing.recall), float(nothing.f1)) == (0.0, 0.0)
    some = Confusion(np.array(2.0), np.array(1.0), np.array(2.0))
    assert float(some.f1) == pytest.approx(float(harmonic_mean(some.precision, some.recall))) == pytest.approx(4 / 7)
