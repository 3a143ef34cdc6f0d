from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.documents.files import RejectFile, whole_file
from es_simhash.documents.sources import Rejected
from tests.support.reading import read_bytes


def test_there_is_not_a_file_if_nothing_was_rejected(tmp_path: Path) -> None:
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
        {
            **{"file": "a.jsonl", "line": line, "index": None, "position": None, "id": "x", "reason": "A reason."},
            **{"excerpt": "中\\x1b[31m\\n", "may_pass": False},
        }
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


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_there_once_all_of_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with whole_file(str(path)) as out:
        out.write("文\r\n")
        assert not path.exists()
    assert path.read_bytes() == "文\r\n".encode()
    assert names(tmp_path) == ["a"]


def test_a_file_that_was_there_is_read_until_it_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    with whole_file(str(path)) as out:
        out.write(path.read_text() + " and new")
    assert path.read_text() == "old and new"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_nothing_changes_when_something_goes_wrong(tmp_path: Path, error: type[BaseException]) -> None:
    def half(path: Path) -> None:
        with whole_file(str(path)) as out:
            out.write("half")
            raise error

    (tmp_path / "a").write_text("old")
    with pytest.raises(error):
        half(tmp_path / "a")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    with whole_file(str(tmp_path / "link")) as out:
        out.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "new"


def test_a_place_that_cannot_be_written_is_named_as_it_was_given(tmp_path: Path) -> None:
    path = str(tmp_path / "missing" / "a")
    with pytest.raises(FileNotFoundError) as raised, whole_file(path):
        pass
    assert raised.value.filename == path


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_what_is_not_a_file_is_written_to_as_it_is() -> None:
    with whole_file(os.devnull) as out:
        out.write("gone")
    assert Path(os.devnull).is_char_device()
