"""Lines of JSON mean the same to the compiled kernels as to Python's reader, or are left to it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeAlias
from uuid import UUID

import pytest
from elasticsearch import JsonSerializer
from hypothesis import example, given
from hypothesis import strategies as st
from opensearchpy.serializer import JSONSerializer

from es_simhash._core.environment import NATIVE
from es_simhash.documents.files import FileDocument, read_documents
from es_simhash.documents.files.json_values import parse_object
from es_simhash.documents.rejected import Rejected
from es_simhash.engines.embedded.mapping.document_terms import RejectedError, encode
from es_simhash.engines.rest.engine import dumps_of
from es_simhash.errors import DocumentError
from tests.support.fuzzing import damaged_bytes, fuzzed_in_a_directory, nested
from tests.support.texts import any_text

kernels = pytest.importorskip("es_simhash_native")

Read: TypeAlias = "tuple[list[Any], list[Rejected]]"

FIELDS: list[list[str]] = [[], ["a"], ["a.b", "b"], ["a.b.c", "c", "a"], ["_id", "id", "_source"], ["a", "a.b", "é"]]

NUMBERS = [
    "0", "-0", "7", "-1.50", "-0.0", "1e3", "1E+05", "1e-7", "1e15", "1e16", "9007199254740993", "0.1", "5e-324",
    "1e99", "1e100", "1e308", "1e309", "-1e999", "01", "1.", ".5", "+1", "-", "1e", "0x1", "1_0", "NaN", "Infinity",
    "-Infinity", "true", "false", "null", "True", "nul", "\u0661", "123456789012345678", "9" * 600,
    "9" * 601, "9" * 5_000, "9" * 201 + ".5", "0." + "1" * 400, "1e0000005",
]  # fmt: skip
STRINGS = [
    r'"\ud800"', r'"\udc00\ud800"', r'"\ud83d\ude00"', r'"\ud83dx"', r'"\ud83d\n"', r'"\/\b\f\n\r\t\"\\"',
    r'"\u0000"', r'"\u00E9\u4e2d"', r'"\x41"', r'"\u12g4"', r'"\u"', '"\x01"', '"\x7f"', '"\0"', '"\t"', '"', "''",
    '"\ufeff"', '"é"', '"7"', '"None"', '"[]"', '"1000.0"', '""',
]  # fmt: skip
OTHERS = ["", "[", "]", "{", "{}", "[]", "[1,]", "[[]]", "[" * 45 + "]" * 45, "[" * 60 + "]" * 60, "[" * 3_000]
NAMES = [
    '"id"',
    '"_id"',
    '"_routing"',
    '"_source"',
    '"a"',
    '"b"',
    '"c"',
    '"a.b"',
    r'"\u0061"',
    '"é"',
    r'"\u00e9"',
    '""',
]
SPACES = st.sampled_from(["", "", "", " ", "\t", "\r", "  ", "\x0b", "\u00a0"])


@st.composite
def spelled_objects(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    members = draw(st.lists(st.tuples(st.sampled_from(NAMES), values, SPACES), max_size=5))
    return "{" + ",".join(f"{space}{name}:{space}{value}" for name, value, space in members) + "}"


@st.composite
def spelled_arrays(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    return "[" + ",".join(draw(st.lists(values, max_size=3))) + draw(SPACES) + "]"


scalars = (
    st.sampled_from([*NUMBERS, *STRINGS, *OTHERS])
    | st.builds(json.dumps, any_text(), ensure_ascii=st.booleans())
    | st.floats().map(json.dumps)
    | st.integers().map(str)
)
values = st.recursive(scalars, lambda inner: spelled_objects(inner) | spelled_arrays(inner), max_leaves=8)
lines = spelled_objects(values).map(str.encode)
any_lines = lines | lines.flatmap(damaged_bytes) | st.binary(max_size=30)


def both_ways(path: Path, **options: Any) -> tuple[Read, Read]:
    """All that is read of a file and made of it, by the compiled kernels and by Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(NATIVE, raising=False)
        compiled = read(path, **options)
        patch.setenv(NATIVE, "0")
        return compiled, read(path, **options)


