from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.cli.reports.groups.histograms import DistanceBin, PairCounts, SimilarityBin, SizeBin, Sizes
from es_simhash.groups.pairs.compare import pair_type
from es_simhash.scheme.query import Criteria
from tests.support.reports import pairs


def test_sizes_are_counted_one_by_one_and_then_by_doubling_bins() -> None:
    sizes = Sizes()
    for size in (2, 2, 3, 5, 8, 9, 17, 33):
        sizes.add(size, size - 1)
    assert list(sizes.bins()) == [
        SizeBin(2, 2, 2, 2),
        SizeBin(3, 3, 1, 2),
        SizeBin(4, 4, 0, 0),
        SizeBin(5, 8, 2, 11),
        SizeBin(9, 16, 1, 8),
        SizeBin(17, 32, 1, 16),
        SizeBin(33, 64, 1, 32),
    ]


def test_without_groups_there_are_no_bins_of_sizes() -> None:
    assert list(Sizes().bins()) == []


@given(st.lists(st.integers(min_value=2, max_value=10**7)))
def test_each_group_is_in_the_bin_of_its_size(given_sizes: list[int]) -> None:
    sizes = Sizes()
    for size in given_sizes:
        sizes.add(size, size // 2)
    bins = list(sizes.bins())
    for each in bins:
        inside = [size for size in given_sizes if each.least <= size <= each.most]
        assert (each.groups, each.duplicates) == (len(inside), sum(size // 2 for size in inside))
    assert sum(each.groups for each in bins) == len(given_sizes)


@pytest.mark.parametrize(
    ("threshold", "first", "second"),
    [(0.6, 0.6, 0.62), (0.8, 0.8, 0.81), (0.59, 0.5, 0.525), (0.5, 0.5, 0.525), (0.1, 0.0, 0.05), (1.0, 0.99, 0.9905)],
)
def test_bins_of_similarity_are_round_and_begin_near_the_threshold(
    threshold: float, first: float, second: float
) -> None:
    counts = PairCounts(threshold)
    counts.add(pairs([0.999], [0]))
    found = counts.similarities()
    assert found
    assert (len(found.bins), found.bins[0], found.bins[-1].below) == (20, SimilarityBin(first, second, 0), 1)
    assert first <= threshold


def test_a_similarity_at_an_edge_is_in_the_bin_that_begins_there() -> None:
    counts = PairCounts(0.6)
    counts.add(pairs([0.6, 0.7, 0.7, 0.98, 1.0, 0.5], [0] * 6, [True, False, False, False, True, False]))
    found = counts.similarities()
    assert found
    assert {each.least: each.pairs for each in found.bins if each.pairs} == {0.6: 1, 0.7: 2, 0.98: 1}
    assert (found.equal, found.below, found.exact, found.pairs) == (1, 1, 2, 6)


@given(st.lists(st.lists(st.floats(min_value=0, max_value=1)), min_size=1))
def test_pairs_that_come_in_pieces_are_all_counted(pieces: list[list[float]]) -> None:
    counts = PairCounts(0.6)
    for piece in pieces:
        counts.add(pairs(piece, [3] * len(piece)))
    found, every = counts.similarities(), [each for piece in pieces for each in piece]
    if not every:
        assert found is None
        return
    assert found
    assert found.pairs == len(every)
    for each in found.bins:
        assert each.pairs == sum(each.least <= one < each.below for one in every)


def test_distances_are_counted_bit_by_bit_up_to_the_largest() -> None:
    counts = PairCounts(None)
    assert list(counts.distances()) == []
    counts.add(pairs([1, 1, 1], [0, 3, 3]))
    found = [DistanceBin(bits, bits, pairs) for bits, pairs in enumerate([1, 0, 0, 2])]
    assert list(counts.distances()) == found


@given(st.lists(st.integers(min_value=0, max_value=128), min_size=1))
def test_many_distances_share_columns(distances: list[int]) -> None:
    counts = PairCounts(0.6)
    counts.add(pairs([0.7] * len(distances), distances))
    bins = list(counts.distances())
    assert len(bins) <= 45
    found = Counter[int]()
    for each in bins:
        found[each.least] += each.pairs
        assert each.pairs == sum(each.least <= distance <= each.most for distance in distances)
    assert sum(found.values()) == len(distances)


def test_only_known_measures_of_pairs_are_counted() -> None:
    counts = PairCounts(None)
    counts.add(np.zeros(2, dtype=pair_type(Criteria(3, None))))
    assert counts.similarities() is None
    assert [each.pairs for each in counts.distances()] == [2]
    counts = PairCounts(0.6)
    counts.add(np.ones(2, dtype=pair_type(Criteria(None, 0.6))))
    assert list(counts.distances()) == []
