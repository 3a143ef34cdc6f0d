from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from es_simhash.documents.files import RejectFile
from es_simhash.documents.rejected import Rejected
from tests.support.reading import read_bytes


def test_there_is_no_file_if_nothing_was_rejected(tmp_path: Path) -> None:
    with RejectFile(tmp_path / "rejected.jsonl") as rejects:
        pass
    assert rejects.count == 0
    assert not (tmp_path / "rejected.jsonl").exists()


def test_rejections_are_appended_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "rejected.jsonl"
    for line in [1, 2]:
        with RejectFile(path) as rejects:
            rejects(Rejected(file="a.jsonl", line=line, reason="A reason.", excerpt="中\x1b[31m\n", id="x"))
        assert rejects.count == 1
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"file": "a.jsonl", "line": line, "id": "x", "reason": "A reason.", "excerpt": "中\\x1b[31m\\n"}
        for line in [1, 2]
    ]


def test_what_was_rejected_is_on_disk_at_once(tmp_path: Path) -> None:
    with RejectFile(tmp_path / "r") as rejects:
        rejects(Rejected(file="a", line=1, reason="A reason."))
        assert json.loads((tmp_path / "r").read_text())["line"] == 1


def test_a_name_with_a_lone_surrogate_can_be_written(tmp_path: Path) -> None:
    with RejectFile(tmp_path / "r") as rejects:
        rejects(Rejected(file="\udcff.jsonl", line=1, reason="A reason."))
    assert json.loads((tmp_path / "r").read_text(encoding="utf-8"))["file"] == "\udcff.jsonl"


@given(st.text())
def test_an_excerpt_is_short_and_safe_to_print(text: str) -> None:
    excerpt = Rejected(reason="A reason.", excerpt=text).excerpt
    assert excerpt.isprintable()
    assert len(excerpt) <= 200
    if text.isprintable():
        assert excerpt == text[:200]


def test_what_reading_rejects_can_be_written(tmp_path: Path) -> None:
    with RejectFile(tmp_path / "r") as rejects:
        _, rejected = read_bytes(tmp_path, "a.jsonl", b'{"a": "\xff\x1b[2J\xe2\x80\xae"}\n')
        rejects(rejected[0])
    assert json.loads((tmp_path / "r").read_text(encoding="utf-8"))["excerpt"] == '{"a": "\\xff\\x1b[2J\\u202e"}'
