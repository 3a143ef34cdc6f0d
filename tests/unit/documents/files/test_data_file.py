"""The format and the encoding that the beginning of a file shows."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from es_simhash.documents.files import data_file, read_documents
from es_simhash.documents.files.data_file import compression_of, shape_of
from es_simhash.errors import InputError, MissingExtraError
from tests.support.reading import COMPRESS, never, read, read_bytes

LINES = [json.dumps({"id": str(number), "text": random.Random(number).randbytes(40).hex()}) for number in range(2500)]
CONTENT = ("\n".join(LINES) + "\n").encode()
PACKED = [suffix for suffix in COMPRESS if suffix]


@pytest.mark.parametrize("suffix", PACKED)
def test_compression_is_recognised_by_the_content(tmp_path: Path, suffix: str) -> None:
    packed = COMPRESS[suffix](CONTENT)
    assert compression_of(packed[:10]) == suffix
    assert compression_of(COMPRESS[suffix](b"")[:10]) == suffix
    found, rejected = read_bytes(tmp_path, "a.jsonl", packed)
    assert len(found) == len(LINES)
    assert not rejected


@pytest.mark.parametrize("text", [b"", b"{", b'{"a": 1}\n', b"BZh9,a,b,c,d", b"(header"])
def test_text_is_not_taken_for_compressed(text: bytes) -> None:
    assert compression_of(text[:10]) is None


@pytest.mark.parametrize("suffix", PACKED)
def test_parts_one_after_the_other_are_one_file(tmp_path: Path, suffix: str) -> None:
    half = CONTENT.index(b"\n", len(CONTENT) // 2) - 10
    packed = COMPRESS[suffix](CONTENT[:half]) + COMPRESS[suffix](CONTENT[half:])
    found, rejected = read_bytes(tmp_path, f"a.jsonl{suffix}", packed)
    assert [item.id for item in found] == [str(number) for number in range(len(LINES))]
    assert not rejected


def test_a_zstd_file_may_begin_with_a_frame_to_be_skipped(tmp_path: Path) -> None:
    frame = b"\x50\x2a\x4d\x18\x04\0\0\0rest"
    found, _ = read_bytes(tmp_path, "a.jsonl.zst", frame + COMPRESS[".zst"](CONTENT))
    assert len(found) == len(LINES)


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_what_comes_before_a_cut_is_read_and_the_line_of_the_cut_is_rejected(
    tmp_path: Path, suffix: str, name: str
) -> None:
    packed = COMPRESS[suffix](CONTENT if name == "a.jsonl" else b"id,b\n" + b'"x","y"\n' * 20_000)
    found, rejected = read_bytes(tmp_path, name + suffix, packed[: int(len(packed) * 0.9)])
    assert [bad.line for bad in rejected] == [(found[-1].line if found else int(name == "a.csv")) + 1]
    assert rejected[0].reason.startswith("The file breaks off here (")
    if name == "a.jsonl" and suffix != ".bz2":  # its blocks have 900 kB
        assert len(found) > len(LINES) // 3
        assert [item.document["text"] for item in found] == [json.loads(line)["text"] for line in LINES[: len(found)]]


def test_only_a_missing_checksum_loses_no_line(tmp_path: Path) -> None:
    found, rejected = read_bytes(tmp_path, "a.jsonl.gz", gzip.compress(CONTENT)[:-4])
    assert len(found) == len(LINES)
    assert [bad.line for bad in rejected] == [len(LINES) + 1]


@pytest.mark.parametrize("suffix", PACKED)
def test_damage_in_the_middle_is_rejected(tmp_path: Path, suffix: str) -> None:
    packed = bytearray(COMPRESS[suffix](CONTENT))
    packed[len(packed) // 2 : len(packed) // 2 + 100] = b"\xff" * 100
    _, rejected = read_bytes(tmp_path, f"a.jsonl{suffix}", bytes(packed))
    assert "breaks off" in rejected[-1].reason


@pytest.mark.parametrize("suffix", PACKED)
def test_a_file_that_is_cut_at_once_or_holds_nothing_is_rejected(tmp_path: Path, suffix: str) -> None:
    _, rejected = read_bytes(tmp_path, f"a.jsonl{suffix}", COMPRESS[suffix](CONTENT)[:12])
    assert [(bad.line, bad.reason[:19]) for bad in rejected] == [(1, "The file breaks off")]
    _, rejected = read_bytes(tmp_path, f"a.jsonl{suffix}", COMPRESS[suffix](b""))
    assert [(bad.line, bad.reason) for bad in rejected] == [(1, "The file is empty. Leave it out.")]


@pytest.mark.parametrize("suffix", PACKED)
def test_a_name_that_promises_another_compression_is_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match="not compressed as its name says"):
        read_bytes(tmp_path, f"a.jsonl{suffix}", CONTENT)


def test_without_the_library_for_zstd_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is read; and other files are read without it, damaged ones too."""
    (tmp_path / "a.jsonl").write_bytes(CONTENT)
    (tmp_path / "b.jsonl.zst").write_bytes(COMPRESS[".zst"](CONTENT))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(CONTENT)[:-4])
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "backports", None)
    with pytest.raises(MissingExtraError, match=r"pip install '[^']+\[zstd\]'"):
        read_documents([tmp_path / "a.jsonl", tmp_path / "b.jsonl.zst"], on_reject=never)
    found, rejected = read(tmp_path / "c.jsonl.gz")
    assert (len(found), len(rejected)) == (len(LINES), 1)


PEAK = """
import resource, sys
from es_simhash.documents.files import read_documents
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rejected = []
count = sum(1 for _ in read_documents([sys.argv[1]], on_reject=rejected.append, max_line=1 << 20))
print(count, len(rejected), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of the peak differs")
@pytest.mark.parametrize("kind", ["lines", "one line", "array"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, kind: str) -> None:
    """200 MB (100 MB of an array) in a small gzip file, with a limit of 1 MiB a line, stay within 30 MiB."""
    line = b'{"text": "' + b"word " * 10_000 + b'"}'
    path = tmp_path / ("a.json.gz" if kind == "array" else "a.jsonl.gz")
    with gzip.open(path, "wb", compresslevel=1) as packed:
        if kind == "array":
            packed.write(b"[" + line)
            for _ in range(20):
                packed.write((b",\n" + line) * 100)
            packed.write(b"]")
        else:
            for _ in range(40):
                packed.write((line + (b"\n" if kind == "lines" else b"")) * 100)
    done = subprocess.run([sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True)
    count, rejected, peak = map(int, done.stdout.split())
    expected = {"lines": (4000, 0), "one line": (0, 1), "array": (2001, 0)}
    assert (count, rejected) == expected[kind]
    assert peak < 30 * 1024


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

    def counted(path: str, on_bytes: data_file.OnBytes) -> AbstractContextManager[data_file.Stream]:
        opened.append(path)
        return real(path, on_bytes)

    real = data_file.open_stream
    monkeypatch.setattr(data_file, "open_stream", counted)
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
