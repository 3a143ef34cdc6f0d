"""Labels are read in three forms, from JSON lines and CSV, and other records are rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
import pytest

from es_simhash.documents.decisions import Decision
from es_simhash.documents.files.decision_file import DecisionFile
from es_simhash.documents.rejected import Rejected
from es_simhash.errors import InputError
from es_simhash.quality.labels import LabelledPair, Labels, Member, read_labels


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
