"""``evaluate`` through real processes, of files and of indices."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from es_simhash.index import Index
from tests.support.commands import lines, run
from tests.support.labelled import clusters, documents


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The documents, and what somebody says of them."""
    rows = (json.dumps({"id": id_, "body": text}, ensure_ascii=False) + "\n" for id_, text in documents())
    (tmp_path / "news.jsonl").write_text("".join(rows), encoding="utf-8")
    message = (json.dumps({"cluster": number, "ids": ids}) + "\n" for number, ids in enumerate(clusters()))
    (tmp_path / "clusters.jsonl").write_text("".join(message), encoding="utf-8")
    return tmp_path


def evaluated(folder: Path, *arguments: str, code: int = 0, **environment: str) -> Any:
    done = run("evaluate", *arguments, "--json", cwd=folder, code=code, **environment)
    [found] = lines(done)
    return found


def test_a_walk(folder: Path) -> None:
    given = ("news.jsonl", "--labels", "clusters.jsonl", "--field", "body")
    found = evaluated(folder, *given, "--report", "quality.html", "--pairs", "pairs.jsonl")
    assert found["counts"]["documents"] == 41
    assert found["truth"]["duplicates"] == 55
    pairs = [json.loads(line) for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sum(pair["is_right"] for pair in pairs) == found["pairs"]["right"]
    assert found["pairs"]["recall"]["value"] == pytest.approx(found["pairs"]["right"] / 55)
    assert 0 < len(found["false_negatives"]) <= 10
    page = (folder / "quality.html").read_text(encoding="utf-8")
    assert f"recall {found['pairs']['recall']['value']:.3f}" in page
    assert evaluated(folder, *given, "--distance", "3")["criteria"]["distance"] == 3
    assert not (folder / "rejected.jsonl").exists()


def test_pairs_out_of_scope_are_missed_and_said_of_files_and_of_indices(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "news.jsonl").read_text(encoding="utf-8").splitlines()]
    tenants = [{**row, "tenant": "ab"[row["id"].endswith("same")]} for row in rows]
    text = "".join(json.dumps(row) + "\n" for row in tenants)
    (folder / "news.jsonl").write_text(text, encoding="utf-8")
    given = ("--labels", "clusters.jsonl")
    plain = evaluated(folder, "news.jsonl", *given, "--field", "body")
    found = evaluated(folder, "news.jsonl", *given, "--field", "body", "--within", "tenant")
    equal = found["out_of_scope"]
    assert plain["out_of_scope"] == 0 < equal
    assert found["buckets"]["equality"]["equal texts"]["right"] == 0
    assert 0 < found["pairs"]["right"] < plain["pairs"]["right"]
    run("init", "news", "--field", "body", "--within", "tenant", cwd=folder)
    run("load", "news", "news.jsonl", "--id-field", "id", cwd=folder)
    of_index = evaluated(folder, "news", *given)
    assert (of_index["pairs"]["right"], of_index["out_of_scope"]) == (found["pairs"]["right"], equal)
    done = run("evaluate", "news", *given, "--across", "source", cwd=folder)
    assert f"{found['truth']['duplicates']} pairs of the duplicates were missed because of the scope" in done.err
    assert "no value in a field of the scope" in done.err


def test_people_read_tables_and_notes(folder: Path) -> None:
    done = run("evaluate", "news.jsonl", "--labels", "clusters.jsonl", cwd=folder)
    for part in (
        "recall of pairs\t0.",
        "F1 of pairs in groups\t0.",
        "equality: equal texts\t10\t0\t0\t1.000",
        "by similarity\t0.",
        "found wrongly\t",
    ):
        assert part in done.out
    assert "of the labelled duplicates." in done.err


def test_unusable_labels_are_rejected_and_set_the_exit_code(folder: Path) -> None:
    (folder / "pairs.csv").write_text(
        "a,b,label\n1,1 near,1\n1,nobody,1\n2,2 near,0\n2 near,2,1\n3,3 same,perhaps\n", encoding="utf-8"
    )
    with (folder / "news.jsonl").open("a", encoding="utf-8") as out:
        out.write('{"id": "1", "body": "another text of the same id"}\n')
    found = evaluated(folder, "news.jsonl", "--labels", "pairs.csv", code=1)
    assert found["truth"] == {
        "kind": "pairs",
        "duplicates": 1,
        "others": 0,
        "unknown": ["nobody"],
        "contradictory": ["2 near and 2"],
    }
    assert (found["pairs"]["right"], found["clusters"]) == (1, None)
    assert found["not_labelled"] > 0
    rejected = [json.loads(line) for line in (folder / "rejected.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {(each["file"], each["line"]) for each in rejected} == {
        ("pairs.csv", 6),
        ("news.jsonl", 42),
        ("pairs.csv", 3),
        ("pairs.csv", 5),
    }


def test_an_index_is_evaluated_as_its_documents_in_a_file_are(folder: Path, place: str) -> None:
    name = f"cli-{uuid.uuid4().hex[:10]}"
    with Index(name, place, fields=["body"]) as index:
        index.init()
        index.add([{"_id": id_, "body": text} for id_, text in documents()], refresh=True)
    given = ("--labels", "clusters.jsonl")
    of_index = evaluated(folder, name, *given, ES_SIMHASH_URL=place)
    of_file = evaluated(folder, "news.jsonl", *given)
    for part in ("counts", "truth", "criteria", "pairs", "clusters", "buckets", "curves", "ceiling"):
        assert of_index[part] == of_file[part]
    query = json.dumps({"ids": {"values": ["1", "1 near", "1 same"]}})
    some = evaluated(folder, name, "--filter", query, *given, code=1, ES_SIMHASH_URL=place)
    assert (some["counts"]["documents"], some["pairs"]["right"], some["pairs"]["missed"]) == (3, 3, 0)
    assert len(some["truth"]["unknown"]) == 35


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "Missing argument 'INDEX|FILE...'"),
        (["news.jsonl", "news"], "'news' is not a file. Name files, or one index."),
        (["news", "--field", "body"], "Drop --scheme, --field and --rarity"),
        (["news.jsonl", "--filter", "{}"], "--filter is for an index"),
        (["news.jsonl", "--report", "a", "--pairs", "a"], "Name two"),
        (["news.jsonl", "--report", "missing/a"], "No such file"),
        (["news.jsonl", "--labels", "news.jsonl"], "has no labels"),
        (["news.jsonl", "--distance", "9"], "Choose at least 10 blocks"),
    ],
)
def test_invalid_options_are_refused(folder: Path, given: list[str], message: str) -> None:
    labels = [] if "--labels" in given else ["--labels", "clusters.jsonl"]
    done = run("evaluate", *given, *labels, cwd=folder, code=2)
    assert message in done.err
    assert not done.out
