"""``dedup`` and ``group`` say which groups look like forms, and change no verdict for that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.families import family
from tests.support.commands import lines, run
from tests.support.filled_forms import filled

SAID = (
    "The group of document 'report 0' looks like a form: its documents differ in the same places. "
    "Check it before you delete duplicates."
)
NUMBERS = "With --numbers 0.5, documents with different numbers are not duplicates."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with reports of one form, and with edited copies of another text; and an index that has them, too."""
    made = tmp_path_factory.mktemp("forms")
    texts = {f"report {number}": text for number, text in enumerate(filled("en", 0, 6))}
    texts |= {f"copy {number}": text for number, text in enumerate(family("en", 400, 0.01, 8, 1))}
    rows = "".join(json.dumps({"id": id_, "body": text}) + "\n" for id_, text in texts.items())
    (made / "news.jsonl").write_text(rows, encoding="utf-8")
    for command in (
        ["init", "news", "--field", "body"],
        ["load", "news", "news.jsonl", "--id-field", "id"],
    ):
        run(*command, cwd=made, ES_SIMHASH_URL=str(made / "engine"))
    return made


@pytest.fixture(params=["dedup", "group"])
def command(request: pytest.FixtureRequest) -> list[str]:
    files = {"dedup": ["dedup", "news.jsonl", "--id-field", "id", "--field", "body"], "group": ["group", "news"]}
    return [*files[request.param], "--similarity", "0.5"]


def test_a_group_that_looks_like_a_form_is_named(folder: Path, command: list[str]) -> None:
    def do(*options: str) -> Any:
        return run(*command, *options, cwd=folder, ES_SIMHASH_URL=str(folder / "engine"))

    assert f"{SAID} {NUMBERS}" in do("--report", "report.html").err
    summary = lines(do("--json"))[-1]["summary"]
    assert (summary["groups"], summary["duplicates"]) == (2, 12)
    assert summary["forms"] == ["report 0"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count(" looks like a form<") == 1
    assert "The group of document &#x27;report 0&#x27; looks like a form:" in page


def test_nothing_is_said_where_numbers_keep_them_apart_or_no_texts_were_compared(
    folder: Path, command: list[str]
) -> None:
    for options in (["--numbers", "0.9"], ["--estimate"]):
        done = run(*command, *options, "--json", cwd=folder, ES_SIMHASH_URL=str(folder / "engine"))
        assert lines(done)[-1]["summary"]["forms"] == []
        assert "form:" not in done.err
