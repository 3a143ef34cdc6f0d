from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from es_simhash.documents.files import whole_file


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
def test_what_is_no_file_is_written_to_as_it_is() -> None:
    with whole_file(os.devnull) as out:
        out.write("gone")
    assert Path(os.devnull).is_char_device()
