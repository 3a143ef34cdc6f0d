"""Labels are read in three forms, from JSON lines and CSV, and other records are rejected.

What labels say of documents: positives, negatives, true clusters; and what is left out is named.

Pairs of texts made by hand, with what a person says of them: the same text, or different ones that are alike.

Predictions are the pairs of all copies, with their reasons, as a deduplication of unequal texts finds them.

Documents that are stored once and read again, in order or by their places.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Scheme, Verification
from es_simhash.documents.decisions import Decision
from es_simhash.documents.files.decision_file import DecisionFile
from es_simhash.documents.sources import Rejected
from es_simhash.errors import DocumentError, InputError
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.labels import (
    LabelledPair,
    Labels,
    Member,
    PredictedPairs,
    StoredDocuments,
    first_positions,
    pairs_within,
    predict_pairs,
    read_labels,
    stored,
    truth_of,
)
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.verification import LEVELS, Level
from es_simhash.scheme.verifier import Verifier
from tests import ROOT
from tests.support.corpus import corpus, edited


def read(path: Path, text: str) -> tuple[Labels, list[Rejected]]:
    path.write_text(text, encoding="utf-8")
    rejected: list[Rejected] = []
    return read_labels(str(path), rejected.append), rejected


def clusters(labels: Labels) -> list[tuple[str, str]]:
    return [(each.id, each.cluster) for each in labels.labels if isinstance(each, Member)]


def pairs(labels: Labels) -> list[tuple[str, str, bool]]:
    return [(each.a, each.b, each.are_duplicates) for each in labels.labels if isinstance(each, LabelledPair)]


def test_a_line_may_be_a_cluster(tmp_path: Path) -> None:
    labels, rejected = read(tmp_path / "l.jsonl", '{"cluster": 7, "ids": ["a", 2]}\n{"ids": ["c"]}\n')
    assert (labels.kind, rejected) == ("clusters", [])
    (a, first), (two, second), (c, third) = clusters(labels)
    assert (a, two, c) == ("a", "2", "c")
    assert first == second == "7" != third


def test_a_row_may_be_a_document_with_its_cluster(tmp_path: Path) -> None:
    labels, _ = read(tmp_path / "l.csv", "id,cluster\na,x\nb,x\nc,y\n")
    assert clusters(labels) == [("a", "x"), ("b", "x"), ("c", "y")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", "a,b,label\nx,y,1\nx,z,0\ny,z,True\nz,w,false\n"),
        (
            "l.jsonl",
            '{"a": "x", "b": "y", "label": 1}\n{"a": "x", "b": "z", "label": 0}\n'
            '{"a": "y", "b": "z", "label": true}\n{"a": "z", "b": "w", "label": false}\n',
        ),
    ],
)
def test_a_row_may_be_a_pair_with_its_label(tmp_path: Path, name: str, text: str) -> None:
    labels, rejected = read(tmp_path / name, text)
    assert (labels.kind, rejected) == ("pairs", [])
    assert pairs(labels) == [("x", "y", True), ("x", "z", False), ("y", "z", True), ("z", "w", False)]


def test_of_a_file_of_decisions_the_last_word_of_each_person_on_a_pair_is_a_label(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    taken_back = Decision.between("x", "v", same=False)
    DecisionFile(path).add(
        [
            Decision.between("x", "y", same=False, who="Mia"),
            Decision.between("x", "w", same=True, who="Ben"),
            taken_back,
            Decision.about("x", "canonical"),
            Decision.between("y", "x", same=True, who="Mia"),
            Decision.about("z", "alone", who="Mia"),
            taken_back.withdrawn(),
        ]
    )
    rejected: list[Rejected] = []
    labels = read_labels(str(path), rejected.append)
    assert (pairs(labels), rejected) == ([("w", "x", True), ("x", "y", True)], [])
    DecisionFile(path).add([Decision.between("x", "w", same=True, who="Ann").withdrawn()])
    assert len(pairs(read_labels(str(path), rejected.append))) == 2
    DecisionFile(tmp_path / "none.jsonl").add([taken_back, taken_back.withdrawn()])
    with pytest.raises(InputError, match="has no labels"):
        read_labels(str(tmp_path / "none.jsonl"), rejected.append)


def test_a_record_that_is_not_a_label_is_reported_with_its_line_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = [
        '{"a": "x", "b": "y", "label": 1}',
        '{"a": "x", "b": "y", "label": "maybe"}',
        '{"a": "x", "label": 1}',
        '{"ids": ["p", "q"]}',
        '{"ids": "pq"}',
        '{"other": 1}',
        "not JSON",
    ]
    labels, rejected = read(tmp_path / "l.jsonl", "\n".join(lines))
    assert pairs(labels) == [("x", "y", True)]
    assert [each.line for each in rejected] == [2, 3, 4, 5, 6, 7]
    reasons = " ".join(each.reason for each in rejected)
    for part in ("must be 1, 0, true or false", "'b' has no id", "clusters and pairs", "not a list", "not a label"):
        assert part in reasons


def test_a_file_without_labels_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no labels"):
        read(tmp_path / "l.jsonl", '{"other": 1}\n')


def test_a_frame_has_labels_in_the_same_three_forms() -> None:
    pytest.importorskip("pyarrow")
    documents = polars.DataFrame({"id": [1, 2, 3], "cluster": ["x", "x", "y"]})
    assert clusters(Labels.of_frame(documents)) == [("1", "x"), ("2", "x"), ("3", "y")]
    lists = polars.DataFrame({"cluster": [7, None], "ids": [["a", "b"], ["c"]]})
    assert [id_ for id_, _ in clusters(Labels.of_frame(lists))] == ["a", "b", "c"]
    assert len({name for _, name in clusters(Labels.of_frame(lists))}) == 2
    judged = polars.DataFrame({"a": ["x", "x"], "b": ["y", "z"], "label": [True, False]})
    assert pairs(Labels.of_frame(judged)) == [("x", "y", True), ("x", "z", False)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["a"], "body": ["x"]}, "Row 0 of the labels: The field 'cluster' has no id"),
        ({"a": ["x", "y"], "b": ["y", "z"], "label": [1, 2]}, "Row 1 of the labels: The label must be 1, 0"),
        ({"a": ["x", None], "b": ["y", None], "label": [1, 1], "id": ["x", "z"], "cluster": [1, 1]}, "of pairs"),
        ({"id": polars.Series([], dtype=polars.String)}, "no labels"),
    ],
)
def test_rows_that_are_not_labels_are_named(columns: dict[str, Any], message: str) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match=message):
        Labels.of_frame(polars.DataFrame(columns))


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


PAIRS = [json.loads(line) for line in (ROOT / "tests/data/same_or_not.jsonl").read_text(encoding="utf-8").splitlines()]


def test_each_pair_has_two_texts_and_a_reason_in_one_of_three_languages() -> None:
    assert Counter(pair["same"] for pair in PAIRS) == {True: 40, False: 20}
    assert set(Counter(pair["language"] for pair in PAIRS)) == {"en", "zh", "ja"}
    assert all(pair["a"] != pair["b"] and pair["why"] for pair in PAIRS)
    assert len({pair["a"] for pair in PAIRS}) == len(PAIRS)


def similarity(pair: Any, **conditions: Any) -> float:
    [found] = Verifier(Scheme(), Verification(**conditions), builtin()).to_others(pair["a"], [pair["b"]])
    return found


def test_what_a_person_calls_the_same_is_found_at_the_default() -> None:
    least = LEVELS["balanced"]["near"]
    assert sum(similarity(pair) >= least for pair in PAIRS if pair["same"]) >= 38


def test_some_of_what_a_person_calls_different_is_kept_apart_at_the_default() -> None:
    least = LEVELS["balanced"]["near"]
    assert sum(similarity(pair) < least for pair in PAIRS if not pair["same"]) >= 5


@pytest.mark.parametrize(("level", "conditions"), [("copies", {}), ("near", {"numbers": 0.5})])
def test_most_of_it_is_kept_apart_at_the_strict_level_or_by_numbers(level: Level, conditions: Any) -> None:
    least = LEVELS["balanced"][level]
    assert sum(similarity(pair, **conditions) < least for pair in PAIRS if not pair["same"]) >= 14


TEXT = corpus(1)[0]["body"]
NEAR, OTHER = edited(corpus(1)[0], 2)["body"], corpus(2)[1]["body"]
TEXTS = [TEXT, NEAR, TEXT, "", OTHER, NEAR, NEAR, "", OTHER]


def found(texts: list[str], **near: object) -> PredictedPairs:
    scheme = Scheme(verification=None)
    documents = ((str(i), text) for i, text in enumerate(texts))
    with group_texts(documents, scheme, GroupOptions(threads=1, **near)) as duplicates:  # type: ignore[arg-type]
        return predict_pairs(duplicates, first_positions(texts))


def listed(pairs: Numbers) -> list[tuple[int, int]]:
    return list(zip(*(side.tolist() for side in positions(pairs)), strict=True))


def test_every_copy_of_a_text_is_near_whatever_the_text_is_near() -> None:
    together = [0, 1, 2, 5, 6]
    expected = [(a, b) for a in together for b in together if a < b]
    predicted = found(TEXTS)
    assert listed(predicted.pairs) == sorted([*expected, (4, 8)])
    exact = Scheme(verification=None).exact_jaccard(TEXT, NEAR)
    similarities = dict(zip(listed(predicted.pairs), predicted.similarities.tolist(), strict=True))
    assert similarities[0, 2] == similarities[5, 6] == similarities[4, 8] == 1
    assert {similarities[pair] for pair in ((0, 1), (0, 5), (1, 2), (2, 6))} == {similarities[0, 1]}
    assert similarities[0, 1] == pytest.approx(exact, abs=0.15)
    assert (predicted.distances == -1).all()


def test_distances_are_predicted_where_they_count() -> None:
    predicted = found(TEXTS, distance=3, by="simhash")
    at = listed(predicted.pairs)
    assert (4, 8) in at
    assert predicted.distances[at.index((4, 8))] == 0
    assert np.isnan(predicted.similarities).all()


def test_pairs_that_are_not_near_have_no_similarity() -> None:
    predicted = found(TEXTS)
    asked = pair_codes(np.array([0, 0, 3]), np.array([2, 4, 7]))
    known = predicted.of(asked)
    assert known.similarities[0] == 1
    assert np.isnan(known.similarities[1:]).all()
    assert known.are_exact.tolist() == [True, False, False]
    assert known.distances.tolist() == [-1, -1, -1]
    assert np.isnan(PredictedPairs.unknown(asked[:0]).of(asked).similarities).all()


def test_where_nothing_is_near_nothing_is_predicted() -> None:
    assert listed(found([TEXT, OTHER, ""]).pairs) == []
    assert listed(found([]).pairs) == []


def test_documents_are_read_again_as_they_were() -> None:
    given = [("a", "one"), ("b", ""), ("c", "one"), ("d", "日本" * 100_000), ("e", "\ud800")]
    with stored(iter(given), options=GroupOptions(memory=1 << 20)) as kept:
        assert list(kept) == list(kept) == given
        assert (len(kept), kept.ids) == (5, ["a", "b", "c", "d", "e"])
        assert kept.originals.tolist() == [0, 1, 0, 3, 4]
        assert kept.sizes().tolist() == [3, 0, 3, 600_000, 3]
        assert kept.texts_at([3, 0, 3]) == ["日本" * 100_000, "one", "日本" * 100_000]
        assert kept.add("f", "new")
        assert kept.texts_at([5]) == ["new"]


def test_the_rows_of_a_frame_are_documents() -> None:
    pytest.importorskip("pyarrow")
    frame = polars.DataFrame({"id": ["a", "b"], "body": ["one", None]})
    with stored(frame) as kept:
        assert list(kept) == [("a", "one"), ("b", "")]


def test_an_id_is_taken_once() -> None:
    with StoredDocuments() as kept:
        assert kept.add("a", "one")
        assert not kept.add("a", "two")
        assert list(kept) == [("a", "one")]
    with pytest.raises(InputError, match="the same id"), stored([("a", "x"), ("a", "y")]):
        pass


@pytest.mark.parametrize("document", [("a",), ("a", None), (1, "x"), ["a", "x"]])
def test_what_is_not_a_document_is_refused(document: Any) -> None:
    with pytest.raises(DocumentError, match="pair of an id and a text"), stored([document]):
        pass
