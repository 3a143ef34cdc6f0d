"""What labels say of documents: positives, negatives, true clusters; and what is left out is named."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.documents.rejected import Rejected
from es_simhash.errors import InputError
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.labels import LabelledPair, Labels, Member, pairs_within, truth_of

IDS = list("abcdef")


def named(pairs: Numbers) -> list[str]:
    return [IDS[a] + IDS[b] for a, b in zip(*(side.tolist() for side in positions(pairs)), strict=True)]


@given(st.lists(st.integers(0, 5), max_size=30))
def test_pairs_within_classes_are_all_of_them(classes: list[int]) -> None:
    expected = [(a, b) for a, b in combinations(range(len(classes)), 2) if classes[a] == classes[b]]
    found = pairs_within(np.array(classes, dtype=np.int64))
    assert list(zip(*(side.tolist() for side in positions(found)), strict=True)) == expected


def test_documents_without_a_common_cluster_are_not_duplicates() -> None:
    truth = truth_of(Labels.of_clusters([["e", "a", "b"], ["c", "d"]]), IDS)
    assert named(truth.positives) == ["ab", "ae", "be", "cd"]
    assert truth.negatives is None
    assert len(set(truth.units.tolist())) == 3
    some = pair_codes(np.array([0, 0, 2]), np.array([1, 2, 5]))
    assert truth.are_positive(some).tolist() == [True, False, False]
    assert truth.are_known(some).all()


def test_only_labelled_pairs_are_known() -> None:
    truth = truth_of(Labels.of_pairs({("b", "a"): True, ("b", "c"): True, ("a", "d"): False}), IDS)
    assert named(truth.positives) == ["ab", "bc"]
    some = pair_codes(np.array([0, 0, 0, 1]), np.array([1, 2, 3, 2]))
    assert truth.are_known(some).tolist() == [True, False, True, True]
    assert len(set(truth.units[:3].tolist())) == 1
    assert len(set(truth.units.tolist())) == 4


def test_ids_that_no_document_has_are_rejected_by_name() -> None:
    rejected: list[Rejected] = []
    truth = truth_of(Labels.of_clusters([["a", "b", "x"], ["y", "x"]]), IDS, rejected.append)
    assert named(truth.positives) == ["ab"]
    assert truth.unknown == ("x", "y")
    assert [each.id for each in rejected] == ["x", "y", "x"]
    with pytest.raises(InputError, match="any of the 1 ids"):
        truth_of(Labels.of_clusters([["nobody"]]), IDS)


def test_pairs_that_contradict_each_other_do_not_count() -> None:
    rejected: list[Rejected] = []
    labels = [LabelledPair("a", "b", True), LabelledPair("b", "a", False), LabelledPair("c", "d", True)]
    truth = truth_of(Labels("pairs", labels), IDS, rejected.append)
    assert named(truth.positives) == ["cd"]
    assert len(truth.contradictory) == len(rejected) == 1
    assert not truth.are_known(pair_codes(np.array([0]), np.array([1]))).any()


def test_a_document_is_in_the_first_of_several_clusters() -> None:
    rejected: list[Rejected] = []
    labels = [Member("a", "1"), Member("b", "1"), Member("b", "2"), Member("c", "2"), Member("a", "1")]
    truth = truth_of(Labels("clusters", labels), IDS, rejected.append)
    assert named(truth.positives) == ["ab"]
    assert truth.contradictory == ("b in 1 and 2",)
    assert "in the cluster '1' too" in rejected[0].reason


def test_a_document_makes_no_pair_with_itself() -> None:
    rejected: list[Rejected] = []
    truth = truth_of(Labels.of_pairs({("a", "a"): True, ("a", "b"): True}), IDS, rejected.append)
    assert named(truth.positives) == ["ab"]
    assert "one document" in rejected[0].reason
