"""The format and the encoding that the beginning of a file shows."""

from __future__ import annotations

import gzip
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from es_simhash.documents.files import formats
from es_simhash.documents.files.formats import shape_of

SENTENCES = {
    "gb18030": "今年的春茶比往年晚了十天上市，我们在山上看到的是这样。",
    "shift_jis": "城跡の公園で梅の花が見ごろを迎えています。",
    "euc_jp": "城跡の公園で梅の花が見ごろを迎えています。",
    "big5": "今年的春茶比往年晚了十天上市，這是我們來的時候。",
    "euc_kr": "페리가 이주 동안 멈춥니다. 이것은 사실이다.",
    "cp1252": "Die Fähre fährt im März nicht, weil das Schiff überholt wird.",
    "utf-8": "今年的春茶 – 梅の花 – Fähre",
    "utf-16": "今年的春茶 – 梅の花 – Fähre",
}


@pytest.mark.parametrize("encoding", SENTENCES)
def test_the_encoding_of_a_file_shows_in_its_text(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(("id,text\n" + f"1,{SENTENCES[encoding]}\n" * 20).encode(encoding))
    assert shape_of(str(path)).encoding == encoding


def test_a_file_is_opened_once_for_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def counted(path: str, on_bytes: formats.OnBytes) -> AbstractContextManager[formats.Stream]:
        opened.append(path)
        return real(path, on_bytes)

    real = formats.open_stream
    monkeypatch.setattr(formats, "open_stream", counted)
    path = tmp_path / "export"
    path.write_bytes(b'{"a": "The ferry"}\n')
    assert shape_of(str(path)) == ("jsonl", "utf-8")
    assert opened == [str(path)]
    assert shape_of(str(tmp_path)) == (None, "utf-8")


def test_ascii_alone_is_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,text\n1,The ferry\n")
    assert shape_of(str(path)).encoding == "utf-8"


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (b'{"a": 1}\n', "jsonl"),
        (b'\xef\xbb\xbf [{"a": 1}]', "json"),
        (b"id\ttext\n", "tsv"),
        (b"id;text\n", "csv"),
        (gzip.compress(b"id,text\n", mtime=0), "csv"),
        (b"The ferry\n", None),
    ],
)
def test_the_format_of_a_file_without_a_known_name_shows_in_its_first_line(
    tmp_path: Path, content: bytes, format: str | None
) -> None:
    path = tmp_path / "export"
    path.write_bytes(content)
    assert shape_of(str(path)).format == format
