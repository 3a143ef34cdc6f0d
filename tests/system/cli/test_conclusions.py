"""No verb concludes anything from documents without text, or from an index without fingerprints."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from es_simhash.engines.connect import connect
from es_simhash.errors import DocumentError, IndexStateError
from es_simhash.gate import Gate
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.operations import Action, Bulk, DeleteIndex
from tests.support.commands import lines, run
from tests.support.corpus import corpus
from tests.support.whole_indices import ENGINES
from tools.nodes import Node

TEXTS = [each["body"].translate(str.maketrans("", "", '\n,"')) for each in corpus(4)]
BAD = [{"id": "x", "headlin": TEXTS[3]}]
MIXED: list[dict[str, Any]] = [{"id": "3", "headline": TEXTS[2]}, {"id": "4", "headline": None}, {"id": "5", "n": 1}]
REASON = "None of 1 document has the field headline"
MEANT = "They have: id, headlin. Did you mean 'headlin' instead of 'headline'?"


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each server, and the embedded engine."""
    if request.param == "embedded":
        return str(tmp_path / "data")
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node.url


@pytest.fixture
def index(place: str) -> Iterator[str]:
    """An index of two headlines."""
    name = f"nothing-{uuid.uuid4().hex[:10]}"
    with Index(name, place, fields=["headline"]) as opened:
        opened.init()
        opened.add([{"_id": str(i), "headline": text} for i, text in enumerate(TEXTS[:2])], refresh=True)
    yield name
    remove(name, place)


def remove(name: str, place: str) -> None:
    engine = connect(place)
    engine.perform(DeleteIndex(name))
    engine.close()


def write(folder: Path, name: str, documents: list[dict[str, Any]]) -> str:
    path = folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")
    return str(path)


def count(name: str, place: str) -> int:
    with Index(name, place) as opened, opened.group() as grouped:
        return grouped.counts.documents


@pytest.mark.parametrize(
    "command", [("check",), ("check", "--new", "--write"), ("load",), ("load", "--dry-run")], ids=" ".join
)
def test_a_file_without_the_field_is_neither_new_nor_written(
    command: tuple[str, ...], index: str, place: str, tmp_path: Path
) -> None:
    verb, *options = command
    for file in (write(tmp_path, "bad.jsonl", BAD), str(tmp_path / "bad.csv")):
        (tmp_path / "bad.csv").write_text(f"id,headlin\nx,{TEXTS[3]}\n", encoding="utf-8")
        done = run(verb, index, file, *options, "--json", "--url", place, cwd=tmp_path, code=2)
        assert REASON in done.err
        assert MEANT in done.err
        assert done.out == ""
    assert count(index, place) == 2


def test_an_index_gets_no_fields_that_no_document_has(place: str, tmp_path: Path) -> None:
    name = f"nothing-{uuid.uuid4().hex[:10]}"
    bad = write(tmp_path, "bad.jsonl", BAD)
    run("load", name, bad, "--field", "headline", "--url", place, cwd=tmp_path, code=2)
    run("info", name, "--url", place, cwd=tmp_path, code=4)


def test_documents_without_text_are_neither_new_nor_old(index: str, place: str, tmp_path: Path) -> None:
    mixed = write(tmp_path, "mixed.jsonl", MIXED)
    done = run("check", index, mixed, "--json", "--url", place, cwd=tmp_path, code=1)
    assert [(each["status"], each["is_new"]) for each in lines(done)] == [("new", True), *[("no text", False)] * 2]
    assert "2 documents have no text to compare" in done.err
    done = run("check", index, mixed, "--new", "--write", "--url", place, cwd=tmp_path, code=1)
    assert done.out == "3\tnew\n"
    assert "1 document written" in done.err


def test_ids_that_clash_are_written_so_that_each_names_one_document(index: str, place: str, tmp_path: Path) -> None:
    other = TEXTS[3]
    a = write(tmp_path, "a.jsonl", [{"id": "1", "headline": TEXTS[2]}, {"id": "2", "headline": other}])
    b = write(tmp_path, "b.jsonl", [{"id": "1", "headline": TEXTS[2]}, {"id": "2", "headline": TEXTS[0]}])
    # In one line, too.
    c = tmp_path / "c.json"
    c.write_text(json.dumps([{"id": "1", "headline": other}] * 2))
    checked = run("check", index, a, b, str(c), "--url", place, "--json", code=None)
    found = {each["id"]: each for each in lines(checked)}
    assert [*found] == ["1", "2", f"{b}:1:1", f"{b}:2:2", f"{c}:1:1", f"{c}:1.1:1"]
    assert [match["id"] for match in found[f"{b}:1:1"]["earlier"]["matches"]] == ["1"]
    # The index has a document with the id 1 as well, which is another one.
    assert [match["id"] for match in found[f"{b}:2:2"]["in_index"]["matches"]] == ["0"]
    assert {match["id"] for match in found[f"{c}:1.1:1"]["earlier"]["matches"]} == {"2", f"{c}:1:1"}
    assert f"4 documents have the id of another one: the id '1' is at {a}:1, too." in checked.err
    new = write(tmp_path, "new.jsonl", [{"id": "1", "headline": corpus(9)[8]["body"]}])
    checked = run("check", index, a, new, "--new", "--write", "--url", place, code=None, cwd=tmp_path)
    assert checked.code == 1
    rejected = (tmp_path / "rejected.jsonl").read_text()
    assert f"The id '1' is that of {a}:1, too, which it would replace." in rejected
    with Index(index, place) as opened:
        assert opened.find(TEXTS[2])[0].id == "1"


