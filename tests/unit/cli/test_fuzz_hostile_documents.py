"""Documents that would command a terminal, a spreadsheet or a browser: nothing that is shown of them does."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash._core.rows import write_csv
from tests.support.commands import Run, run
from tests.support.html_reader import Reader
from tests.support.http_server import Answer, serving

COMMANDS_TO_TERMINALS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PIECES = (
    "\x1b[2J",
    "\x1b]0;owned\x07",
    "\x9b31m",
    "\x7f\r",
    "\u202egnp.exe",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style></table>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "@SUM(A1)",
    "-2+3",
    "[bold]{datum['x']}",
    "word",
)
HOSTILE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)
STORM = "The storm has left many houses along the coast without power since Monday night, and it is not over yet."


def shown(done: Run) -> str:
    return done.out + done.err


@settings(max_examples=6)
@given(names=st.lists(HOSTILE, min_size=2, max_size=3, unique=True), text=HOSTILE)
def test_what_commands_print_and_write_of_hostile_documents_is_harmless(
    names: list[str], text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    documents = [
        {"id": f"{name}{n}", "title": text, "body": f"{STORM} {text} {'abc'[n]}"} for n, name in enumerate(names)
    ]
    lines = [json.dumps(each) for each in documents]
    (folder / "a.jsonl").write_text("\n".join([*lines, text.replace("\r", "")]) + "\n", encoding="utf-8")
    first, second = (str(each["id"]) for each in documents[:2])
    engine = ("--url", str(folder / "engine"))

    def done(*arguments: str, code: int | None = 0) -> Run:
        made = run(*arguments, cwd=folder, code=code, XDG_STATE_HOME=str(folder))
        assert not COMMANDS_TO_TERMINALS.search(shown(made)), (arguments, made)
        return made

    done("load", "news", "a.jsonl", "--field", "body", *engine, code=None)
    done("find", "news", "--id", first, "--source", "title", *engine)
    found = json.loads(done("find", "news", "--id", first, "--json", *engine).out)
    assert {each["id"] for each in found["matches"]} == {each["id"] for each in documents} - {first}
    done("find", "news", f"--id=none{first}", *engine, code=4)
    done("check", "news", "a.jsonl", *engine, code=None)
    done("explain", "news", "--report", "why.html", *engine, "--", first, second)
    [group] = map(json.loads, done("group", "news", "--report", "groups.html", *engine).out.splitlines())
    assert {each["id"] for each in group["members"]} == {each["id"] for each in documents}
    done("group", "news", "--output", "groups.csv", *engine)
    for page in ("why.html", "groups.html"):
        assert_page_is_inert((folder / page).read_text(encoding="utf-8"))
    with (folder / "groups.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            assert not [cell for cell in row if cell.startswith(("=", "+", "@", "\t", "\r"))], row


def assert_page_is_inert(text: str) -> None:
    read = Reader(text)
    assert not {tag for tag, _ in read.elements} & {"img", "iframe", "object", "base", "form"}
    # The page's own script is there at most, and the policy names it by its hash.
    assert [tag for tag, _ in read.elements].count("script") <= 1
    for _, attributes in read.elements:
        assert not [name for name in attributes if name.startswith("on")]
        assert "javascript:" not in str(attributes.get("href", ""))
    [policy] = [each["content"] for _, each in read.elements if each.get("http-equiv") == "Content-Security-Policy"]
    assert str(policy).startswith("default-src 'none'")


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.parametrize("debug", [[], ["--debug"]], ids=["", "debug"])
def test_what_an_engine_says_commands_no_terminal(log_format: str, debug: list[str]) -> None:
    """Engines quote documents in their reasons."""
    reason = "failed to parse '\x1b]0;owned\x07\x9b2J\u202e'"
    refusing = Answer({"error": {"type": "mapper_parsing_exception", "reason": reason}, "status": 400}, 400)
    with serving(refusing) as server:
        done = run(*debug, "info", "news", "--url", server.url, "--log-format", log_format, code=None)
    assert "owned" in done.err
    assert not COMMANDS_TO_TERMINALS.search(shown(done))


@pytest.mark.parametrize("is_terminal", [True, False])
def test_csv_keeps_what_terminals_obey_unless_it_is_printed_on_one(is_terminal: bool) -> None:
    cell = "a\x1b[2J\x9b"
    if not is_terminal:
        file = io.StringIO()
        write_csv([cell], [], file)
        assert file.getvalue() == f"{cell}\n"
        return
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        write_csv([cell], [], terminal)
        terminal.flush()
        read = os.read(ours, 100).decode()
    os.close(ours)
    assert read.rstrip() == "a [2J"
