from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from es_simhash.documents.files import FileDocument, jsonl, read_documents
from es_simhash.errors import InputError
from tests.support.fuzzing import examples
from tests.support.reading import COMPRESS, never, read_bytes
from tests.unit.documents.files.test_jsonl import documents


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_BLOCK", 7)


@pytest.mark.usefixtures("_small_blocks")
@settings(examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents, st.sampled_from([None, 0, 2]), st.sampled_from(sorted(COMPRESS)), st.booleans())
def test_what_is_written_as_an_array_is_read_back(
    tmp_path: Path, written: list[dict[str, Any]], indent: int | None, suffix: str, ascii: bool
) -> None:
    """However the blocks cut it, and each element with the line that it begins on."""
    content = json.dumps(written, indent=indent, ensure_ascii=ascii)
    read, rejected = read_bytes(tmp_path, f"a.json{suffix}", COMPRESS[suffix](content.encode()))
    assert [found.document for found in read] == written
    assert not rejected
    lines = content.split("\n")
    assert all(lines[found.line - 1].strip()[:1] in {"{", "["} for found in read)
    assert len({found.line for found in read}) == (len(read) if indent is not None else min(len(read), 1))


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_an_array_is_read_in_the_encoding_that_is_named(tmp_path: Path, encoding: str) -> None:
    read, rejected = read_bytes(tmp_path, "a.json", '\n [{"文": "Ċ😀"} ,{}] \n'.encode(encoding), encoding=encoding)
    assert [(found.document, found.line) for found in read] == [({"文": "Ċ😀"}, 2), ({}, 2)]
    assert not rejected


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        (b"1", "not an object"),
        (b'"x"', "not an object"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "thousands of digits"),
        (b'{"a": "\\ud800"}', "lone surrogate"),
        (b'{"a": "\xff"}', "not valid utf-8"),
        (b'{"a": "\0"}', "not JSON"),
    ],
)
def test_an_element_that_cannot_be_used_is_rejected_and_the_others_are_read(
    tmp_path: Path, element: bytes, reason: str
) -> None:
    read, rejected = read_bytes(tmp_path, "a.json", b'[{"id": 1},\n' + element + b',\n{"id": 3}]')
    assert [(found.id, found.line) for found in read] == [("1", 1), ("3", 3)]
    assert [bad.line for bad in rejected] == [2]
    assert reason in rejected[0].reason


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        (b',\n{"a": }, {"id": 3}]', "not JSON"),
        (b',\n{"a": "x', "not JSON (Unterminated string"),
        (b",\n{", "not JSON"),
        (b",\n]", "not JSON"),
        (b",\n", "not JSON"),
        (b'\n{"id": 2}]', "After element 1 of the array comes '{'. Put a comma or ] there."),
        (b"\n", "After element 1 of the array comes the end of the file"),
        (b"]\n[]", "goes on after the end of the array"),
        (b",\n" + b"[" * 200_000, "nested too deeply"),
    ],
)
def test_a_broken_array_is_an_error_that_names_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: bytes, reason: str, small: bool
) -> None:
    if small and len(rest) < 1000:
        monkeypatch.setattr(jsonl, "_BLOCK", 1)
    with pytest.raises(InputError) as caught:
        read_bytes(tmp_path, "a.json", b'[{"id": 1}' + rest)
    assert str(caught.value).startswith(f"'{tmp_path}/a.json' is broken at line 2. ")
    assert reason in str(caught.value)


@pytest.mark.parametrize("length", [90, 1_000_000])
def test_an_element_that_is_too_long_is_an_error(tmp_path: Path, length: int) -> None:
    content = b'[{"id": 1},\n{"a": "' + b"x" * length + b'"}, {"id": 3}]'
    with pytest.raises(
        InputError, match=r"line 2\. Element 2 of the array, .*, has more than 80 characters\. Split it"
    ):
        read_bytes(tmp_path, "a.json", content, max_line=80)


def test_all_elements_before_a_damaged_place_are_read(tmp_path: Path) -> None:
    whole = [{"id": number, "text": str(number) * 50} for number in range(10_000)]
    packed = gzip.compress(json.dumps(whole, indent=0).encode())
    (tmp_path / "a.json.gz").write_bytes(packed[: len(packed) // 2])
    read: list[FileDocument] = []
    with pytest.raises(InputError, match=r"line ([\d,]+)\. The file breaks off there") as caught:
        read.extend(read_documents(tmp_path / "a.json.gz", on_reject=never))
    assert 1000 < len(read) < 10_000
    assert [found.document for found in read] == whole[: len(read)]
    assert f"line {read[-1].line + 4:,}. " in str(caught.value)


def test_json_lines_in_a_file_named_json_are_read(tmp_path: Path) -> None:
    read, rejected = read_bytes(tmp_path, "a.json", b'{"id": 1}\n{"id": 2}\nbad\n')
    assert [found.id for found in read] == ["1", "2"]
    assert [bad.line for bad in rejected] == [3]


def test_an_empty_array_has_no_documents(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "a.json", b" [ ] \n") == ([], [])
