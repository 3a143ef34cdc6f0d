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
    return tmp_path


def loaded(place: Path, *policy: str) -> None:
    """Make the index with this scope."""
    run("init", "news", "--field", "body", *policy, cwd=place)
    run("load", "news", "news.jsonl", cwd=place)


def found(place: Path, *options: str) -> list[str]:
    [line] = lines(run("find", "news", *options, "--json", cwd=place))
    return [match["id"] for match in line["matches"]]


@pytest.mark.parametrize(
    ("policy", "expected"),
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
def test_find_follows_the_scope_of_the_index(place: Path, policy: list[str], expected: list[str]) -> None:
    loaded(place, *policy)
    assert found(place, "--id", "1") == expected


def test_a_text_gets_its_values_one_by_one(place: Path) -> None:
    both = ["--scope-value", "tenant=acme", "--scope-value", "source=blog", "--scope-value", "source=wire"]
    loaded(place, "--within", "tenant")
    assert found(place, "--text", BODY, *both[:2]) == ["1", "2"]
    assert "--scope-value tenant=…" in run("find", "news", "--text", BODY, cwd=place, code=2).err
    for wrong in ("tenant", "=acme"):
        assert "tenant=acme" in run("find", "news", "--text", BODY, "--scope-value", wrong, cwd=place, code=2).err
    refused = run("find", "news", "--text", BODY, *both, cwd=place, code=2)
    assert "No scope has the field source" in refused.err
    run("init", "news", "--field", "body", "--within", "tenant", "--across", "source", cwd=place)
    assert found(place, "--text", BODY, *both) == []


def test_what_has_no_value_is_said(place: Path) -> None:
    loaded(place, "--within", "tenant")
    assert "no value in tenant" in run("find", "news", "--id", "4", cwd=place, code=2).err
    checked = run("check", "news", "news.jsonl", cwd=place)
    assert "1 document has no value in a field of the scope" in checked.err
    [*_, last] = lines(run("check", "news", "news.jsonl", "--json", cwd=place))
    assert (last["is_new"], last["in_index"]["missing"]) == (True, ["tenant"])
    search = ["search", "news", "--query", '{"match_all": {}}']
    assert "Not compared: 1 (unscoped)." in run(*search, cwd=place).err
    [page] = lines(run(*search, "--json", cwd=place))
    assert [[each["hit"]["_id"], len(each["similar"])] for each in page["hits"]] == [["1", 1], ["3", 0], ["4", 0]]
    run("init", "news", "--field", "body", "--across", "tenant", cwd=place)
    found = run("find", "news", "--id", "1", cwd=place)
    assert "Not compared: 1 document of the index has no value in a field of the scope." in found.err


def test_explain_shows_the_scope_in_all_forms(place: Path) -> None:
    sentence = "No near-duplicates, since out of scope: tenant is acme and zeta, and must be the same."
    explain = ["explain", "news", "1", "3"]
    loaded(place)
    assert run(*explain, cwd=place).out.startswith("Near-duplicates")
    run("init", "news", "--field", "body", "--within", "tenant", "--across", "source", cwd=place)
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