def test_python_stops_as_well(index: str, place: str) -> None:
    with Index(index, place) as opened:
        for call in (lambda: list(opened.check(BAD)), lambda: opened.add(BAD), lambda: opened.find(doc=BAD[0])):
            with pytest.raises(DocumentError, match=REASON):
                call()
        checked = list(opened.check(MIXED))
        assert [each.status for each in checked] == ["new", "no text", "no text"]
        assert [each.is_new for each in checked] == [True, False, False]


def test_asynchronous_python_stops_as_well(index: str, place: str) -> None:
    async def documents() -> Any:
        for each in BAD:
            yield each

    async def stopped() -> None:
        async with AsyncIndex(index, place) as opened:
            with pytest.raises(DocumentError, match=REASON):
                [each async for each in opened.check(documents())]
            with pytest.raises(DocumentError, match=REASON):
                await opened.add(documents())

    asyncio.run(stopped())


def test_a_gate_takes_no_document_without_text(index: str, place: str, tmp_path: Path) -> None:
    with Gate(index, place, state=tmp_path / "state") as gate:
        [one, other] = gate.add([{"_id": "x", "headlin": TEXTS[3]}, {"_id": "y", "headline": TEXTS[3]}])
        assert (one.kind, one.accepted, one.written_to) == ("no text", False, None)
        assert "They have: headlin. Did you mean 'headlin' instead of 'headline'?" in (one.reason or "")
        assert (other.kind, other.accepted) == ("new", True)
        [again] = gate.check([{"_id": "x", "headlin": TEXTS[3]}])
        assert (again.kind, again.accepted) == ("no text", False)


def test_nothing_is_found_and_nothing_is_new_in_an_index_without_fingerprints(place: str, tmp_path: Path) -> None:
    name, file = f"nothing-{uuid.uuid4().hex[:10]}", write(tmp_path, "mixed.jsonl", MIXED)
    (tmp_path / "labels.jsonl").write_text('{"a": "1", "b": "2", "label": 1}\n', encoding="utf-8")
    with Index(name, place, fields=["headline"]) as opened:
        opened.init()
        opened.engine.perform(Bulk(name, [Action("index", "1", {"headline": TEXTS[0]})], refresh=True))
        with pytest.raises(IndexStateError, match="None of 1 document"):
            opened.find(TEXTS[0])
        with pytest.raises(IndexStateError, match="es-simhash backfill"):
            opened.group()
    evaluate = ("evaluate", name, "--labels", "labels.jsonl")
    for command in (("check", name, file), ("find", name, "--text", TEXTS[0]), ("group", name), evaluate):
        done = run(*command, "--url", place, cwd=tmp_path, code=4)
        assert f"es-simhash backfill {name}" in done.err
    run("backfill", name, "--url", place, cwd=tmp_path)
    run("group", name, "--url", place, cwd=tmp_path)
    done = run("group", name, "--filter", '{"term": {"n": 7}}', "--url", place, cwd=tmp_path, code=2)
    assert "matches the filter" in done.err
    remove(name, place)


@pytest.mark.parametrize(
    ("documents", "options"),
    [
        (BAD, ("--field", "headline")),
        (MIXED[1:], ("--field", "headline")),
        ([{"n": 1}], ()),
        ([], ()),
        (MIXED, ("--field", "headline", "--within", "tenant")),
        (MIXED, ("--field", "headline", "--canonical", "oldest:published")),
    ],
)
def test_dedup_of_nothing_writes_no_file(
    documents: list[dict[str, Any]], options: tuple[str, ...], tmp_path: Path
) -> None:
    file = write(tmp_path, "news.jsonl", documents)
    (tmp_path / "groups.jsonl").write_text("those of yesterday")
    given = ("--output", "groups.jsonl", "--canonical-only", "unique.jsonl")
    run("dedup", file, *options, *given, cwd=tmp_path, code=2)
    assert (tmp_path / "groups.jsonl").read_text() == "those of yesterday"
    assert not (tmp_path / "unique.jsonl").exists()


@pytest.mark.parametrize("verb", ["tune", "evaluate"])
def test_nothing_is_measured_on_documents_without_text(verb: str, tmp_path: Path) -> None:
    file = write(tmp_path, "bad.jsonl", BAD)
    (tmp_path / "labels.jsonl").write_text('{"a": "x", "b": "y", "label": 1}\n', encoding="utf-8")
    done = run(verb, file, "--field", "headline", "--labels", "labels.jsonl", cwd=tmp_path, code=2)
    assert REASON in done.err


def test_documents_that_all_lack_a_text_are_fingerprinted_and_grouped_by_a_backfill(place: str, tmp_path: Path) -> None:
    name = f"nothing-{uuid.uuid4().hex[:10]}"
    file = write(tmp_path, "empty.jsonl", [{"id": "1", "headline": ""}])
    run("init", name, "--field", "headline", "--groups", "online", "--url", place, cwd=tmp_path)
    done = run("load", name, file, "--url", place, cwd=tmp_path)
    assert "1 document has no text to compare" in done.err
    run("backfill", name, "--url", place, cwd=tmp_path)
    assert "texts in headline" in run("group", name, "--url", place, cwd=tmp_path, code=4).err
    remove(name, place)