def read(path: Path, **options: Any) -> Read:
    rejected: list[Rejected] = []
    found = list(read_documents(path, format="jsonl", on_reject=rejected.append, **options))
    return [all_of(each) for each in found], rejected


def all_of(found: FileDocument) -> list[Any]:
    """Everything that is asked of a document, its whole object last, as it is then no line any more."""
    texts = [text_or_problem(found, fields) for fields in FIELDS]
    whole = json.dumps(found.written()), repr(found.document)
    again = [text_or_problem(found, fields) for fields in FIELDS]
    assert again == texts
    return [found.id, found.routing, found.line, texts, *whole]


def text_or_problem(found: FileDocument, fields: Sequence[str]) -> str:
    try:
        return found.text_of(fields)
    except DocumentError as error:
        return f"problem: {error}"


@fuzzed_in_a_directory
@given(st.lists(any_lines, max_size=6), st.sampled_from([None, "id", "_id", "a", "a.b", "a.b.c", ""]))
def test_any_lines_are_read_or_rejected_as_python_does(
    tmp_path: Path, written: list[bytes], id_field: str | None
) -> None:
    (tmp_path / "file").write_bytes(b"\n".join(written))
    compiled, by_python = both_ways(tmp_path / "file", id_field=id_field)
    assert compiled == by_python


@fuzzed_in_a_directory
@given(
    st.sampled_from(NAMES), st.sampled_from([*NUMBERS, *STRINGS, *OTHERS]), st.sampled_from(["%s", '{"b":%s}', "[%s]"])
)
def test_every_odd_value_is_read_or_rejected_as_python_does(tmp_path: Path, name: str, value: str, around: str) -> None:
    inner = around % value
    (tmp_path / "file").write_text(
        f'{{"x": 1, {name}: {inner}}}\n{{"_id": 1, "_source": {{"x": 1, {name}: {inner}}}}}\n', encoding="utf-8"
    )
    compiled, by_python = both_ways(tmp_path / "file")
    assert compiled == by_python


@given(lines)
def test_a_line_that_the_kernels_take_is_one_that_python_takes(line: bytes) -> None:
    raw = line.strip()
    try:
        taken = kernels.JsonLine(raw)
    except kernels.Refused:
        return
    assert repr(taken.record()) == repr(parse_object(raw.decode()))


@example(562949953421312.25)  # as near to the number that ends in .2 as to that in .3
@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: 1e-90 < abs(value) < 1e90))
def test_floats_are_written_as_python_writes_them(value: float) -> None:
    assert_written({"a": [value], "b": float(f"{value:.3g}")})


@given(st.dictionaries(any_text(8).filter(lambda name: name[:1] != "_"), st.integers() | any_text(), min_size=2))
def test_what_is_written_is_what_python_writes(document: dict[str, Any]) -> None:
    assert_written(document)


def assert_written(document: dict[str, Any]) -> None:
    """Check that the line of a document is the same, however it was written."""
    for ascii in (True, False):
        line = kernels.JsonLine(json.dumps(document, ensure_ascii=ascii, separators=(",", ":")).encode())
        assert json.loads(line.written("an id", None)) == {"_id": "an id", **document}
        assert line.written("an id", "r") == json.dumps(
            {"_routing": "r", "_id": "an id", **document}, ensure_ascii=False
        )


