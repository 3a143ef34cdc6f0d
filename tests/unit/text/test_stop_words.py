"""Stop words from lists and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from es_simhash.errors import FormatError
from es_simhash.text.features import load_stop_words


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stop_words.txt"


def test_a_file_has_one_word_a_line_and_may_have_comments_and_blank_lines(path: Path) -> None:
    path.write_text("# English\nthe\n\n  of \n\t\n# 中文\n的\nC#\nthe", encoding="utf-8")
    assert load_stop_words(path) == load_stop_words(str(path)) == {"the", "of", "的", "C#"}


def test_windows_line_ends_and_a_byte_order_mark_are_not_part_of_words(path: Path) -> None:
    path.write_bytes("\ufeffthe\r\n的\r\n".encode())
    assert load_stop_words(path) == {"the", "的"}


def test_only_line_feeds_end_lines(path: Path) -> None:
    path.write_text("a\u2028b\nc\x0bd\n", encoding="utf-8")
    assert load_stop_words(path) == {"a\u2028b", "c\x0bd"}


def test_an_empty_file_has_no_words(path: Path) -> None:
    path.write_bytes(b"")
    assert load_stop_words(path) == frozenset()


def test_bad_utf8_is_an_error_that_names_file_and_line(path: Path) -> None:
    path.write_bytes("the\n# 注\n的\n".encode() + "并且".encode("gbk"))
    with pytest.raises(
        FormatError, match=r"^Line 4 of .*stop_words\.txt is not valid UTF-8.*Convert the file to UTF-8\.$"
    ):
        load_stop_words(path)


def test_a_file_that_cannot_be_read_is_an_error_that_names_it(path: Path) -> None:
    with pytest.raises(
        FormatError, match=r"stop_words\.txt cannot be read: No such file.* Give the path of a text file"
    ):
        load_stop_words(path)
