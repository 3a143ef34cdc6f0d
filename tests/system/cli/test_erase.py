"""The command that erases: what it asks, writes and says."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import patch

import pytest

from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import UnreachableError
from es_simhash.plans.operations import Action, ActionResult, Bulk, Operation
from tests.support.commands import Run, environment, lines, run

STORM = "The storm has left many houses along the coast without power since Monday night, and crews are at work"
TEXTS = {"1": f"{STORM}.", "2": f"{STORM}! (AP)", "3": "A new bridge over the river was opened on Sunday."}


Perform: TypeAlias = Callable[[Operation[list[ActionResult]]], list[ActionResult]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with an index of a document, its copy, and another one."""
    documents = (json.dumps({"_id": id_, "body": text}) for id_, text in TEXTS.items())
    (tmp_path / "news.jsonl").write_text("\n".join(documents), encoding="utf-8")
    run("load", "news", "news.jsonl", "--field", "body", cwd=tmp_path)
    return tmp_path


def run_with(folder: Path, instead: Callable[[Perform, Bulk], list[ActionResult]], *more: str, code: int) -> Run:
    """Erase everything, with something happening instead of the requests that write."""
    perform = EmbeddedEngine.perform

    def meddled(engine: EmbeddedEngine, operation: Operation[Any]) -> Any:
        if isinstance(operation, Bulk):
            return instead(partial(perform, engine), operation)
        return perform(engine, operation)

    with patch.object(EmbeddedEngine, "perform", meddled):
        return run("erase", "news", "--id", "1", "--yes", "--report", "report.json", *more, cwd=folder, code=code)


def left(folder: Path) -> int:
    [info] = lines(run("info", "news", "--json", cwd=folder))
    count: int = info["documents"]
    return count


def test_nothing_is_deleted_without_a_confirmation(folder: Path) -> None:
    done = run("erase", "news", "--id", "1", cwd=folder)
    assert [line.split("\t")[1:3] for line in done.out.splitlines()[1:]] == [["1", "original"], ["2", "near"]]
    assert "Nothing was deleted. Confirm with --yes" in done.err
    assert left(folder) == 3


def test_an_edited_list_says_what_to_delete(folder: Path) -> None:
    done = run("erase", "news", "--id", "1", "--output", "copies.jsonl", cwd=folder)
    assert "Edit copies.jsonl, and give it to --confirmed" in done.err
    written = (folder / "copies.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line).get("id") for line in written] == [None, "1", "2"]
    (folder / "copies.jsonl").write_text("\n".join(written[:2]), encoding="utf-8")
    done = run("erase", "news", "--id", "1", "--confirmed", "copies.jsonl", "--report", "report.txt", cwd=folder)
    assert "news: 1 document deleted, 1 kept at your request." in done.out
    assert left(folder) == 2
    report = (folder / "report.txt").read_text(encoding="utf-8")
    assert "  deleted  news '1': original, similarity 1.00" in report
    assert "  left     news '2': near" in report
    assert STORM[:20] not in report


def test_ids_may_hold_any_character(folder: Path) -> None:
    strange = json.dumps({"_id": "a\u2028b\x85", "body": TEXTS["1"]})
    run("load", "news", "-", "--format", "jsonl", cwd=folder, stdin=strange)
    run("erase", "news", "--id", "1", "--output", "copies.jsonl", cwd=folder)
    run("erase", "news", "--id", "1", "--confirmed", "copies.jsonl", cwd=folder)
    assert left(folder) == 1


def test_yes_deletes_all_and_the_report_is_json(folder: Path) -> None:
    found, done = lines(
        run("erase", "news", "--id", "1", "--yes", "--report", "report.json", "--json", "--quiet", cwd=folder)
    )
    assert (found["event"], done["event"]) == ("found", "done")
    assert json.loads((folder / "report.json").read_text(encoding="utf-8")) == {
        name: value for name, value in done.items() if name != "event"
    }
    assert {each["copy"]["id"] for each in done["deleted"]} == {"1", "2"}
    assert left(folder) == 1


def test_a_text_and_a_file_can_be_erased(folder: Path) -> None:
    (folder / "text").write_text(STORM, encoding="utf-8")
    run("erase", "news", "--text", TEXTS["3"], "--file", "text", "--yes", cwd=folder)
    assert left(folder) == 0


def test_that_there_is_nothing_to_erase_is_said(folder: Path) -> None:
    done = run("erase", "news", "--text", "Nothing of the kind was ever written here.", "--yes", cwd=folder)
    assert done.out.startswith("No copies to erase.")
    assert "has no document 'x'" in run("erase", "news", "--id", "x", "--yes", cwd=folder, code=4).err


@pytest.mark.parametrize(
    "given",
    [
        ["--yes"],
        ["--id", "1", "--yes", "--output", "list"],
        ["--id", "1", "--similarity", "2"],
        ["--id", "1", "--confirmed", "news.jsonl"],
        ["--id", "1", "--scope-value", "tenant=a"],
    ],
)
def test_what_cannot_be_meant_is_refused(folder: Path, given: list[str]) -> None:
    run("erase", "news", *given, cwd=folder, code=2)
    assert left(folder) == 3


@pytest.mark.parametrize(("answer", "code", "count"), [("y", 0, 1), ("n", 2, 3)])
def test_a_terminal_is_asked(folder: Path, answer: str, code: int, count: int) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "es_simhash", "erase", "news", "--id", "1"]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment({})
    )
    os.write(ours, f"{answer}\n".encode())
    _, err = process.communicate(timeout=60)
    assert b"Delete 2 documents of news?" in err
    assert (process.returncode, left(folder)) == (code, count)


def test_what_is_left_is_named_and_the_exit_code_says_so(folder: Path) -> None:
    def refused(_: Perform, request: Bulk) -> list[ActionResult]:
        return [ActionResult(action.id or "", 403, "no") for action in request.actions]

    done = run_with(folder, refused, code=1)
    assert "news: 2 documents not deleted" in done.out
    assert "Not deleted: '2' in news: refused (no)." in done.err
    assert "run the command again" in done.err


def test_what_appears_in_the_meantime_is_deleted_and_named(folder: Path) -> None:
    def after_another_was_written(perform: Perform, request: Bulk) -> list[ActionResult]:
        if request.actions[0].id == "2":
            perform(Bulk("news", [Action("index", "4", {"body": f"{STORM}, says the mayor."})]))
        return perform(request)

    done = run_with(folder, after_another_was_written, code=0)
    assert "Also deleted, added or changed during the run: '4' in news." in done.err
    assert left(folder) == 1


def test_the_report_is_written_however_it_ends(folder: Path) -> None:
    def away(_: Perform, request: Bulk) -> list[ActionResult]:
        raise UnreachableError("gone")

    run_with(folder, away, "--patience", "0", code=3)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert (report["finished"], report["is_complete"]) == (None, False)