def test_ordinary_lines_are_not_left_to_python() -> None:
    for document in (
        {"id": "1", "title": "A storm", "body": '昨夜 "海岸"\n😀', "n": [1, 2.5, None, True], "deep": {"er": {}}},
        {"_index": "i", "_id": "x", "_score": 1.0, "_source": {"body": "text", "meta": {"tags": ["a"]}}},
    ):
        for ascii in (True, False):
            line = kernels.JsonLine(json.dumps(document, ensure_ascii=ascii).encode())
            id, routing = line.names(None)
            assert (id, routing) == (document.get("_id", "1"), None)
            whole: Any = document.get("_source", document)
            assert line.text(["body"], id) == whole["body"]
            assert json.loads(line.written(id, None))["body"] == whole["body"]


def test_lines_of_many_members_and_many_bytes_are_read(tmp_path: Path) -> None:
    many = {f"field {i}": f"{i}" for i in range(5_000)}
    long = {"id": 1, "text": "é\n" * 200_000}
    (tmp_path / "file").write_text(f"{json.dumps(many)}\n{json.dumps(long)}\n", encoding="utf-8")
    compiled, by_python = both_ways(tmp_path / "file")
    assert compiled == by_python
    assert len(compiled[0]) == 2


def test_ids_of_a_stream_are_made_of_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for wanted in ("1", "0"):
        monkeypatch.setenv(NATIVE, wanted)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a": 1, "b": "x"}\n')))
        found.append([(each.id, each.document) for each in read_documents("-", on_reject=print)])
    assert found[0] == found[1]
    assert len(found[0]) == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030", "latin-1"])
def test_other_encodings_are_read_the_same(tmp_path: Path, encoding: str) -> None:
    line = '{"id": "é", "text": "a \\u00e9 é"}\n'
    (tmp_path / "file").write_bytes(line.encode(encoding) + b'{"id": "\xff\xd8", "text": 1}\n')
    compiled, by_python = both_ways(tmp_path / "file", encoding=encoding)
    assert compiled == by_python


class Kind(IntEnum):
    """Integers of a type of their own."""

    ONE = 1


python_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text() | st.sampled_from(["\ud800", 10**400, 5e-324])
    | st.sampled_from([date(2026, 1, 2), b"bytes", Decimal("1.5"), UUID(int=1), {1: 2}, {None: 1}, Kind.ONE]),
    lambda inner: st.lists(inner, max_size=3)
    | st.tuples(inner, inner)
    | st.dictionaries(any_text(8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize("serializer", [JsonSerializer(), JSONSerializer()], ids=["elasticsearch", "opensearch"])
@given(object=st.dictionaries(any_text(8), python_values, max_size=4))
def test_requests_are_written_as_the_clients_write_them(serializer: Any, object: dict[str, Any]) -> None:
    try:
        expected = serializer.dumps(object)
    except Exception as error:
        with pytest.raises(type(error)):
            dumps_of(serializer, type(serializer))(object)
    else:
        assert as_utf8(dumps_of(serializer, type(serializer))(object)) == as_utf8(expected)


@given(st.dictionaries(any_text(8), python_values, max_size=4))
def test_the_embedded_engine_stores_the_same_bytes(document: dict[str, Any]) -> None:
    stored = []
    with pytest.MonkeyPatch.context() as patch:
        for wanted in ("1", "0"):
            patch.setenv(NATIVE, wanted)
            try:
                stored.append(encode(document))
            except RejectedError as error:
                stored.append(error.reason.encode("utf-8", "surrogatepass"))
    assert stored[0] == stored[1]


@pytest.mark.parametrize("object", ["a text", ["a list"], None, {"deep": nested(200)}, {"a": {"b": Mapping}}])
def test_objects_of_other_types_than_dictionaries_are_left_to_the_client(object: Any) -> None:
    with pytest.raises(kernels.Refused):
        kernels.json_bytes(object)


def test_a_serializer_of_the_user_writes_all_itself() -> None:
    class Shouting(JsonSerializer):
        def json_dumps(self, data: Any) -> bytes:
            return super().json_dumps(data).upper()

    assert dumps_of(Shouting(), JsonSerializer)({"a": "b"}) == b'{"A":"B"}'


def as_utf8(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
