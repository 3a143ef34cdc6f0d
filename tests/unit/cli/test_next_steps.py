"""What errors of the command line name: the fields there are, the missing server, what to run next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from es_simhash.cli.process import run as run_here
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import Action, Bulk, CreateIndex
from tests.support.commands import run

MAPPING = {
    "properties": {
        "title": {"type": "text"},
        "meta": {"properties": {"body": {"type": "text"}}},
        "site": {"type": "keyword"},
    }
}
DOCUMENT = {"title": "A storm", "meta": {"body": "hit the coast of the island on Monday"}, "site": "a"}
THERE = "Its text fields are: title, meta.body."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with an index without fingerprint fields, and one without documents."""
    engine = EmbeddedEngine(tmp_path / ".es-simhash")
    for name in ("news", "empty"):
        engine.perform(CreateIndex(name, {"mappings": MAPPING}))
    engine.perform(Bulk("news", [Action("index", "1", dict(DOCUMENT))], refresh=True))
    engine.close()
    return tmp_path


@pytest.mark.parametrize(
    "given",
    [
        ["init", "news"],
        ["init", "news", "--field", ""],
        ["init", "news", "--field", "titel"],
        ["find", "news", "--text", "storm", "--field", "titel"],
        ["doctor", "news", "--field", "titel"],
        ["backfill", "news", "--field", "titel"],
        ["reindex", "news", "copy", "--field", "titel"],
    ],
)
def test_an_empty_or_wrong_field_is_answered_with_the_text_fields(given: list[str], folder: Path) -> None:
    done = run(*given, cwd=folder, code=None)
    assert done.code in (1, 2, 4)
    assert THERE in done.out + done.err
    if "titel" in given:
        assert "Did you mean 'title' instead of 'titel'?" in done.out + done.err


@pytest.mark.parametrize("given", [["find", "news", "--id", "1"], ["group", "news"], ["backfill", "news"]])
def test_a_verb_that_needs_fingerprint_fields_names_the_text_fields(given: list[str], folder: Path) -> None:
    assert "name its text fields (title, meta.body)" in run(*given, cwd=folder, code=4).err


def test_an_index_without_documents_takes_a_field_that_is_to_come(folder: Path) -> None:
    run("init", "empty", "--field", "summary", cwd=folder)
    run("init", "new", "--field", "summary", cwd=folder)


@pytest.mark.parametrize("field", ["titel", ""])
def test_a_wrong_field_of_a_file_is_answered_with_its_fields(field: str, folder: Path) -> None:
    (folder / "news.jsonl").write_text(json.dumps({"title": "A storm hit the coast", "site": "a"}) + "\n")
    for given in (["dedup", "news.jsonl"], ["load", "other", "news.jsonl"]):
        if field or given[0] == "dedup":
            assert "They have: title, site." in run(*given, "--field", field, cwd=folder, code=2).err


def test_without_a_server_the_missing_url_is_said(folder: Path) -> None:
    said = "No server is named, so the embedded engine in .es-simhash was asked: name yours with --url."
    assert said in run("info", "articles", cwd=folder, code=4).err
    assert said not in run("info", "articles", "--url", ".es-simhash", cwd=folder, code=4).err
    run("init", "news", "--field", "title", cwd=folder)
    assert said not in run("find", "news", "--id", "7", cwd=folder, code=4).err


def test_the_doctor_ends_with_a_verdict_and_the_next_command(folder: Path) -> None:
    done = run("doctor", "news", cwd=folder, code=1)
    assert done.out.splitlines()[-1] == "Not ready: 1 stop keeps the backfill from running."
    assert done.err.splitlines()[-1] == "Next: es-simhash doctor news --field title --field meta.body"
    done = run("doctor", "news", "--field", "title", "--scheme", "short", "--prefix", "own", cwd=folder)
    assert done.out.splitlines()[-1] == "Ready for a backfill."
    assert done.err.splitlines()[-1] == "Next: es-simhash backfill news --field title --scheme short --prefix own"
    run(*done.err.splitlines()[-1].split()[2:], cwd=folder, XDG_STATE_HOME=str(folder))
    done = run("doctor", "news", "--prefix", "own", cwd=folder)
    assert done.err.splitlines()[-1] == "Next: es-simhash backfill news --prefix own"


def test_the_doctor_shows_stops_first_and_folds_what_is_fine(folder: Path) -> None:
    done = run("doctor", "news", "--field", "titel", cwd=folder, code=1)
    header, first, *rest = done.out.splitlines()
    assert header.startswith("level\t")
    assert first.startswith("stop\ttext-fields\t")
    assert not [line for line in rest if line.startswith("ok\t")]
    assert rest[-1] == "Not ready: 1 stop keeps the backfill from running."
    assert any(line.endswith(" checks passed; --verbose lists them.") for line in rest)
    levels = [
        line.split("\t")[0]
        for line in run("doctor", "news", "--field", "titel", "-v", cwd=folder, code=1).out.splitlines()
    ]
    assert levels[1] == "stop"
    assert "ok" in levels


VERBS = [
    ["init", "other", "--field", "title"],
    ["doctor", "news", "--field", "title"],
    ["backfill", "news", "--field", "title"],
    ["load", "other", "news.jsonl", "--field", "title"],
    ["check", "other", "news.jsonl"],
    ["find", "other", "--text", "A storm hit the coast"],
    ["search", "other", "--query", "storm"],
    ["group", "other", "--write", "--output", "groups.jsonl"],
    ["dedup", "news.jsonl", "--output", "groups.jsonl"],
    ["info", "other"],
    ["info"],
    ["learn", "other"],
    ["scripts", "other"],
    ["explain", "--text", "one text", "--text", "another text"],
    ["dashboard", "other", "--output", "other.ndjson"],
    ["tune", "news.jsonl", "--similarity", "0.5"],
    ["evaluate", "news.jsonl", "--labels", "labels.jsonl"],
    ["reindex", "other", "copy", "--field", "title"],
    ["remove", "other", "--yes"],
    ["erase", "copy", "--id", "1", "--yes"],
]


def test_quiet_means_quiet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": str(i), "title": f"A storm hit the coast of the island number {i} on Monday"} for i in range(3)]
    (folder / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "labels.jsonl").write_text('{"ids": ["0", "1"]}\n{"ids": ["2"]}\n')
    for given in VERBS:
        done = run(*given, "--quiet", cwd=folder, code=None, XDG_STATE_HOME=str(folder))
        assert (given, done.code, done.err) == (given, 0, "")
        assert "Next:" not in done.out
    assert run_here(["info", "--quiet"]) == 0


def test_the_next_step_names_the_prefix_unless_it_is_the_usual_one(folder: Path) -> None:
    for prefix, own in (("dedup", ""), ("copies", " --prefix copies")):
        done = run("init", "news", "--field", "title", "--prefix", prefix, cwd=folder)
        assert f"Next: es-simhash backfill news{own}\n" in done.err
