""""""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from es_simhash.documents.files import FileDocument, jsonl, read_documents
from es_simhash.documents.files.data_file import ReadOptions, RecordError, decoded
from es_simhash.documents.files.jsonl import parse_object, read_line
from es_simhash.errors import InputError
from tests.support.fuzzing import damaged_bytes, examples
from tests.support.reading import COMPRESS, never, read_bytes
from tests.support.spelled_json import spelled_objects, values
from tests.support.texts import any_text

GOOD = b'{"id": "good", "text": "x"}'

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text(8), inner, max_size=3),
    max_leaves=8,
)
names = any_text(8).filter(lambda name: name not in {"_id", "_routing", "_source"})
documents = st.lists(
    st.dictionaries(names, json_values, min_size=2, max_size=5),
    max_size=5,
)


@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents, st.sampled_from(["", ".gz", ".bz2", ".xz", ".zst"]), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_as_json_lines_is_read_back(
    tmp_path: Path, written: list[dict[str, Any]], suffix: str, ascii: bool, end: str
) -> None:
    content = "".join(json.dumps(document, ensure_ascii=ascii) + end for document in written)
    read, rejected = read_bytes(tmp_path, f"a.jsonl{suffix}", COMPRESS[suffix](content.encode() or b"\n"))
    assert [found.document for found in read] == written
    assert [found.line for found in read] == list(range(1, len(written) + 1))
    assert not rejected


