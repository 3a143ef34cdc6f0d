"""The options of a scope, and what commands say of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import lines, run
from tests.support.corpus import corpus

BODY = corpus(1)[0]["body"]
NEWS = [
    {"id": "1", "body": BODY, "tenant": "acme", "source": "wire", "at": "2026-03-01"},
    {"id": "2", "body": BODY, "tenant": "acme", "source": "blog", "at": "2026-03-02"},
    {"id": "3", "body": BODY, "tenant": "zeta", "source": "blog", "at": "2026-03-09"},
    {"id": "4", "body": BODY, "source": "blog"},
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(each) + "\n" for each in NEWS), encoding="utf-8")
    run("load", "news", "news.jsonl", "--field", "body", cwd=tmp_path)
    return tmp_path


def found(place: Path, *options: str) -> list[str]:
    [line] = lines(run("find", "news", *options, "--json", cwd=place))
    return [match["id"] for match in line["matches"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["2", "3", "4"]),
        (["--within", "tenant"], ["2"]),
        (["--across", "source"], ["2", "3", "4"]),
        (["--across", "source", "--within", "tenant"], ["2"]),
        (["--window", "2d", "--date", "at"], ["2"]),
        (["--window", "192h", "--date", "at"], ["2", "3"]),
        (["--across", "tenant", "--across", "source"], ["3"]),
    ],
)
def test_find_takes_a_scope(place: Path, options: list[str], expected: list[str]) -> None:
    assert found(place, "--id", "1", *options) == expected


def test_a_text_gets_its_values_one_by_one(place: Path) -> None:
    both = ["--scope-value", "tenant=acme", "--scope-value", "source=blog", "--scope-value", "source=wire"]
    assert found(place, "--text", BODY, "--within", "tenant", "--across", "source", *both) == []
    assert found(place, "--text", BODY, "--within", "tenant", *both[:2]) == ["1", "2"]
    assert "--scope-value tenant=…" in run("find", "news", "--text", BODY, "--within", "tenant", cwd=place, code=2).err
    for wrong in ("tenant", "=acme"):
        assert "tenant=acme" in run("find", "news", "--text", BODY, "--scope-value", wrong, cwd=place, code=2).err
    refused = run("find", "news", "--text", BODY, *both[:2], cwd=place, code=2)
    assert "No scope has the field tenant" in refused.err


def test_what_has_no_value_is_said(place: Path) -> None:
    assert "1 candidate had no value" in run("find", "news", "--id", "1", "--across", "tenant", cwd=place).err
    assert "no value in tenant" in run("find", "news", "--id", "4", "--within", "tenant", cwd=place, code=2).err
    checked = run("check", "news", "news.jsonl", "--within", "tenant", cwd=place)
    assert "1 document had no value in a field of the scope" in checked.err
    [*_, last] = lines(run("check", "news", "news.jsonl", "--within", "tenant", "--json", cwd=place))
    assert (last["is_new"], last["missing"]) == (True, ["tenant"])
    search = ["search", "news", "--query", '{"match_all": {}}', "--distinct", "--within", "tenant"]
    assert "Not compared: 1 (unscoped)." in run(*search, cwd=place).err
    [page] = lines(run(*search, "--json", cwd=place))
    assert [[each["hit"]["_id"], len(each["similar"])] for each in page["hits"]] == [["1", 1], ["3", 0], ["4", 0]]


def test_explain_shows_the_scope_in_all_forms(place: Path) -> None:
    sentence = "No near-duplicates, since out of scope: tenant is acme and zeta, and must be the same."
    explain = ["explain", "news", "1", "3", "--within", "tenant", "--across", "source"]
    shown = run(*explain, "--report", "why.html", cwd=place).out.splitlines()
    assert shown[0] == sentence
    assert shown[1].startswith("But for the scope: Near-duplicates")
    assert "source\tdifferent\twire\tblog\tyes" in shown
    assert "tenant\tthe same\tacme\tzeta\tno" in shown
    [line] = lines(run(*explain, "--json", cwd=place))
    assert line["verdict"]["code"] == "out-of-scope"
    expected: dict[str, Any] = {"field": "tenant", "demand": "within", "a": ["acme"], "b": ["zeta"]}
    assert line["scope"][0] == {**expected, "is_met": False, "window": None}
    page = (place / "why.html").read_text(encoding="utf-8")
    assert sentence in page
    assert "<h2>Scope</h2>" in page
    assert run("explain", "news", "1", "3", cwd=place).out.startswith("Near-duplicates")


def test_bare_texts_have_no_scope(tmp_path: Path) -> None:
    refused = run("explain", "--text", BODY, "--text", BODY, "--within", "tenant", cwd=tmp_path, code=2)
    assert "Texts have no values for a scope" in refused.err
    run("explain", "--text", BODY, "--text", BODY, cwd=tmp_path)
