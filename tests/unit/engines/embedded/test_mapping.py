"""Mappings of the embedded engine: what they may say, how they grow, and what documents add to them.

Texts are split into words as Elasticsearch's analyzers do, the same with compiled kernels and without.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.environment import NATIVE
from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded import files
from es_simhash.engines.embedded.files import StoredMapping
from es_simhash.engines.embedded.mapping import (
    IndexMapping,
    RejectedError,
    leaves,
    standard,
    terms,
    whitespace,
    with_new_fields,
)
from es_simhash.errors import IndexStateError, MappingError
from es_simhash.text.words import words

KEYWORD = {"type": "keyword"}


def mapping(**properties: Any) -> IndexMapping:
    return IndexMapping.of({"properties": properties})


def grown(start: IndexMapping, document: Json) -> Json:
    properties: Json = with_new_fields(start, leaves(document)).body["properties"]
    return properties


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"runtime": {}}, "runtime"),
        ({"dynamic_templates": []}, "dynamic_templates"),
        ({"dynamic": "runtime"}, "runtime"),
        ({"properties": {"a": "keyword"}}, "'a'"),
        ({"properties": {"a": {"type": "keyword", "normalizer": "lowercase"}}}, "normalizer"),
        ({"properties": {"a": {"type": "keyword", "copy_to": "b"}}}, "copy_to"),
        ({"properties": {"a": {"type": "text", "analyzer": "ik_max_word"}}}, "ik_max_word"),
        ({"properties": {"a": {"type": "keyword", "analyzer": "standard"}}}, "standard"),
        ({"properties": {"a": {"type": "date", "format": "dd.MM.yyyy"}}}, "dd.MM.yyyy"),
        ({"properties": {"a": {"properties": {"b": {"type": "long", "null_value": 0}}}}}, "a.b"),
        ({"properties": {"a": {"type": "geo_point", "fields": {"b": {"ignore_above": 20}}}}}, "'a'"),
        ({"properties": {"a": {"type": "text", "analyzer": ["standard"]}}}, "standard"),
        ({"properties": {"a": {"type": "keyword", "ignore_above": "256"}}}, "ignore_above"),
        ({"properties": {"a": {"type": "keyword", "fields": {"b": {}}}}}, "'a'"),
        ({"properties": {"a": {"properties": None}}}, "'a'"),
        ({"properties": {"a..b": KEYWORD}}, "a..b"),
        ({"properties": {"": KEYWORD}}, "''"),
        ({"properties": {"a": KEYWORD, "a.b": KEYWORD}}, "'a'"),
        ({"properties": {f"f{i}": KEYWORD for i in range(1001)}}, "1001"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_unsupported_mapping_is_refused(body: Json, named: str) -> None:
    with pytest.raises(MappingError) as caught:
        IndexMapping.of(body)
    assert named in str(caught.value)


def test_types_that_are_only_stored_take_any_parameter() -> None:
    definition = {"type": "dense_vector", "dims": 3, "similarity": "cosine"}
    vector = mapping(vector=definition)
    assert vector.body["properties"]["vector"] == definition
    assert not vector.fields["vector"].indexed
    assert terms(leaves({"vector": [1.0, 2.0, 3.0]}), vector)["words"] == []


def test_a_name_with_dots_is_an_object_within_another() -> None:
    dotted = IndexMapping.of({"properties": {"a.b": KEYWORD, "a.c.d": KEYWORD}})
    assert dotted.body["properties"] == {"a": {"properties": {"b": KEYWORD, "c": {"properties": {"d": KEYWORD}}}}}


def test_terms_of_different_fields_never_meet() -> None:
    fields = mapping(**{"a": KEYWORD, "a=b": KEYWORD, "a b": KEYWORD, "a%20b": KEYWORD}).fields.values()
    prefixes = [field.term_prefix for field in fields]
    assert not any(one.startswith(other) for one in prefixes for other in prefixes if one is not other)
    assert not any(" " in prefix for prefix in prefixes)


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        (KEYWORD, {"type": "text"}, "text"),
        (KEYWORD, {"properties": {"x": KEYWORD}}, "object"),
        ({"properties": {"x": KEYWORD}}, KEYWORD, "keyword"),
        ({"type": "object", "enabled": False}, {"properties": {"x": KEYWORD}}, "enabled"),
        (KEYWORD, {"type": "keyword", "index": False}, "index"),
        ({"type": "text"}, {"type": "text", "analyzer": "whitespace"}, "analyzer"),
        ({"type": "text", "fields": {"f": KEYWORD}}, {"type": "text", "fields": {"f": {"type": "long"}}}, "a.f"),
    ],
    ids=str,
)
def test_a_field_stays_what_it_is(first: Json, second: Json, named: str) -> None:
    with pytest.raises(MappingError, match="'a") as caught:
        mapping(a=first).merged({"properties": {"a": second}})
    assert named in str(caught.value)


def test_merging_alters_neither_mapping() -> None:
    start = mapping(a={"properties": {"x": KEYWORD}})
    before = json.dumps(start.body)
    merged = start.merged({"properties": {"a": {"properties": {"y": {"type": "text", "fields": {"k": KEYWORD}}}}}})
    assert json.dumps(start.body) == before
    assert set(merged.fields) == {"a.x", "a.y", "a.y.k"}
    assert merged.fields["a.y.k"].source == "a.y"


def test_a_document_brings_its_fields_along() -> None:
    string = {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}
    document = {
        "s": ["a"],
        "o": [{"x": 1}, {"y": True}],
        "z.w": 1.5,
        "none": None,
        "empty": {},
        "mixed": [1, "2024-01-01"],
    }
    assert grown(mapping(), document) == {
        "s": string,
        "o": {"properties": {"x": {"type": "long"}, "y": {"type": "boolean"}}},
        "z": {"properties": {"w": {"type": "float"}}},
        "mixed": {"type": "long"},
    }
    assert grown(IndexMapping.of({"date_detection": False}), {"d": "2024-01-01"}) == {"d": string}


def test_objects_take_new_fields_by_their_own_dynamic_setting_or_an_inherited_one() -> None:
    closed = {
        "dynamic": "false",
        "properties": {"open": {"dynamic": True, "properties": {}}, "as_above": {"properties": {}}},
    }
    start = mapping(closed=closed, off={"type": "object", "enabled": False}, flat={"type": "flattened"})
    document = {"closed": {"open": {"a": 1}, "as_above": {"b": 1}, "c": 1}, "off": {"d": 1}, "flat": {"e": {"f": 1}}}
    properties = grown(start, document)
    assert set(properties) == {"closed", "off", "flat"}
    assert properties["closed"]["properties"]["open"]["properties"] == {"a": {"type": "long"}}
    assert properties["closed"]["properties"]["as_above"]["properties"] == {}


@pytest.mark.parametrize(
    ("document", "named"),
    [({"strict": {"new": 1}}, "strict.new"), ({"k": {"x": 1}}, "'k'"), ({"a..b": 1}, "a..b"), ({"": {"a": 1}}, "'.a'")],
    ids=str,
)
def test_a_document_with_impossible_fields_is_rejected(document: Json, named: str) -> None:
    start = mapping(strict={"dynamic": "strict", "properties": {}}, k=KEYWORD)
    with pytest.raises(RejectedError) as caught:
        grown(start, document)
    assert caught.value.status == 400
    assert named in str(caught.value)


def test_more_than_a_thousand_fields_are_too_many() -> None:
    with pytest.raises(RejectedError, match="1001"):
        grown(mapping(), {f"f{i}": 1 for i in range(1001)})


def test_a_mapping_is_read_as_it_was_written(tmp_path: Path) -> None:
    stored = StoredMapping("id", IndexMapping.of({"_meta": {"名": [None, 1.5]}, "properties": {"é": KEYWORD}}))
    files.write_mapping(tmp_path, stored)
    again = files.read_mapping(tmp_path)
    assert (again.identity, again.mapping.body) == ("id", stored.mapping.body)
    assert [path.name for path in tmp_path.iterdir()] == ["mapping.json"]


def test_a_mapping_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    files.write_mapping(tmp_path, StoredMapping("id", mapping(a=KEYWORD)))
    before = files.mapping_stamp(tmp_path)
    unwritable = IndexMapping({"_meta": {"x": object()}, "properties": {}})
    with pytest.raises(TypeError, match="not JSON serializable"):
        files.write_mapping(tmp_path, StoredMapping("id", unwritable))
    assert files.mapping_stamp(tmp_path) == before
    assert set(files.read_mapping(tmp_path).mapping.fields) == {"a"}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 2, "identity": "x", "mapping": {}}', '{"format": 1}'])
def test_a_mapping_file_that_cannot_be_read_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "mapping.json").write_text(content)
    with pytest.raises(IndexStateError, match=r"mapping\.json"):
        files.read_mapping(tmp_path)


CASES = [
    ("plain words 9", "plain words 9"),
    ("Don't COUNT 3.14, twice!", "don't count 3.14 twice"),
    ("Ärger über 漢字 ΟΔΟΣ.", "ärger über 漢 字 οδος"),
    ("?! … ", ""),
    ("", ""),
    (300 * "A" + " b", f"{255 * 'a'} {45 * 'a'} b"),
    (256 * "𠮷", " ".join(256 * "𠮷")),
    (256 * "𝒳", f"{255 * '𝒳'} 𝒳"),
]


@pytest.mark.parametrize("by_kernels", [True, False])
@pytest.mark.parametrize(("text", "expected"), CASES)
def test_the_standard_analyzer_finds_words_in_lower_case(
    text: str, expected: str, by_kernels: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not by_kernels:
        monkeypatch.setenv(NATIVE, "0")
    assert standard(text) == expected


@given(st.text(st.sampled_from("aB 1_'.é近ひテ한ไΣİ\u0301👍\n"), max_size=12) | st.text())
def test_the_standard_analyzer_finds_the_words_of_unicode(text: str) -> None:
    assert standard(text) == " ".join(word.lower() for word in words(text))


def test_the_whitespace_analyzer_keeps_what_stands_between_white_space() -> None:
    assert whitespace(" 1LheR\tPa5k_  -x.Y\n") == "1LheR Pa5k_ -x.Y"
    assert whitespace(300 * "a") == f"{255 * 'a'} {45 * 'a'}"