@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=30) | st.just(GOOD), max_size=8), st.integers(0, 2**32))
def test_any_bytes_are_read_or_rejected_line_by_line(tmp_path: Path, lines: list[bytes], seed: int) -> None:
    """An oracle that looks at each line alone finds the documents; all other lines that are not blank fail."""
    lines = [line.replace(b"\n", b"").removeprefix(b"\xef\xbb\xbf") for line in lines]
    random.Random(seed).shuffle(lines)
    read, rejected = read_bytes(tmp_path, "a.jsonl", b"\n" + b"\n".join(lines), id_field="id")
    filled = {number: line for number, line in enumerate(lines, 2) if line.strip()}
    if next(iter(filled.values()), b"").strip() in {b"{", b"["}:
        assert (len(read), len(rejected)) == (0, 1)
        return
    assert [found.line for found in read] == [number for number, line in filled.items() if line == GOOD]
    assert [line.line for line in rejected] == [number for number, line in filled.items() if line != GOOD]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a": 1', "not JSON"),
        (b'{"a": 1,}', "not JSON"),
        (b"nonsense", "not JSON"),
        (b'{"a": "tab\there"}', "not JSON (Invalid control character at character 11)"),
        (b'{"a": "b', "not JSON (Unterminated string starting at character 7)"),
        (b'{"a": 1} {"b": 2}', "goes on after the JSON, at character 9"),
        (b"[1, 2]", "not an object"),
        (b'"text"', "not an object"),
        (b"null", "not an object"),
        (b'{"a": "\xff"}', "not valid utf-8 (invalid start byte at byte 8)"),
        (b'{"a": "\xed\xa0\x80"}', "not valid utf-8"),
        (b'{"a": "\0"}', "NUL"),
        (b"\0\0\0\0", "NUL"),
        (b'{"a": "\\ud800"}', "lone surrogate (\\ud800)"),
        (b'{"\\uDFFF": 1}', "lone surrogate (\\udfff)"),
        (b'{"a": [{"b": "\\ude00\\ud83d"}]}', "lone surrogate (\\ude00)"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": [-Infinity]}', "-Infinity"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": -1e999}', "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "thousands of digits"),
        (b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
        (b'{"_id": {"$oid": "x"}}', "neither a whole number nor a text"),
        (b'{"_id": ""}', "neither a whole number nor a text"),
        (b'{"_id": 1.5}', "neither a whole number nor a text"),
        (b'{"id": 1.5}', "is not a whole number"),
        (b'{"_id": [1]}', "neither a whole number nor a text"),
        (b'{"_id": true}', "neither a whole number nor a text"),
        (b'{"_id": "x", "_source": "text"}', "_source is not an object"),
    ],
)
def test_a_line_that_cannot_be_read_is_rejected_and_the_others_are_read(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    read, rejected = read_bytes(tmp_path, "a.jsonl", GOOD + b"\n\n" + line + b"\n" + GOOD)
    assert [found.line for found in read] == [1, 4]
    assert [(bad.line, bad.file) for bad in rejected] == [(3, str(tmp_path / "a.jsonl"))]
    assert reason in rejected[0].reason
    assert rejected[0].reason.endswith(".")
    assert rejected[0].excerpt[:1] == line.decode("utf-8", "backslashreplace")[:1].replace("\0", "\\")


@pytest.mark.parametrize(
    "line", [b'{"a": "\\ud83d\\ude00"}', b'{"a": "\\\\ud800"}', b'{"a": "\\u0000"}', b'{"a": 1e300}']
)
def test_what_only_looks_wrong_is_read(tmp_path: Path, line: bytes) -> None:
    read, rejected = read_bytes(tmp_path, "a.jsonl", line)
    assert [found.document for found in read] == [json.loads(line)]
    assert not rejected


@given(st.data())
def test_a_line_is_taken_as_the_strict_reader_takes_it(data: st.DataObject) -> None:
    line = data.draw(spelled_objects(values)).encode()
    line = (data.draw(damaged_bytes(line)) if data.draw(st.booleans()) else line).strip()
    options = ReadOptions(None, "utf-8", "utf-8", 10**6, print)
    assert outcome(lambda: read_line(line, options)) == outcome(lambda: parse_object(decoded(line, options)))


def outcome(read: Callable[[], Any]) -> str:
    try:
        return repr(read())
    except RecordError as error:
        return f"rejected: {error}"


def test_of_a_key_that_is_there_twice_the_last_value_counts(tmp_path: Path) -> None:
    read, _ = read_bytes(tmp_path, "a.jsonl", b'{"a": 1, "a": 2}')
    assert read[0].document == {"a": 2}


def test_blank_lines_a_byte_order_mark_crlf_and_a_missing_last_line_feed_are_not_matter(tmp_path: Path) -> None:
    read, rejected = read_bytes(tmp_path, "a.ndjson", b'\xef\xbb\xbf{"id": 1}\r\n  \r\n\r\n\t{"id": 2}\r\n{"id": 3}')
    assert [(found.id, found.line) for found in read] == [("1", 1), ("2", 4), ("3", 5)]
    assert not rejected


@pytest.mark.parametrize("first", [b"{", b"[", b"  {\r"])
def test_json_over_several_lines_is_refused_once_with_a_remedy(tmp_path: Path, first: bytes) -> None:
    read, rejected = read_bytes(tmp_path, "a.jsonl", first + b'\n"a": 1\n}\n' * 5)
    assert not read
    assert [bad.line for bad in rejected] == [1]
    assert "jq -c ." in rejected[0].reason


def test_a_line_with_only_a_brace_later_on_is_a_broken_line_like_others(tmp_path: Path) -> None:
    read, rejected = read_bytes(tmp_path, "a.jsonl", GOOD + b"\n{\n" + GOOD)
    assert [found.line for found in read] == [1, 3]
    assert [bad.line for bad in rejected] == [2]


class TestLongLines:
    def test_a_line_that_is_too_long_is_skipped(self, tmp_path: Path) -> None:
        long = b'{"id": "' + b"x" * 300_000 + b'"}'
        read, rejected = read_bytes(tmp_path, "a.jsonl", b"\n".join([GOOD, long, GOOD, long]), max_line=1000)
        assert [found.line for found in read] == [1, 3]
        assert [bad.line for bad in rejected] == [2, 4]
        assert all("more than 1,000 bytes" in bad.reason and len(bad.excerpt) == 200 for bad in rejected)

    @pytest.mark.parametrize("end", [b"", b"\n"])
    @pytest.mark.parametrize("more", [0, 1])
    def test_the_limit_is_met_to_the_byte(self, tmp_path: Path, end: bytes, more: int) -> None:
        read, rejected = read_bytes(tmp_path, "a.jsonl", GOOD + end, max_line=len(GOOD) - more)
        assert (len(read), len(rejected)) == (1 - more, more)


class TestIds:
    @pytest.mark.parametrize(
        ("line", "id"),
        [
            ({"_id": "x", "id": "y"}, "x"),
            ({"_id": 7}, "7"),
            ({"_id": None, "id": "y"}, "y"),
            ({"id": "y"}, "y"),
            ({"id": 12345678901234567890}, "12345678901234567890"),
            ({"_id": "x", "_source": {"id": "y"}}, "x"),
            ({"_index": "i", "_source": {"id": "y"}}, "y"),
        ],
    )
    def test_an_id_is_found_where_it_usually_is(self, tmp_path: Path, line: dict[str, Any], id: str) -> None:
        read, _ = read_bytes(tmp_path, "a.jsonl", json.dumps(line).encode())
        assert read[0].id == id

    @pytest.mark.parametrize("line", [{"text": "x"}, {"id": None}, {"id": ""}, {"id": {"isbn": 1}}, {"id": False}])
    def test_an_id_is_made_of_path_and_line_if_there_is_none(self, tmp_path: Path, line: dict[str, Any]) -> None:
        read, _ = read_bytes(tmp_path, "a.jsonl", b"\n" + json.dumps(line).encode())
        assert read[0].id == f"{(tmp_path / 'a.jsonl').as_posix()}:2"
        assert read[0].document == line

    @pytest.mark.parametrize(
        ("line", "field"),
        [
            ({"meta": {"sku": "x"}}, "meta.sku"),
            ({"meta.sku": "x"}, "meta.sku"),
            ({"_id": {"$oid": "x"}}, "_id.$oid"),
            ({"_id": "no", "_source": {"meta": {"sku": "x"}}}, "meta.sku"),
            ({"_id": "x", "_source": {"id": "no"}}, "_id"),
        ],
    )
    def test_a_path_names_the_field_of_the_id(self, tmp_path: Path, line: dict[str, Any], field: str) -> None:
        read, _ = read_bytes(tmp_path, "a.jsonl", json.dumps(line).encode(), id_field=field)
        assert read[0].id == "x"

    @pytest.mark.parametrize("line", [{"id": "x"}, {"sku": None}, {"sku": ["x"]}, {"sku": ""}, {"sku": {"a": 1}}])
    def test_a_document_without_the_named_field_is_rejected(self, tmp_path: Path, line: dict[str, Any]) -> None:
        read, rejected = read_bytes(tmp_path, "a.jsonl", json.dumps(line).encode(), id_field="sku")
        assert not read
        assert "'sku'" in rejected[0].reason
        assert rejected[0].excerpt == json.dumps(line)

    def test_the_id_of_the_index_is_not_a_field_of_the_document(self, tmp_path: Path) -> None:
        read, _ = read_bytes(tmp_path, "a.jsonl", b'{"_id": "x", "a": 1}')
        assert read[0].document == {"a": 1}


class TestExports:
    def test_the_lines_of_an_export_are_read_as_their_sources(self, tmp_path: Path) -> None:
        line = {"_index": "i", "_type": "_doc", "_id": "x", "_score": 1, "_source": {"text": "a"}, "sort": [1]}
        read, _ = read_bytes(tmp_path, "a.json", json.dumps(line).encode())
        assert (read[0].id, read[0].document) == ("x", {"text": "a"})

    @pytest.mark.parametrize(
        "lines",
        [
            [{"_id": "x", "_routing": "shop-7", "_source": {"a": 1}}],
            [{"_id": "x", "_routing": "shop-7", "a": 1}],
            [{"_routing": "shop-7", "id": "x", "a": 1}],
            [{"index": {"_id": "x", "routing": "shop-7"}}, {"a": 1}],
            [{"create": {"_id": "x", "_routing": "shop-7"}}, {"a": 1}],
        ],
    )
    def test_routing_stays_next_to_the_document(self, tmp_path: Path, lines: list[Any]) -> None:
        [found], _ = read_bytes(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines)).encode())
        assert (found.id, found.routing) == ("x", "shop-7")
        assert {"_id", "_routing"}.isdisjoint(found.document)

    @pytest.mark.parametrize("routing", ["", True, ["a"]])
    def test_routing_that_is_not_a_value_is_rejected(self, tmp_path: Path, routing: Any) -> None:
        line = {"_id": "x", "_routing": routing, "_source": {}}
        found, [rejected] = read_bytes(tmp_path, "a.jsonl", json.dumps(line).encode())
        assert not found
        assert "_routing" in rejected.reason


