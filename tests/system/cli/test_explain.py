"""``es-simhash explain`` through real processes: two documents of an index, two texts, the page, a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from es_simhash.plans.explanation import CODES, State
from es_simhash.scheme.own_fields import KINDS
from es_simhash.scheme.scheme import Scheme
from tests import ROOT
from tests.support.commands import environment, run
from tests.support.corpus import corpus, edited
from tools.nodes import Node

PAGE = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
COPY = edited(corpus(3)[0], 2)
DOCUMENTS = [*({"id": str(i), **each} for i, each in enumerate(corpus(3))), {"id": "a/é 中", **COPY}]


def explained(*arguments: str, cwd: Path, **more: Any) -> dict[str, Any]:
    [line] = run("explain", *arguments, "--json", cwd=cwd, **more).out.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with an index and with texts."""
    folder = tmp_path_factory.mktemp("explain")
    lines = "".join(json.dumps(each) + "\n" for each in DOCUMENTS)
    (folder / "news.jsonl").write_text(lines, encoding="utf-8")
    for name, document in (("a.txt", corpus(3)[0]), ("b.txt", COPY)):
        (folder / name).write_text(document["title"] + "\n" + document["body"] + "\n", encoding="utf-8")
    run("load", "news", "news.jsonl", "--field", "title", "--field", "body", cwd=folder)
    return folder


def test_two_documents_of_an_index(folder: Path) -> None:
    found = explained("news", "0", "a/é 中", cwd=folder)
    assert found["verdict"]["code"] == "duplicates"
    assert [(each["name"], each["state"]) for each in found["pair"]] == [("0", "current"), ("a/é 中", "current")]
    assert explained("news", "0", "1", cwd=folder)["verdict"]["code"] == "no-candidate"
    assert explained("news", "0", "a/é 中", "--similarity", "1", cwd=folder)["verdict"]["code"] == "below-threshold"


def test_two_documents_of_a_file(folder: Path) -> None:
    found = explained("news.jsonl", "0", "a/é 中", cwd=folder)
    assert found["verdict"]["code"] == "duplicates"
    assert [each["name"] for each in found["pair"]] == ["0", "a/é 中"]
    assert explained("news.jsonl", "news.jsonl:1:0", "1", cwd=folder)["verdict"]["code"] == "no-candidate"
    assert run("explain", "news.jsonl", "0", "1", cwd=folder).err == "Text: title, body.\n"
    for given, said in {
        ("news.jsonl", "0", "7"): "has no document with the id '7'. Its first ids are: 0, 1, 2.",
        ("news.jsonl",): "Give an index or a file and two ids, such as news.csv 42 43",
        ("a.txt", "b.txt"): "such as --file a.txt --file b.txt",
        ("./none.csv", "0", "1"): "none.csv' cannot be read",
    }.items():
        assert said in " ".join(run("explain", *given, cwd=folder, code=2).err.split())


@pytest.mark.parametrize("kind", ["elasticsearch_node", "opensearch_node"])
def test_on_a_server_the_engine_is_asked(folder: Path, kind: str, request: pytest.FixtureRequest) -> None:
    node: Node = request.getfixturevalue(kind)
    name = f"explain-{uuid.uuid4().hex[:10]}"
    where: Any = {"ES_SIMHASH_URL": node.url}
    run("load", name, "news.jsonl", "--field", "title", "--field", "body", cwd=folder, **where)
    node.request("POST", f"/{name}/_refresh")
    found = explained(name, "0", "a/é 中", cwd=folder, **where)
    assert found["verdict"]["code"] == "duplicates"
    assert found["evidence"]["bands"]["engine"] == found["evidence"]["bands"]["agree"] != []
    assert "as in the engine" in run("explain", name, "0", "a/é 中", cwd=folder, **where).out
    node.request("DELETE", f"/{name}")


def test_two_texts_need_no_index(folder: Path) -> None:
    found = explained("--file", "a.txt", "--file", "b.txt", cwd=folder)
    assert [each["name"] for each in found["pair"]] == ["a.txt", "b.txt"]
    indexed = explained("news", "0", "a/é 中", cwd=folder)
    assert found["features"] == indexed["features"]
    for key in ("bits", "similarity"):
        assert found["evidence"][key] == indexed["evidence"][key]
    text = (folder / "b.txt").read_text(encoding="utf-8")
    assert explained("--file", "a.txt", "--text", text, cwd=folder)["evidence"] == found["evidence"]
    assert explained("--file", "a.txt", "--file", "-", cwd=folder, stdin=text)["evidence"] == found["evidence"]
    assert explained("--text", "x", "--text", "", cwd=folder)["verdict"]["code"] == "empty"
    short = explained("--file", "a.txt", "--file", "b.txt", "--scheme", "short", cwd=folder)
    assert short["pair"][0]["scheme"] == Scheme.preset("short").id


