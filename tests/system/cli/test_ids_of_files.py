"""Ids of several files: what is printed of them can be joined to the documents, and nothing is replaced unsaid."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import DocumentError
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.pairs.stored_rows import repeated
from es_simhash.index import Index
from es_simhash.scheme.scheme import Scheme
from tests.support.commands import lines, run
from tests.support.corpus import corpus
from tests.support.standing_documents import ids

A, B, C = (each["body"].replace("\n", " ").replace(",", "").replace('"', "") for each in corpus(3))


def write(path: Path, *rows: tuple[str, str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("id,body\n" + "".join(f"{id_},{body}\n" for id_, body in rows), encoding="utf-8")


def test_ids_that_are_distinct_stay_as_they_are(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", ("1", A), ("2", B))
    write(tmp_path / "b.csv", ("3", A))
    done = run("dedup", "a.csv", "b.csv", "--json", cwd=tmp_path)
    group, summary = lines(done)
    assert ids(group) == ["1", "3"]
    assert summary["summary"]["ids"] == "ID"


@pytest.mark.parametrize("folders", [("a.csv", "b.csv"), ("x/news.csv", "y/news.csv")])
def test_ids_of_two_files_that_both_begin_at_1_are_qualified(folders: tuple[str, str], tmp_path: Path) -> None:
    one, other = folders
    write(tmp_path / one, ("1", A), ("2", B))
    write(tmp_path / other, ("1", A), ("3", C))
    files = ("--canonical-only", "unique.jsonl", "--pairs", "pairs.jsonl", "--report", "report.html")
    done = run("dedup", one, other, "--json", *files, cwd=tmp_path)
    group, summary = lines(done)
    assert ids(group) == [f"{one}:1", f"{other}:1"]
    assert summary["summary"]["ids"] == "FILE:ID"
    assert f"The id '1' is in {one} and in {other}" in done.err
    [pair] = map(json.loads, (tmp_path / "pairs.jsonl").read_text().splitlines())
    assert (pair["first"], pair["second"]) == (f"{one}:1", f"{other}:1")
    assert f"{other}:1" in (tmp_path / "report.html").read_text(encoding="utf-8")
    run("dedup", one, other, "--output", "groups.csv", cwd=tmp_path)
    with (tmp_path / "groups.csv").open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [f"{one}:1", f"{other}:1"]
    # Kept documents can be loaded without one document replacing another.
    run("load", "news", "unique.jsonl", "--field", "body", cwd=tmp_path)
    with Index("news", str(tmp_path / ".es-simhash")) as index, index.group() as grouped:
        assert grouped.counts.documents == 3


def test_ids_that_repeat_in_one_file_name_the_lines(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", ("7", A), ("8", B), ("7", A))
    done = run("dedup", "a.csv", "--quiet", cwd=tmp_path)
    assert [ids(group) for group in lines(done)] == [["a.csv:2:7", "a.csv:4:7"]]
    assert "The id '7' is on lines 2 and 4 of a.csv." in done.err


def test_documents_on_one_line_have_ids_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"body": A}, {"body": A}, {"body": B}]), encoding="utf-8")
    [group] = lines(run("dedup", "a.json", cwd=tmp_path))
    canonical, copy = ids(group)
    assert copy == f"{canonical}.1"
    run("load", "news", "a.json", "--field", "body", cwd=tmp_path)
    with Index("news", str(tmp_path / ".es-simhash")) as index, index.group() as grouped:
        assert grouped.counts.documents == 3


def test_a_file_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", ("1", A))
    assert "a.csv is given twice" in run("dedup", "a.csv", "./a.csv", cwd=tmp_path, code=2).err


def test_load_replaces_no_document_of_an_earlier_file(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", ("1", A), ("2", B), ("2", C))
    write(tmp_path / "b.csv", ("1", C), ("3", C))
    done = run("load", "news", "a.csv", "b.csv", "--field", "body", cwd=tmp_path, code=1)
    assert "4 documents written, 1 rejected" in done.out
    assert "1 document has the id of an earlier one in the same file: the last one is kept." in done.err
    assert "an earlier file" in (tmp_path / "rejected.jsonl").read_text()


def test_labels_that_may_mean_documents_of_two_files_stop_the_run(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", ("1", A), ("2", B))
    write(tmp_path / "b.csv", ("1", C))
    (tmp_path / "labels.jsonl").write_text('{"a": "1", "b": "2", "label": 0}\n', encoding="utf-8")
    done = run("evaluate", "a.csv", "b.csv", "--labels", "labels.jsonl", cwd=tmp_path, code=2)
    assert "The id '1' in b.csv, line 2" in done.err


def test_python_refuses_ids_that_repeat() -> None:
    with pytest.raises(DocumentError, match="Documents 0 and 2 have the same id 'a'"):
        group_texts([("a", A), ("b", B), ("a", C)], Scheme())


@given(st.lists(st.text(max_size=2)))
def test_the_first_repeated_id_is_found(ids: list[str]) -> None:
    found = repeated(lambda: ids)
    assert (found is None) == (len(set(ids)) == len(ids))
    if found:
        first, second = found
        assert first < second
        assert ids[first] == ids[second]
        assert len(set(ids[:second])) == second
