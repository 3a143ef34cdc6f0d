"""``reindex`` and ``remove`` through real processes."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from es_simhash.plans.operations import Action, Bulk, CreateIndex
from tests.support.commands import lines, run
from tests.system.cli.test_commands import documents

FIELDS = ("--field", "title", "--field", "body")


@pytest.fixture
def source(place: str) -> str:
    """An index as it is before it knows of us."""
    from es_simhash.engines.connect import connect

    name = f"cli-{uuid.uuid4().hex[:10]}"
    engine = connect(place)
    engine.perform(CreateIndex(name, {}))
    actions = [Action("index", each["id"], {"title": each["title"], "body": each["body"]}) for each in documents()]
    engine.perform(Bulk(name, actions, refresh=True))
    engine.close()
    return name


def do(cwd: Path, place: str, *arguments: str, code: int = 0) -> list[Any]:
    return lines(run(*arguments, "--json", cwd=cwd, code=code, ES_SIMHASH_URL=place))


def test_a_walk_from_an_index_to_its_copy_and_back(tmp_path: Path, place: str, source: str) -> None:
    copy = f"{source}-copy"
    alias = ("--alias", f"{source}-alias") if place.startswith("http") else ()
    [plan] = do(tmp_path, place, "reindex", source, copy, *FIELDS, *alias, "--dry-run")
    assert (plan["due"], plan["dry_run"]) == (10, True)
    assert "dedup" in plan["create"]["mappings"]["properties"]
    run("info", copy, cwd=tmp_path, code=4, ES_SIMHASH_URL=place)
    *_, done = do(tmp_path, place, "reindex", source, copy, *FIELDS, *alias, "--fast" if alias else "--quiet")
    assert (done["event"], done["written"], done["is_whole"], done["aliases"]) == ("done", 10, True, list(alias[1:]))
    assert done["verified"]["compared"] == 10
    [found] = do(tmp_path, place, "find", alias[1] if alias else copy, "--id", "4")
    assert [match["id"] for match in found["matches"]] == ["copy"]
    run("info", source, cwd=tmp_path, code=4, ES_SIMHASH_URL=place)
    [plan] = do(tmp_path, place, "remove", copy, "--dry-run")
    assert plan["parts"] == [{"index": copy, "due": 10, "documents": 10, "is_begun": False}]
    *_, done = do(tmp_path, place, "remove", copy, "--yes")
    assert (done["written"], done["left"]) == (10, 0)
    run("info", copy, cwd=tmp_path, code=4, ES_SIMHASH_URL=place)
    assert not (tmp_path / "rejected.jsonl").exists()


@pytest.mark.parametrize("place", ["embedded"], indirect=True)
def test_what_people_read(tmp_path: Path, place: str, source: str) -> None:
    where = {"cwd": tmp_path, "ES_SIMHASH_URL": place}
    done = run("reindex", source, "copy", *FIELDS, "--dry-run", **where)  # type: ignore[arg-type]
    assert f"{source}: 10 of 10 documents to copy to copy, a new index\nPUT /copy\n" in done.out
    assert json.loads(done.out.partition("PUT /copy\n")[2])["mappings"]["_meta"]
    done = run("reindex", source, "copy", *FIELDS, **where)  # type: ignore[arg-type]
    assert "copy: 10 documents copied.\nVerified: 10 " in done.out
    assert "is unchanged" in done.err
    done = run("remove", "copy", **where, code=2)  # type: ignore[arg-type]
    assert "--yes" in done.err
    done = run("remove", "copy", "--yes", **where)  # type: ignore[arg-type]
    assert done.out.endswith("copy: fingerprints removed from 10 documents.\n")
    assert "The mapping keeps its empty fields" in done.err


@pytest.mark.parametrize("place", ["embedded"], indirect=True)
def test_a_copy_that_is_not_whole_is_a_failure_with_its_reasons_in_the_file(
    tmp_path: Path, place: str, source: str
) -> None:
    from es_simhash.engines.connect import connect

    do(tmp_path, place, "reindex", source, "copy", *FIELDS)
    engine = connect(place)
    engine.perform(Bulk(source, [Action("delete", "4", None)], refresh=True))
    engine.close()
    *_, done = do(tmp_path, place, "reindex", source, "copy", *FIELDS, "--rejects", "bad.jsonl", code=1)
    assert (done["is_whole"], done["verified"]["extra"]) == (False, 1)
    [reported] = [json.loads(line) for line in (tmp_path / "bad.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (reported["index"], reported["id"]) == ("copy", "4")
    refused = run("reindex", source, source, *FIELDS, cwd=tmp_path, code=4, ES_SIMHASH_URL=place)
    assert "Choose another name for the copy." in refused.err
    aliased = run("reindex", source, "more", *FIELDS, "--alias", "x", cwd=tmp_path, code=2, ES_SIMHASH_URL=place)
    assert "no aliases" in aliased.err
