"""``tune`` through real processes, of files and of indices."""

from __future__ import annotations

import json
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from es_simhash.engines.connect import connect
from es_simhash.index import Index
from es_simhash.plans.operations import Action, Bulk, CreateIndex, DeleteIndex
from es_simhash.scheme.scheme import Scheme
from tests.support.commands import lines, run
from tests.support.labelled import clusters, documents
from tests.support.whole_indices import ENGINES
from tools.nodes import Node


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The documents, and what somebody says of them."""
    rows = (json.dumps({"id": id_, "body": text}, ensure_ascii=False) + "\n" for id_, text in documents())
    (tmp_path / "news.jsonl").write_text("".join(rows), encoding="utf-8")
    reported = (json.dumps({"cluster": number, "ids": ids}) + "\n" for number, ids in enumerate(clusters()))
    (tmp_path / "clusters.jsonl").write_text("".join(reported), encoding="utf-8")
    return tmp_path


def result(folder: Path, *arguments: str, code: int = 0, **environment: str) -> Any:
    [found] = lines(run(*arguments, "--json", cwd=folder, code=code, **environment))
    return found


def test_a_walk_from_labels_to_an_index(folder: Path) -> None:
    given = ("news.jsonl", "--field", "body", "--labels", "clusters.jsonl")
    found = result(folder, "tune", *given, "--output", "scheme.json")
    scheme = Scheme.from_json((folder / "scheme.json").read_text(encoding="utf-8"))
    assert json.loads(scheme.to_json()) == found["scheme"]
    assert (found["documents"], found["out"]) == (41, "scheme.json")
    assert found["scheme"]["verification"]["similarity"] == found["threshold"]["best"]["similarity"]
    assert [each["level"] for each in found["threshold"]["tried"] if each["level"]] == ["versions", "near", "copies"]
    run("load", "news", "news.jsonl", "--field", "body", "--scheme", "scheme.json", cwd=folder)
    [copies] = lines(run("find", "news", "--id", "1", "--json", cwd=folder))
    assert {"1 near", "1 same"} <= {match["id"] for match in copies["matches"]}
    run("evaluate", *given, "--scheme", "scheme.json", cwd=folder)
    assert not (folder / "rejected.jsonl").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("load", "news", "news.jsonl", "--field", "body"),
        ("check", "known", "news.jsonl"),
        ("dedup", "news.jsonl", "--field", "body"),
        ("tune", "--histogram", "news.jsonl", "--field", "body"),
        ("tune", "news.jsonl", "--field", "body", "--similarity", "0.6"),
        ("evaluate", "news.jsonl", "--field", "body", "--labels", "clusters.jsonl"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_each_command_names_a_document_of_a_file_that_it_cannot_read_and_goes_on(
    folder: Path, arguments: tuple[str, ...]
) -> None:
    run("init", "known", "--field", "body", cwd=folder)
    rest = (folder / "news.jsonl").read_text(encoding="utf-8")
    (folder / "news.jsonl").write_text('{"id": "bad", "body": {"an": "object"}}\n' + rest, encoding="utf-8")
    done = run(*arguments, cwd=folder, code=1)
    [rejected] = [json.loads(line) for line in (folder / "rejected.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (rejected["file"], rejected["line"], rejected["id"]) == ("news.jsonl", 1, "bad")
    assert rejected["reason"].startswith("Document 'bad' has a value of type dict in the source field 'body'.")
    assert done.out
    assert "rejected; rejected.jsonl has the reasons." in done.err


@pytest.mark.parametrize("command", ["tune --histogram", "tune", "evaluate"])
def test_each_command_names_a_document_of_an_index_that_it_cannot_read_and_goes_on(
    folder: Path, place: str, command: str
) -> None:
    name = f"tuned-{uuid.uuid4().hex[:10]}"
    engine = connect(place)
    engine.perform(CreateIndex(name, {"mappings": {"properties": {"body": {"type": "object", "enabled": False}}}}))
    index = Index(name, engine, fields=["body"])
    index.init()
    index.add([{"_id": id_, "body": text} for id_, text in documents()])
    fields = index.documents.add_fields({"body": "some text"})["dedup"]
    bad = Action("index", "bad", {"body": {"an": "object"}, "dedup": fields})
    assert engine.perform(Bulk(name, [bad], refresh=True))[0].error is None
    given = {"tune": ["--labels", "clusters.jsonl"], "evaluate": ["--labels", "clusters.jsonl"]}
    engine.close()
    run(*command.split(), name, *given.get(command, []), cwd=folder, code=1, ES_SIMHASH_URL=place)
    [rejected] = [json.loads(line) for line in (folder / "rejected.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (rejected["index"], rejected["id"]) == (name, "bad")
    assert "Document 'bad' has a value of type dict in the source field 'body'." in rejected["reason"]
    done = run("find", name, "--id", "bad", cwd=folder, code=2, ES_SIMHASH_URL=place)
    assert "Document 'bad' has a value of type dict in the source field 'body'." in done.err
    with closing(connect(place)) as engine:
        engine.perform(DeleteIndex(name))


def test_people_read_tables_and_a_sentence(folder: Path) -> None:
    done = run("tune", "news.jsonl", "--similarity", "0.6", "--sample", "30", cwd=folder)
    assert done.out == "From the similarity 0.6 on, texts are near-duplicates.\n"
    assert "Store these settings with --output FILE." in done.err
    done = run("tune", "news.jsonl", "--labels", "clusters.jsonl", "--output", "s.json", cwd=folder)
    assert "similarity\tlevel\tprecision\trecall\tF1\tfrom\tto\n" in done.out
    assert "fits these labels best" in done.out
    assert "init INDEX --field FIELD --scheme s.json" in done.err


def test_a_scheme_that_is_named_says_which_features_are_taken(folder: Path) -> None:
    found = result(folder, "tune", "news.jsonl", "--similarity", "0.6", "--scheme", "short")
    assert found["scheme"]["tokens"] == {"kind": "chars", "n": 3}
    assert found["threshold"] is None


def test_unusable_labels_are_rejected_and_set_the_exit_code(folder: Path) -> None:
    with (folder / "clusters.jsonl").open("a", encoding="utf-8") as out:
        out.write('{"cluster": 99, "ids": ["1", "nobody"]}\n')
    result(folder, "tune", "news.jsonl", "--labels", "clusters.jsonl", code=1)
    rejected = (folder / "rejected.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(each).get("id") for each in rejected} == {"1", "nobody"}


def test_a_sample_is_shown_by_levels_with_differences(folder: Path) -> None:
    found = result(folder, "tune", "--histogram", "news.jsonl", "--field", "body")
    assert (found["documents"], found["threshold"]) == (41, 0.63)
    from_each = [(level["least"], level["pairs"]) for level in found["levels"]]
    above, reaching = (sum(pairs for least, pairs in from_each if least > bound) for bound in (0.63, 0.58))
    assert above <= found["near"] <= reaching
    assert found["levels"][0]["pairs"] == 10
    done = run("tune", "news.jsonl", "--histogram", "--sample", "20", cwd=folder)
    assert "Comparing 20 of 41 documents" in done.err
    assert "The threshold is 0.63" in done.out
    assert "[-" in run("tune", "news.jsonl", "--histogram", cwd=folder).out


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where to work."""
    if request.param == "embedded":
        return str(tmp_path / "engine")
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node.url