class TestBulkLines:
    def test_a_bulk_request_is_read_as_its_documents(self, tmp_path: Path) -> None:
        lines: list[Any] = [{"index": {"_index": "i", "_id": 1}}, {"a": 1}, {"create": {}}, {"id": "x"}]
        content = "\n".join(json.dumps(line) for line in lines)
        read, rejected = read_bytes(tmp_path, "a.jsonl", content.encode())
        assert [(found.id, found.document, found.line) for found in read] == [("1", {"a": 1}, 2), ("x", {"id": "x"}, 4)]
        assert not rejected

    def test_actions_that_make_no_document_are_rejected(self, tmp_path: Path) -> None:
        lines: list[Any] = [
            {"delete": {"_id": "1"}},
            {"update": {"_id": "2"}},
            {"doc": {"a": 1}},
            {"index": {"_id": "3"}},
            {"index": {"_id": "4"}},
            {"a": 4},
            {"a": 5},
            {"index": {"_id": "6"}},
        ]
        read, rejected = read_bytes(tmp_path, "a.jsonl", "\n".join(json.dumps(line) for line in lines).encode())
        assert [found.id for found in read] == ["4"]
        assert [(bad.line, bad.reason.split(".")[0]) for bad in rejected] == [
            (1, "The action deletes a document"),
            (3, "The line updates a part of a document"),
            (4, "The document of this action is missing"),
            (7, "The action of a bulk request is missing before this line"),
            (8, "The document of this action is missing"),
        ]

    @pytest.mark.parametrize("line", [{"index": "a book's index"}, {"index": {"page": 3}}, {"index": {}, "a": 1}])
    def test_a_document_with_a_field_named_like_an_action_is_a_document(self, tmp_path: Path, line: Any) -> None:
        read, _ = read_bytes(tmp_path, "a.jsonl", json.dumps(line).encode())
        assert [found.document for found in read] == [line]


