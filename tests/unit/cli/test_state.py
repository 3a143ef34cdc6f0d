"""``dedup --state`` keeps what it compared until all outputs are written; runs say how to resume, and that they do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from es_simhash.cli.commands import dedup as command
from tests.support.commands import Run, run
from tests.support.corpus import corpus, edited

HINT = "To resume interrupted runs, add --state DIRECTORY."
RESUMED = "has comparisons of an interrupted run, which are not repeated."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = corpus(20)
    documents += [edited(each, 2, seed=number) for number, each in enumerate(documents)]
    rows = ({"id": str(number), "body": each["body"]} for number, each in enumerate(documents))
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


def dedup(folder: Path, *options: str, code: int = 0) -> Run:
    return run("dedup", "news.jsonl", "--field", "body", *options, cwd=folder, code=code)


def interrupted(folder: Path, *options: str) -> Run:
    """Interrupt a run while it writes its outputs."""

    def interrupt(*_: Any, **given: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "show_groups", interrupt)
        patched.setattr(command, "_report", interrupt)
        return dedup(folder, *options, code=130)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_run_that_was_interrupted_while_it_wrote_goes_on_and_says_so(folder: Path) -> None:
    before = names(folder)
    alone = dedup(folder, "--output", "alone.jsonl")
    options = ("--state", "kept/here", "--output", "groups.jsonl", "--report", "page.html")
    stopped = interrupted(folder, *options)
    assert "No output files were written. Run the same command again to resume." in stopped.err
    assert (folder / "kept/here/dedup/stages.json").exists()
    assert names(folder) == before | {"alone.jsonl", "kept"}
    done = dedup(folder, *options)
    assert f"Resumed: kept/here {RESUMED}\n" in done.err
    assert done.err.replace(f"Resumed: kept/here {RESUMED}\n", "") == alone.err
    assert (folder / "groups.jsonl").read_bytes() == (folder / "alone.jsonl").read_bytes()
    assert names(folder) == before | {"alone.jsonl", "groups.jsonl", "page.html"}
    assert "Resumed" not in dedup(folder, *options).err


def test_a_run_says_that_it_goes_on_before_it_compares(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(folder, "--state", "kept")

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("es_simhash.groups.of_texts.linked", interrupt)
    assert f"Resumed: kept {RESUMED}\n" in dedup(folder, "--state", "kept", code=130).err


def test_a_directory_that_was_there_stays_with_what_is_in_it(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "used").mkdir()
    (folder / "used" / "other").write_text("ours")
    for name in ("empty", "used"):
        dedup(folder, "--state", name)
    assert [list((folder / name).iterdir()) for name in ("empty", "used")] == [[], [folder / "used" / "other"]]


def test_an_interrupted_run_without_state_says_how_to_resume_the_next_one(folder: Path) -> None:
    stopped = interrupted(folder, "--output", "groups.jsonl")
    assert f"Interrupted. No output files were written. {HINT}" in stopped.err
    stopped = interrupted(folder, "--state", "kept")
    assert HINT not in stopped.err


def test_an_interrupted_group_says_how_to_resume_the_next_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from es_simhash.index import Index

    def interrupt(*_: Any, **given: Any) -> None:
        raise KeyboardInterrupt

    run("load", "news", "news.jsonl", "--field", "body", cwd=folder)
    monkeypatch.setattr(Index, "group", interrupt)
    assert f"Nothing was written to the index. {HINT}" in run("group", "news", cwd=folder, code=130).err
    stopped = run("group", "news", "--state", "kept", cwd=folder, code=130)
    assert "Run the same command again to resume." in stopped.err
