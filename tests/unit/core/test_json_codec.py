"""JSON is read and written as the standard library and the clients do it, whatever msgspec does with it.

The length of JSON that is not written.

Settings are truth values, however a server writes them; the values at a path of many documents.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import IntEnum
from typing import Any
from uuid import UUID

import pytest
from elasticsearch import JsonSerializer
from hypothesis import example, given
from hypothesis import strategies as st
from opensearchpy.serializer import JSONSerializer

from es_simhash import Documents, Scheme
from es_simhash._core.json_codec import (
    column_at,
    dumps,
    is_false,
    is_true,
    json_length,
    json_line,
    json_lines,
    loads,
    parse_json,
    values_at,
)
from es_simhash.engines.embedded.mapping import RejectedError, encode
from es_simhash.engines.rest.engine import Writer
from tests.support.corpus import corpus
from tests.support.fuzzing import damaged_bytes, json_values, nested
from tests.support.spelled_json import NUMBERS, OTHERS, STRINGS, spelled_objects, values
from tests.support.texts import any_text

any_json = (
    values.map(lambda text: text.encode("utf-8", "surrogatepass"))
    | values.flatmap(lambda text: damaged_bytes(text.encode("utf-8", "surrogatepass")))
    | st.sampled_from([b"\xef\xbb\xbf{}", '{"a": 1}'.encode("utf-16"), '{"a": 1}'.encode("utf-16-le"), b"", b"[1] 2"])
)
ODD = [*NUMBERS, *STRINGS, *OTHERS, '{"a":1,"a":2}', "[1] 2", "\ufeff1", "\ud800", '"\ud800"']


def outcome(read: Callable[[Any], Any], text: bytes | str) -> str:
    try:
        return repr(read(text))
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


@given(any_json | st.binary(max_size=20))
def test_any_bytes_are_read_as_python_reads_them(text: bytes) -> None:
    assert outcome(loads, text) == outcome(json.loads, text)


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_are_read_as_python_reads_them(text: str) -> None:
    for each in (text, f'{{"a": [{text}]}}'):
        assert outcome(loads, each) == outcome(json.loads, each)
        encoded = each.encode("utf-8", "surrogatepass")
        assert outcome(loads, encoded) == outcome(json.loads, encoded)


@given(spelled_objects(values), st.integers(0, 40))
def test_what_is_cut_off_is_refused_as_python_refuses_it(text: str, length: int) -> None:
    assert outcome(loads, text[:length]) == outcome(json.loads, text[:length])


def test_what_msgspec_refuses_is_read_otherwise() -> None:
    assert loads('{"a": NaN}', len) == 10
    assert loads('{"a": 1}', len) == {"a": 1}


@given(value=json_values())
def test_what_json_writes_is_parsed(value: Any) -> None:
    text = json.dumps(value)
    assert json.dumps(parse_json(text)) == text


@given(content=damaged_bytes(b'{"id": [1, "\\ud800"]}') | st.binary())
def test_anything_else_is_a_value_error(content: bytes) -> None:
    try:
        parse_json(content)
    except ValueError:
        return


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 5_000, "\ud800", b"\xff"])
def test_so_is_what_python_cannot_read(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(text)


class Kind(IntEnum):
    """Integers of a type of their own."""

    ONE = 1


class Name(str):
    """Texts of a type of their own."""

    __slots__ = ()


python_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text() | st.sampled_from(["\ud800", 10**400])
    | st.sampled_from([date(2026, 1, 2), datetime(2026, 1, 2, tzinfo=timezone.utc), b"bytes", Decimal("1.5"), {1, 2}])
    | st.sampled_from([UUID(int=1), {1: 2}, {None: 1}, {True: 1}, Kind.ONE, Name("a"), {Name("a"): 1}]),
    lambda inner: st.lists(inner, max_size=3)
    | st.tuples(inner, inner)
    | st.dictionaries(any_text(8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
objects = st.dictionaries(any_text(8), python_values, max_size=4)


def normal(text: bytes | str) -> str:
    """Return JSON with all floats in one form."""
    return json.dumps(json.loads(text if isinstance(text, str) else text.decode()))


@pytest.mark.parametrize("kind", [JsonSerializer, JSONSerializer], ids=["elasticsearch", "opensearch"])
@given(object=objects)
def test_requests_are_written_as_the_clients_write_them(kind: Any, object: dict[str, Any]) -> None:
    serializer = kind()
    writer = Writer(serializer, kind)
    try:
        expected = serializer.dumps(object)
        expected.encode() if isinstance(expected, str) else expected.decode()
    except Exception as error:
        assert writer.all([object]) is None
        with pytest.raises(type(error)):
            writer.one(object)
    else:
        written = writer.one(object)
        assert normal(written) == normal(expected)
        assert writer.all([{}, object]) in (None, b"{}\n" + written + b"\n")


@given(objects)
def test_the_embedded_engine_stores_what_python_writes_or_says_why_not(document: dict[str, Any]) -> None:
    try:
        expected = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        with pytest.raises(RejectedError, match=re.escape(str(error))):
            encode(document)
    else:
        assert normal(encode(document)) == normal(expected)


@example({"a": [1e16, 1e-5, 5e-324, -0.0, 10**30, '\x7f\u2028"\\/\n\x01', "é"], "b": {}, "c": []})
@given(st.dictionaries(any_text(8), st.integers() | any_text() | st.lists(any_text(3) | st.none()), max_size=4))
def test_lines_are_written_as_python_writes_them_but_for_the_form_of_floats(document: dict[str, Any]) -> None:
    expected = json.dumps(document, ensure_ascii=False)
    assert json_line(document).replace("1e16", "1e+16").replace("0.00001", "1e-05") == expected


def test_a_line_may_have_what_msgspec_does_not_write() -> None:
    assert json_line({"a": float("nan"), "b": Name("x"), "c": None}) == '{"a": NaN, "b": "x", "c": null}'


def test_plain_values_are_written_at_once_and_others_otherwise() -> None:
    assert json_lines([{"a": [1, 2.5, None, True, ("é",)]}, {}]) == '{"a":[1,2.5,null,true,["é"]]}\n{}\n'.encode()
    holding: list[Any] = []
    holding.append(holding)
    others = {1: 2}, {1, 2}, b"a", Name("a"), Mapping, holding, nested(100_000), 10**5000
    for odd in (float("nan"), {"a": float("inf")}, *others):
        assert json_lines([{}, odd]) is None
        assert dumps({"a": [odd]}, lambda _: "otherwise") == "otherwise"


def test_a_serializer_of_the_user_writes_all_itself() -> None:
    class Shouting(JsonSerializer):
        def json_dumps(self, data: Any) -> bytes:
            return super().json_dumps(data).upper()

    writer = Writer(Shouting(), JsonSerializer)
    assert writer.all([{"a": "b"}]) is None
    assert writer.one({"a": "b"}) == b'{"A":"B"}'


PLAIN = st.text(st.characters(min_codepoint=0x23, exclude_characters='\\"'))
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, min_size=1) | st.dictionaries(PLAIN, inner, min_size=1))


def written(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


@given(VALUES)
def test_texts_count_as_they_are_and_so_does_what_is_around_them(value: Any) -> None:
    assert json_length(value) == written(value)


def test_documents_and_embeddings_are_about_as_long_as_said() -> None:
    for document in Documents(Scheme(), ["title", "body"]).add_fields_to_all(corpus(20)):
        assert json_length(document) == pytest.approx(written(document), rel=0.02)
    embedding = [random.Random(4).gauss(0, 1) for _ in range(384)]
    assert json_length({"embedding": embedding}) == pytest.approx(written({"embedding": embedding}), rel=0.1)


def test_what_json_has_in_other_forms_counts_too() -> None:
    assert json_length({1: ("a", "b")}) == written({"1": ["a", "b"]})
    assert json_length(None) > 0


def test_what_is_too_deep_for_any_engine_has_no_length() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert json_length({"body": endless}) == 0


@pytest.mark.parametrize(
    ("written", "is_on", "is_off"),
    [
        (True, True, False),
        ("true", True, False),
        ("True", True, False),
        (False, False, True),
        ("false", False, True),
        ("False", False, True),
        (None, False, False),
        ("strict", False, False),
        (0, False, False),
    ],
)
def test_a_setting_is_read_as_a_value_or_as_text(written: object, is_on: bool, is_off: bool) -> None:
    assert (is_true(written), is_false(written)) == (is_on, is_off)


OBJECTS = st.recursive(
    st.none() | st.integers(0, 2) | st.just([]) | st.just([1, 2]),
    lambda inner: st.dictionaries(st.sampled_from(["a", "b", "a.b", "b.a"]), inner, max_size=2),
    max_leaves=6,
)
DOCUMENTS = st.lists(st.dictionaries(st.sampled_from(["a", "b", "a.b"]), OBJECTS, max_size=2), max_size=3)


@given(DOCUMENTS, st.sampled_from(["a", "a.b", "a.b.a"]))
def test_a_column_has_the_one_value_of_each_document_at_a_path(known: list[dict[str, Any]], path: str) -> None:
    column = column_at(known, path)
    if column is None:
        assert "." in path
        return
    for document, value in zip(known, column, strict=True):
        found = [each for each in values_at(document, path) if each is not None]
        if not isinstance(value, list):
            assert found == ([] if value is None else [value])


def test_objects_and_dotted_names_make_one_column() -> None:
    assert column_at([{"a": {"b": 1}}, {}, {"a": None}], "a.b") == [1, None, None]
    assert column_at([{"a.b": 1}, {"a.b": 2}], "a.b") == [1, 2]
    assert column_at([{"a.b": 1, "a": {"b": 2}}], "a.b") is None
    assert column_at([{"a": [{"b": 1}]}], "a.b") is None


@given(DOCUMENTS, st.integers(0, 3))
def test_arrays_at_a_path_are_looked_through(known: list[dict[str, Any]], depth: int) -> None:
    wrapped: Any = known
    for _ in range(depth):
        wrapped = [wrapped]
    assert list(values_at(wrapped, "a.b")) == [value for each in known for value in values_at(each, "a.b")]


def test_values_may_lie_deeper_than_functions_may_call_each_other() -> None:
    assert list(values_at(nested(), "a")) == []
    assert list(values_at({"a": nested()}, "a")) == [1]
    assert list(values_at([{"a": nested()}, {"a": 2}], "a")) == [1, 2]
