"""``group`` through real processes."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from es_simhash.engines.connect import connect
from es_simhash.index import Index
from es_simhash.plans.operations import Count, GetDocuments
from tests.support.commands import Run, lines, run
from tests.support.corpus import corpus, edited
from tests.support.whole_indices import ENGINES, FIELDS

MEMBERS = ["0", "0, a copy/é", "1", "1, a copy", "1, another"]
IDS = [*MEMBERS, "2", "3", "4", "5"]


@pytest.fixture
def index(place: str) -> str:
    """An index of six documents: two have a copy with a comma in its id, and one has a near copy."""
    name = f"cli-{uuid.uuid4().hex[:10]}"
    with Index(name, place, fields=FIELDS) as index:
        index.init()
        originals = corpus(6)
        documents = {str(i): document for i, document in enumerate(originals)}
        documents |= {"0, a copy/é": originals[0], "1, a copy": edited(originals[1], 2)}
        documents["1, another"] = edited(originals[1], 1)
        index.add([{"_id": id_, **each} for id_, each in documents.items()], refresh=True)
    return name


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_walk(tmp_path: Path, place: str, index: str) -> None:
    def do(*arguments: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = lines(
            run("group", index, "--json", *arguments, cwd=tmp_path, ES_SIMHASH_URL=place)
        )
        return found

    *groups, last = do("--pairs", "pairs.jsonl", "--delete-script", "delete.ndjson")
    assert [(each["size"], [m["id"] for m in each["members"]]) for each in groups] == [
        (3, ["1", "1, a copy", "1, another"]),
        (2, ["0", "0, a copy/é"]),
    ]
    expected = {"documents": 9, "groups": 2, "duplicates": 3, "written": None}
    assert {name: last["summary"][name] for name in expected} == expected
    pairs = read(tmp_path / "pairs.jsonl")
    assert {"first": "0", "second": "0, a copy/é"}.items() <= pairs[0].items()
    deletes = read(tmp_path / "delete.ndjson")
    assert {each["delete"]["_id"] for each in deletes} == {"0, a copy/é", "1, a copy", "1, another"}
    *_, last = do("--write", "--output", "groups.jsonl", "--report", "report.html", "--date", "published")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "3 of 9 documents are duplicates, in 2 groups" in page
    assert "1, another" in page
    assert last["summary"]["written"]["written"] == 5
    assert [each["group"] for each in read(tmp_path / "groups.jsonl")] == [each["group"] for each in groups]
    *_, last = do("--write", "--incremental", "--output", "groups.jsonl")
    assert (last["summary"]["written"]["written"], last["summary"]["new"] is None) == (0, False)


def test_shards_are_read_by_machines_and_grouped_by_one(tmp_path: Path, place: str, index: str) -> None:
    def do(*arguments: str, code: int = 0) -> Run:
        return run("group", index, *arguments, cwd=tmp_path, code=code, ES_SIMHASH_URL=place)

    *expected, _ = lines(do("--json"))
    read = [lines(do("--json", "--part", f"{i}/2", "--state", f"machine {i}"))[-1]["summary"] for i in (1, 2)]
    assert sum(each["documents"] for each in read) == 9
    assert [each["groups"] for each in read] == [0, 0]
    assert "When all parts are read, group without --part." in do("--part", "2/2", "--state", "machine 2").err
    for path in (tmp_path / "machine 2").iterdir():
        path.rename(tmp_path / "machine 1" / path.name)
    *groups, _ = lines(do("--json", "--state", "machine 1"))
    assert groups == expected
    assert "makes no groups" in do("--part", "1/2", "--state", "s", "--output", "groups.jsonl", code=2).err
    assert "Name a directory" in do("--part", "1/2", code=2).err
    assert "Part 3 of 2 does not exist" in do("--part", "3/2", "--state", "s", code=2).err


def test_the_scope_of_an_index_is_narrowed_by_options(tmp_path: Path, place: str) -> None:
    name = f"cli-{uuid.uuid4().hex[:10]}"
    story = corpus(1)[0]["body"]
    rows = [
        {"id": f"{tenant}{number}", "tenant": tenant, "source": f"s{number}", "body": story}
        for tenant in "ab"
        for number in (1, 1, 2)
    ]
    for place_, row in enumerate(rows):
        row["id"] += str(place_)
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    create = {"mappings": {"properties": {field: {"type": "keyword"} for field in ("tenant", "source")}}}
    (tmp_path / "create.json").write_text(json.dumps(create), encoding="utf-8")

    def do(*arguments: str) -> list[Any]:
        found: list[Any] = lines(run(*arguments, "--json", cwd=tmp_path, ES_SIMHASH_URL=place))
        return found

    do("init", name, "--create", "create.json", "--field", "body", "--within", "tenant")
    do("load", name, "news.jsonl", "--id-field", "id")
    *groups, last = do("group", name, "--write")
    assert sorted([m["id"][0] for m in each["members"]] for each in groups) == [["a"] * 3, ["b"] * 3]
    *groups, last = do("group", name, "--across", "source", "--report", "report.html")
    assert sorted(each["size"] for each in groups) == [3, 3]
    assert [sum(m["is_canonical"] for m in each["members"]) for each in groups] == [2, 2]
    assert last["summary"]["unscoped"] == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "across" in page
    assert "within" in page
    [info] = do("info", name)
    assert info["policy"] == {"scope": {"within": ["tenant"]}}  # writing groups keeps it


def test_rows_for_a_spreadsheet(tmp_path: Path, place: str, index: str) -> None:
    run("group", index, "--output", "groups.CSV", "--pairs", "pairs.jsonl", cwd=tmp_path, ES_SIMHASH_URL=place)
    first, *rest = csv.DictReader((tmp_path / "groups.CSV").read_text(encoding="utf-8").splitlines())
    assert "{" not in (tmp_path / "groups.CSV").read_text(encoding="utf-8")
    assert all(map(json.loads, (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()))
    assert (first["id"], first["is_canonical"], first["distance"]) == ("1", "1", "")
    assert [row["id"] for row in rest] == ["1, a copy", "1, another", "0", "0, a copy/é"]


@pytest.mark.parametrize("place", ENGINES[1:], indirect=True)
def test_the_delete_script_is_what_a_server_takes_and_spares_what_was_changed(
    tmp_path: Path, place: str, index: str
) -> None:
    run("group", index, "--delete-script", "delete.ndjson", cwd=tmp_path, ES_SIMHASH_URL=place)
    with Index(index, place) as opened:
        change = {"_op_type": "update", "_id": "1, a copy", "doc": {"title": "New", "body": "and unlike the others"}}
        opened.add([change], refresh=True)
        body = (tmp_path / "delete.ndjson").read_bytes()
        request = Request(f"{place}/_bulk?refresh=true", body, {"Content-Type": "application/x-ndjson"}, method="POST")
        with urlopen(request) as reply:
            statuses = {item["delete"]["_id"]: item["delete"]["status"] for item in json.load(reply)["items"]}
        assert statuses == {"0, a copy/é": 200, "1, a copy": 409, "1, another": 200}
        assert opened.engine.perform(Count(index, {"match_all": {}})) == 7


@pytest.mark.parametrize("place", ENGINES[1:], indirect=True)
def test_a_run_that_was_killed_while_it_wrote_is_gone_on_with(tmp_path: Path, place: str, index: str) -> None:
    def stored() -> dict[str, Any]:
        with Index(index, place) as opened:
            found = opened.engine.perform(GetDocuments(index, IDS))
        return {each["_id"]: each["_source"]["dedup"].get("group") for each in found}

    command = [sys.executable, "-m", "es_simhash", "group", index, "--url", place, "--write", "--quiet"]
    # One document a request, and so slowly that there is time to kill it in between.
    program = (
        "import sys, es_simhash.groups.of_index.writing as writing; from es_simhash.cli.process import main; "
        "writing._AT_ONCE = 1; main([*sys.argv[1:], '--max-rate', '2'])"
    )
    slowly = [sys.executable, "-c", program, *command[3:]]
    with subprocess.Popen(slowly, cwd=tmp_path, stdout=subprocess.DEVNULL) as killed:
        while not any(stored().values()):
            assert killed.poll() is None
        killed.kill()
    assert killed.returncode == -signal.SIGKILL
    half = stored()
    assert not all(half[id_] for id_ in MEMBERS)
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    whole = stored()
    assert {id_ for id_, group in whole.items() if group} == set(MEMBERS)
    assert all(whole[id_] == group for id_, group in half.items() if group)


def test_nothing_is_changed_without_write(tmp_path: Path, place: str, index: str) -> None:
    run("group", index, cwd=tmp_path, ES_SIMHASH_URL=place)
    engine = connect(place)
    assert engine.perform(Count(index, {"exists": {"field": "dedup.group"}})) == 0
    engine.close()


@pytest.mark.parametrize("place", ["embedded"], indirect=True)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--singles"], "Add --write"),
        (["--max-rate", "5"], "Add --write"),
        (["--write", "--delete-script", "x"], "Write first"),
        (["--canonical", "tallest"], "first, longest, oldest:FIELD"),
        (["--canonical", "order:lang"], "first, longest, oldest:FIELD"),
        (["--strip", "a", "--estimate"], "Let texts decide"),
        (["--strip", "("], "not a regular expression"),
        (["--filter", "x"], "--filter"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, place: str, index: str, options: list[str], message: str
) -> None:
    done = run("group", index, "--url", place, *options, cwd=tmp_path, code=2)
    assert message in done.err
    assert not done.out


@pytest.mark.parametrize("place", ["embedded"], indirect=True)
def test_a_reader_that_has_seen_enough_is_not_an_error(tmp_path: Path, place: str, index: str) -> None:
    with Index(index, place) as opened:
        document = {**corpus(1)[0], "title": "t" * 200}
        opened.add([{"_id": f"{i:0300}", **document} for i in range(400)], refresh=True)
    command = f"{sys.executable} -m es_simhash group {index} --url {place} --quiet | head -c 10"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr, len(done.stdout)) == (0, b"", 10)