def test_plain_lines_say_it_all(folder: Path) -> None:
    shown = run("explain", "news", "0", "a/é 中", "--distance", "3", "--similarity", "near", cwd=folder).out
    assert shown.startswith("Near-duplicates: ")
    bits = re.search(r"^ ([01 ]+)\n ([01 ]+)\n ([ ^]+)$", shown, re.MULTILINE)
    assert bits
    differing = [i for i, (x, y) in enumerate(zip(bits[1], bits[2], strict=True)) if x != y]
    assert differing == [i for i, sign in enumerate(bits[3]) if sign == "^"]
    assert f"distance: {len(differing)} of 64 bits" in shown
    assert re.search(r"^bands: [=·]{36} \d+ of 36 agree$", shown, re.MULTILINE)
    assert re.search(r"^in both\t\d+\t", shown, re.MULTILINE)
    assert "[-" in shown
    assert "{+" in shown
    assert "\x1b" not in shown


def test_bits_of_wide_simhashes_are_broken_between_blocks(folder: Path) -> None:
    from es_simhash.scheme.settings import SimHash

    scheme = Scheme(simhash=SimHash(128, 8, 3), minhash=None)
    (folder / "wide.json").write_text(scheme.to_json(), encoding="utf-8")
    shown = run("explain", "--file", "a.txt", "--file", "b.txt", "--scheme", "wide.json", cwd=folder).out
    lines = re.findall(r"^ ([01 ]+)$", shown, re.MULTILINE)
    assert [len(line) for line in lines] == [4 * 16 + 3] * 4


def test_a_page_is_written_whole_and_holds_the_verdict(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    done = run("explain", "news", "0", "a/é 中", "--report", str(page), cwd=folder)
    written = page.read_text(encoding="utf-8")
    assert done.out.splitlines()[0] in written
    assert f"The report is in {page}." in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["why.html"]
    missing = run("explain", "news", "0", "1", "--report", "missing/why.html", cwd=folder, code=2)
    assert "missing/why.html: No such file or directory." in missing.err


def test_a_terminal_shows_colours_and_both_texts_and_obeys_no_text(folder: Path) -> None:
    ours, theirs = pty.openpty()
    evil = "a text that clears \x1b[2J the screen, and says something else than the other one"
    # An empty NO_COLOR counts for some versions of rich, and not for others.
    coloured = environment({"TERM": "xterm-256color", "COLUMNS": "100"})
    coloured.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "es_simhash",
            "explain",
            "--text",
            evil,
            "--text",
            evil.replace("clears", "does not clear"),
        ],
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=coloured,
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 1 << 16):
            shown += block
    except OSError:  # what Linux gives at the end
        pass
    os.close(ours)
    assert process.wait() == 0
    text = shown.decode()
    assert "\x1b[2J" not in text
    assert re.search(r"\x1b\[4;31mclears", text), "what is gone is red"
    assert re.search(r"\x1b\[4;32mdoes not clear", text), "what is new is green"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Give an index or a file and two ids, such as news.csv 42 43; or one or two texts"),
        (["news"], 2, "Give an index or a file and two ids"),
        (["news", "0"], 2, "Give an index or a file and two ids"),
        (["news", "0", "1", "2"], 2, "Give an index or a file and two ids"),
        (["news", "0", "1", "--text", "x"], 2, "Give an index or a file and two ids"),
        (["--file", "-", "--file", "-"], 2, "Standard input is one text."),
        (["news", "0", "0"], 2, "was given twice"),
        (["news", "0", "nobody"], 4, "has no document 'nobody'"),
        (["nowhere", "0", "1"], 4, "nowhere"),
        (["--text", "x", "--text", "y", "--similarity", "7"], 2, "Choose one above 0, up to 1."),
    ],
)
def test_what_cannot_be_done_is_one_paragraph(folder: Path, arguments: list[str], code: int, message: str) -> None:
    done = run("explain", *arguments, cwd=folder, code=code)
    assert message in done.err
    assert done.out == ""
    assert "Traceback" not in done.err


def codes_in(name: str) -> list[str]:
    """The first cells of a table of the page."""
    part = PAGE.split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->")[0]
    return re.findall(r"^\| `([a-z-]+)` \|", part, re.MULTILINE)


def test_the_page_has_every_code_and_state() -> None:
    assert codes_in("codes") == list(CODES)
    assert codes_in("states") == list(State.__args__)  # type: ignore[attr-defined]
    assert KINDS == ("block", "band")