def test_an_index_is_looked_at_and_not_touched(folder: Path, place: str) -> None:
    name = f"cli-{uuid.uuid4().hex[:10]}"
    with Index(name, place, fields=["body"]) as index:
        index.init()
        index.add([{"_id": id_, "body": text} for id_, text in documents()], refresh=True)
    of_index = (name, "--field", "body")
    given = ("--labels", "clusters.jsonl")
    by_index = result(folder, "tune", *of_index, *given, ES_SIMHASH_URL=place)
    assert by_index["threshold"] == result(folder, "tune", "news.jsonl", *given)["threshold"]
    assert result(folder, "tune", name, "--similarity", "0.7", ES_SIMHASH_URL=place)["documents"] == 40
    query = json.dumps({"ids": {"values": ["1", "1 near", "1 same"]}})
    some = result(folder, "tune", "--histogram", *of_index, "--filter", query, ES_SIMHASH_URL=place)
    assert sum(level["pairs"] for level in some["levels"]) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["tune", "news.jsonl"], "--similarity, to name a threshold; or"),
        (
            ["tune", "news.jsonl", "--similarity", "0.5", "--labels", "clusters.jsonl"],
            "--similarity, to name a threshold; or",
        ),
        (["tune", "--similarity", "0.5"], "Missing argument 'INDEX|FILE...'"),
        (["tune", "news.jsonl", "--similarity", "2"], "Choose one above 0"),
        (["tune", "--histogram", "news.jsonl", "news"], "'news' is not a file. Name files, or one index."),
        (["tune", "--histogram", "news.jsonl", "--filter", "{}"], "--filter is for an index"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, given: list[str], message: str) -> None:
    done = run(*given, cwd=folder, code=2)
    assert message in done.err
    assert not done.out
    assert not (folder / "scheme.json").exists()