class TestEncodings:
    @pytest.mark.parametrize(
        "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "gb18030", "cp037"]
    )
    def test_a_file_is_read_in_the_encoding_that_is_named(self, tmp_path: Path, encoding: str) -> None:
        # The bytes of these characters include those of a line feed in UTF-16.
        text = "plain\n" if encoding == "cp037" else "Ċ中文\u0a0a😀"
        content = f'{json.dumps({"a": text}, ensure_ascii=False)}\r\n\n{{"a": 2}}'
        read, rejected = read_bytes(tmp_path, "a.jsonl", content.encode(encoding), encoding=encoding)
        assert [(found.document["a"], found.line) for found in read] == [(text, 1), (2, 3)]
        assert not rejected

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
    def test_without_a_byte_order_mark_the_encoding_must_name_the_order(self, encoding: str, tmp_path: Path) -> None:
        read, [rejected] = read_bytes(tmp_path, "a.jsonl", '{"a": 1}\n'.encode(f"{encoding}-le"), encoding=encoding)
        assert read == []
        assert f"Name its encoding {encoding}-le or {encoding}-be." in rejected.reason

    def test_a_line_with_half_a_character_is_rejected_in_utf_16_too(self, tmp_path: Path) -> None:
        lines = ['{"a": 1}\n', '{"a": "\ud800"}\n', '{"a": 3}\n', '{"a": 4}']
        content = "".join(lines).encode("utf-16-le", "surrogatepass")[:-1]
        read, rejected = read_bytes(tmp_path, "a.jsonl", content, encoding="utf-16-le")
        assert [found.line for found in read] == [1, 3]
        assert [bad.line for bad in rejected] == [2, 4]
        assert all("not valid utf-16-le" in bad.reason for bad in rejected)

    def test_the_wrong_encoding_is_named_for_each_line(self, tmp_path: Path) -> None:
        content = '{"a": "中"}\n{"a": "b"}'.encode("gb18030")
        read, rejected = read_bytes(tmp_path, "a.jsonl", content)
        assert [found.line for found in read] == [2]
        assert [bad.line for bad in rejected] == [1]


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
