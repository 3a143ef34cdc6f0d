"""Files of any content are read, or refused by name; what cannot be used is rejected, and the rest is there."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.documents.files import FileDocument, read_documents
from es_simhash.documents.files.data_file import zstd
from es_simhash.documents.sources import Rejected
from es_simhash.errors import InputError
from es_simhash.quality.labels import Labels, read_labels
from tests.support.fuzzing import damaged_bytes, fuzzed_in_a_directory, json_values

DOCUMENTS: list[dict[str, Any]] = [
    {"_id": "1", "text": "a storm hit the coast", "n": 1.5, "tags": ["x", "é"]},
    {"id": 2, "text": "昨夜、海岸に嵐が来た", "deep": {"er": [None, True]}},
    {"_id": "3", "_source": {"text": 'a "quoted" text,\nof two lines'}, "_routing": "r"},
]
JSONL = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in DOCUMENTS).encode()
TABLE = 'id,text\n1,"a ""quoted"", text"\n2,"of\ntwo lines"\n3,昨夜\n'.encode()
BULK = "".join(f'{{"index":{{"_id":"{i}"}}}}\n{{"text":"storm {i}"}}\n' for i in range(3)).encode()
VALID = {
    "jsonl": JSONL,
    "json": json.dumps(DOCUMENTS, ensure_ascii=False, indent=1).encode(),
    "csv": TABLE,
    "tsv": TABLE.replace(b",", b"\t"),
    "text": b"a storm hit the coast",
}
ENCODINGS = ("utf-8", "utf-16", "utf-32-le", "gb18030", "shift_jis", "latin-1", "utf-7")
COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstd().compress(data),
}


def read(path: Path, **options: Any) -> tuple[list[FileDocument], list[Rejected]]:
    """The content of a file; each document and each rejection must be whole."""
    rejected: list[Rejected] = []
    found = list(read_documents(path, on_reject=rejected.append, **options))
    for each in found:
        assert each.id
        assert isinstance(each.document, dict)
        json.dumps(each.document, allow_nan=False, ensure_ascii=False).encode()
    for line in rejected:
        assert line.line >= 1
        assert line.reason.endswith(".")
        assert line.excerpt.isprintable()
    return found, rejected


def assert_says(error: InputError, words: str) -> None:
    assert words in str(error)


@fuzzed_in_a_directory
@given(data=st.data(), format=st.sampled_from(sorted(VALID)), encoding=st.sampled_from(ENCODINGS))
def test_any_bytes_are_read_or_rejected(data: st.DataObject, format: str, encoding: str, tmp_path: Path) -> None:
    content = data.draw(st.binary(max_size=60) | damaged_bytes(VALID[format]) | damaged_bytes(BULK))
    (tmp_path / "file").write_bytes(content)
    longest = data.draw(st.integers(1, 300))
    try:
        found, rejected = read(tmp_path / "file", format=format, encoding=encoding, max_line=longest)
    except InputError as error:
        assert format in {"json", "csv", "tsv"}
        assert_says(error, "is broken at line")
        return
    assert all(len(json.dumps(each.document)) < 20 * longest + 100 for each in found)
    assert found or rejected or format != "text"


@fuzzed_in_a_directory
@given(data=st.data(), suffix=st.sampled_from(sorted(COMPRESSED)))
def test_a_damaged_archive_is_read_as_far_as_it_goes(data: st.DataObject, suffix: str, tmp_path: Path) -> None:
    whole = COMPRESSED[suffix](JSONL)
    (tmp_path / f"file.jsonl{suffix}").write_bytes(content := data.draw(damaged_bytes(whole)))
    try:
        found, rejected = read(tmp_path / f"file.jsonl{suffix}")
    except InputError as error:
        assert_says(error, "is not compressed as its name says")
    else:
        assert rejected or len(found) == len(DOCUMENTS) or content[: len(whole)] == whole


lines = st.binary(max_size=30).filter(lambda line: b"\n" not in line)
lines |= json_values().map(lambda value: json.dumps(value).encode())
lines |= st.sampled_from(
    [b'{"a":1}{"b":2}', b"1" * 5000, b'{"a":1e999}', b'{"a":"\\ud800"}', b"\xef\xbb\xbf{}", b"\r", b"{"]
)


@fuzzed_in_a_directory
@given(given_lines=st.lists(lines, min_size=1, max_size=5))
def test_every_line_is_a_document_or_rejected_and_bad_ones_spoil_no_others(
    given_lines: list[bytes], tmp_path: Path
) -> None:
    good = b'{"_id":"good","text":"storm"}\n'
    (tmp_path / "file.jsonl").write_bytes(good + b"".join(line + b"\n" + good for line in given_lines))
    found, rejected = read(tmp_path / "file.jsonl")
    assert sum(each.id == "good" for each in found) >= len(given_lines) + 1
    of_lines = [*(each.line for each in found), *(each.line for each in rejected)]
    assert sorted(of_lines) == [
        number
        for number, line in enumerate([good, *(each for bad in given_lines for each in (bad, good))], 1)
        if line.strip()
    ]


@fuzzed_in_a_directory
@given(rows=st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=2, max_size=2)))
def test_a_table_that_python_writes_is_read_as_it_was(rows: list[list[str]], tmp_path: Path) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows])
    (tmp_path / "file.csv").write_text(written.getvalue(), encoding="utf-8", newline="")
    found, rejected = read(tmp_path / "file.csv")
    assert rejected == []
    assert [each.document for each in found] == [
        {name: cell for name, cell in zip("ab", row, strict=True) if cell} for row in rows
    ]


def test_what_is_nested_too_deeply_is_rejected(tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    (tmp_path / "file").write_text(f'{{"a": {deep}}}\n{{"b": 1}}\n')
    found, [rejected] = read(tmp_path / "file", format="jsonl")
    assert "nested too deeply" in rejected.reason
    assert [each.document for each in found] == [{"b": 1}]


@fuzzed_in_a_directory
@given(data=st.data())
def test_a_damaged_parquet_file_is_read_or_rejected(data: st.DataObject, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "file.parquet").write_bytes(data.draw(damaged_bytes(parquet())))
    found, rejected = read(tmp_path / "file.parquet")
    assert rejected or len(found) == 2


def parquet() -> bytes:
    import pyarrow.parquet

    table = pyarrow.table({"id": ["1", "2"], "text": ["a storm", "昨夜"], "n": [1.5, None], "tags": [["x"], []]})
    written = io.BytesIO()
    pyarrow.parquet.write_table(table, written)
    return written.getvalue()


LABELS = json_values(("id", "ids", "cluster", "a", "b", "label"), (0, 1, "0", "true", "x"))


@fuzzed_in_a_directory
@given(records=st.lists(LABELS, min_size=1, max_size=5))
def test_labels_are_read_or_rejected(records: list[Any], tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    rejected: list[Rejected] = []
    try:
        labels = read_labels(str(tmp_path / "labels.jsonl"), rejected.append)
    except InputError as error:
        assert_says(error, "has no labels")
    else:
        assert isinstance(labels, Labels)
        assert len({type(each) for each in labels.labels}) == 1
