"""A file where an index belongs is answered with the verbs for files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run


@pytest.mark.parametrize("name", ["news.jsonl", "Old News.jsonl", "./news.jsonl"])
@pytest.mark.parametrize("verb", [["find", "--text", "The ferry"], ["group"], ["info"]])
def test_a_file_in_place_of_an_index_is_answered_with_the_verbs_for_files(
    tmp_path: Path, verb: list[str], name: str
) -> None:
    (tmp_path / name).write_text(json.dumps({"id": "1", "body": "The ferry"}), encoding="utf-8")
    done = run(verb[0], name, *verb[1:], cwd=tmp_path, code=2)
    shown = f"'{name}'" if " " in name else name
    assert f"Error: {name} is a file, and no index has this name." in done.err
    for remedy in (f"try {shown}", f"dedup {shown}", f"explain {shown} ID ID", f"load INDEX {shown}"):
        assert f"es-simhash {remedy}" in done.err


def test_an_index_may_have_the_name_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "news").write_text(json.dumps({"id": "1", "body": "The ferry"}), encoding="utf-8")
    run("load", "news", "news", "--format", "jsonl", "--field", "body", cwd=tmp_path)
    run("find", "news", "--text", "The ferry", cwd=tmp_path)
    missing = run("find", "news", "--id", "2", cwd=tmp_path, code=4)
    assert "is a file" not in missing.err
    (tmp_path / "news").unlink()
    assert "does not exist" in run("find", "other", "--text", "The ferry", cwd=tmp_path, code=4).err
