from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import FormatError, InputError, WeightError
from es_simhash.text import features
from es_simhash.text.features import UNIT, FeatureBatch, IdfTable, distinct, distinct_counts

Documents = st.lists(st.lists(st.integers(0, 5) | st.integers(0, 2**64 - 1), max_size=40), max_size=6)


def batch_of(documents: list[list[int]], weights: list[int] | None = None) -> FeatureBatch:
    hashes = np.array([value for document in documents for value in document], dtype=np.uint64)
    offsets = np.array([0, *np.cumsum([len(document) for document in documents])], dtype=np.int64)
    return FeatureBatch(hashes, offsets, None if weights is None else np.array(weights, dtype=np.int64))


def documents_of(batch: FeatureBatch) -> list[list[int]]:
    return [batch.hashes[start:end].tolist() for start, end in pairwise(batch.offsets.tolist())]


@given(Documents)
def test_distinct_keeps_each_feature_of_a_document_once_in_order(documents: list[list[int]]) -> None:
    assert documents_of(distinct(batch_of(documents))) == [sorted(set(document)) for document in documents]


@given(Documents, st.randoms(use_true_random=False))
def test_distinct_adds_up_the_weights_of_a_feature(documents: list[list[int]], random: object) -> None:
    weights = [random.randint(-3, 9) for document in documents for _ in document]  # type: ignore[attr-defined]
    merged = distinct(batch_of(documents, weights))
    pairs = iter(weights)
    expected = []
    for document in documents:
        totals: Counter[int] = Counter()
        for value in document:
            totals[value] += next(pairs)
        expected += [totals[value] for value in sorted(totals)]
    assert merged.weights is not None
    assert merged.weights.tolist() == expected
    assert documents_of(merged) == [sorted(set(document)) for document in documents]


def test_distinct_compares_wide_hashes_by_their_first_words() -> None:
    hashes = np.array([[2, 7], [1, 8], [2, 7], [1, 8]], dtype=np.uint64)
    merged = distinct(FeatureBatch(hashes, np.array([0, 3, 4])))
    assert merged.hashes.tolist() == [[1, 8], [2, 7], [1, 8]]
    assert merged.offsets.tolist() == [0, 2, 3]


@given(Documents, st.integers(1, 9))
def test_distinct_features_are_counted_exactly_below_what_is_enough(documents: list[list[int]], enough: int) -> None:
    counts = distinct_counts(batch_of(documents), enough).tolist()
    for count, document in zip(counts, documents, strict=True):
        true = len(set(document))
        assert count == true or (count >= enough and true >= enough)


def test_rare_features_among_many_repetitions_are_counted() -> None:
    document = [7] * 1000 + [1, 2, 3]
    assert distinct_counts(batch_of([document]), 8).tolist() == [4]


def learnt(min_documents: int = 2) -> IdfTable:
    return IdfTable.learn([batch_of([[1, 1, 2], [1, 3]]), batch_of([[], [1, 3, 9]])], min_documents)


def test_idf_follows_its_formula() -> None:
    table = learnt()
    expected = [round(UNIT * (np.log(5 / (df + 1)) + 1)) for df in (3, 2)]
    assert table.weights_of(np.array([1, 3], dtype=np.uint64)).tolist() == expected
    assert table.documents == 4


def test_rare_and_unseen_features_weigh_the_same_and_most() -> None:
    table = learnt()
    once, never = table.weights_of(np.array([2, 77], dtype=np.uint64)).tolist()
    assert once == never == table.unseen > table.weights.max()
    assert learnt(1).weights_of(np.array([2], dtype=np.uint64)).tolist() == [round(UNIT * (np.log(5 / 2) + 1))]


def test_a_table_keeps_its_bytes_and_its_name_on_disk(tmp_path: object) -> None:
    table = learnt()
    path = tmp_path / "table.idf"  # type: ignore[operator]
    table.save(path)
    again = IdfTable.load(path)
    assert again.to_bytes() == table.to_bytes()
    assert again.name == table.name
    assert learnt(1).name != table.name


def test_the_name_of_a_table_is_golden() -> None:
    assert learnt().name == "d61f0fb6c1bc378d4a79f30937464328d2ff7c8c244836bc93afc0c5f2caad2c"


DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda data: data[:-1],
    lambda data: data + b"x",
    lambda data: b"PK" + data,
    lambda data: data[:20],
    lambda _: b"",
    lambda data: re.sub(rb'"unseen": \d+', b'"unseen": -1', data),
    lambda data: re.sub(rb'"unseen": \d+', b'"unseen": 9223372036854775808', data),
    lambda data: re.sub(rb'"documents": \d+', b'"documents": -1', data),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_table_is_refused(damage: Callable[[bytes], bytes]) -> None:
    with pytest.raises(FormatError, match="not an idf table"):
        IdfTable.from_bytes(damage(learnt().to_bytes()))


def test_wide_hashes_are_learnt_by_their_first_words() -> None:
    wide = FeatureBatch(np.array([[1, 9], [1, 8], [2, 7]], dtype=np.uint64), np.array([0, 1, 3]))
    assert IdfTable.learn([wide]).hashes.tolist() == [1]


def test_a_table_learnt_in_many_batches_is_that_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [[i % 7, i % 5, i] for i in range(50)]
    whole = IdfTable.learn([batch_of(documents)])
    monkeypatch.setattr(features, "_MERGED_AT_LEAST", 3)
    parts = IdfTable.learn([batch_of([document]) for document in documents])
    assert parts == whole
    assert parts.to_bytes() == whole.to_bytes()
    assert hash(parts) == hash(whole)


def test_a_table_cannot_be_changed_under_its_name() -> None:
    table = learnt()
    with pytest.raises(ValueError, match="read-only"):
        table.weights[0] = 1


@pytest.mark.parametrize(
    ("hashes", "weights"),
    [
        (np.array([2, 1], np.uint64), np.array([1, 1], np.uint32)),
        (np.array([1], np.uint64), np.array([1, 1], np.uint32)),
        (np.array([1], np.uint64), np.array([1.9])),
    ],
)
def test_a_table_of_unfit_arrays_is_refused(hashes: Any, weights: Any) -> None:
    with pytest.raises(InputError, match="Learn it"):
        IdfTable(3, hashes, weights, 5)


def test_a_missing_file_is_an_error_that_names_it() -> None:
    with pytest.raises(FormatError, match="nowhere"):
        IdfTable.load("nowhere/table.idf")


@pytest.mark.parametrize("weights", [np.array([3], np.uint32), np.array([3, 4]), np.array([3.0], np.float32)])
def test_weights_that_do_not_fit_the_hashes_are_refused(weights: Any) -> None:
    with pytest.raises(WeightError, match="int64 or float64"):
        FeatureBatch(np.array([1], np.uint64), np.array([0, 1]), weights)


def test_many_features_may_be_enough() -> None:
    documents = [[1, 2, 3] * 100, list(range(500))]
    assert distinct_counts(batch_of(documents), 300).tolist()[0] == 3
    assert distinct_counts(batch_of(documents), 300).tolist()[1] >= 300


def test_a_table_cannot_be_learnt_from_nothing() -> None:
    with pytest.raises(InputError, match="few hundred texts"):
        IdfTable.learn([])
