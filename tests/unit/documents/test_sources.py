"""The field of the texts is the only one that seems to hold any; otherwise people choose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json, sets_value_at
from es_simhash.documents.guess import only_text
from es_simhash.documents.sources import check_sources, text_of
from es_simhash.errors import DocumentError, InputError
from tests.support.texts import any_text


@pytest.mark.parametrize(
    ("document", "paths", "text"),
    [
        ({"title": "x"}, ["title"], "x"),
        ({"a": {"b": {"c": "x"}}}, ["a.b.c"], "x"),
        ({"a.b.c": "x"}, ["a.b.c"], "x"),
        ({"a": {"b.c": "x"}}, ["a.b.c"], "x"),
        ({"a.b": {"c": "x"}}, ["a.b.c"], "x"),
        ({"a": [{"b": "x"}, {"b": "y"}, {"c": "no"}]}, ["a.b"], "x\ny"),
        ({"a": {"b": ["x", "y"]}}, ["a.b"], "x\ny"),
        ({"a": [{"b": [{"c": "x"}, {"c": ["y", "z"]}]}, {"b": {"c": "w"}}]}, ["a.b.c"], "x\ny\nz\nw"),
        ({"a": [["x", ["y"]], "z"]}, ["a"], "x\ny\nz"),
        ({"a": ("x", "y")}, ["a"], "x\ny"),
        (MappingProxyType({"a": MappingProxyType({"b": "x"})}), ["a.b"], "x"),
    ],
)
def test_a_path_is_read_through_objects_dotted_names_and_arrays(document: Json, paths: list[str], text: str) -> None:
    assert text_of(document, paths) == text


def test_texts_come_in_the_order_of_the_paths() -> None:
    document = {"body": "second", "title": "first"}
    assert text_of(document, ["title", "body"]) == "first\nsecond"
    assert text_of(document, ["body", "title"]) == "second\nfirst"


def test_a_path_in_several_forms_is_read_in_one_order_whatever_the_order_of_the_document() -> None:
    forms = [("a.b.c", "3"), ("a", {"b.c": "1b", "b": {"c": "1a"}}), ("a.b", {"c": "2"})]
    assert text_of(dict(forms), ["a.b.c"]) == text_of(dict(reversed(forms)), ["a.b.c"]) == "1a\n1b\n2\n3"


@pytest.mark.parametrize("document", [{}, {"a": None}, {"a": {"b": None}}, {"a": "x"}, {"a": []}, {"a": [None, {}]}])
def test_null_and_what_is_missing_are_not_text(document: Json) -> None:
    assert text_of(document, ["a.b", "c"]) == ""


def test_an_empty_string_is_a_text_and_keeps_its_place() -> None:
    assert text_of({"a": ["x", "", "y", None]}, ["a"]) == "x\n\ny"


@pytest.mark.parametrize(
    ("value", "text"), [(5, "5"), (-0.5, "-0.5"), (1e300, "1e+300"), (True, "true"), (False, "false"), (0, "0")]
)
def test_numbers_and_booleans_are_written_as_in_json(value: Any, text: str) -> None:
    assert text_of({"a": [value, "x"]}, ["a"]) == f"{text}\nx"


@pytest.mark.parametrize("value", [{"b": "x"}, {}, [{"b": "x"}], b"bytes", {1, 2}, object()])
def test_what_is_not_text_is_refused_with_its_path(value: Any) -> None:
    with pytest.raises(DocumentError, match=r"in the source field 'a'\. Choose a field of text\.$") as error:
        text_of({"a": value}, ["a"])
    kind = value[0] if isinstance(value, list) else value
    assert f"of type {type(kind).__name__} " in str(error.value)


@pytest.mark.parametrize("document", [{"a": "ok \ud83d"}, {"a": ["ok", "\udc00"]}, {"b": "\udfff", "a": "x"}])
def test_lone_surrogates_are_refused_by_their_number(document: Json) -> None:
    with pytest.raises(DocumentError, match=r"lone surrogate \(U\+D[8CF]..\).*Decode it again"):
        text_of(document, ["a", "b"])


def test_a_lone_surrogate_elsewhere_in_the_document_does_not_matter() -> None:
    assert text_of({"a": "x", "other": "\ud800"}, ["a"]) == "x"


def test_halves_of_a_pair_in_two_values_are_not_character() -> None:
    with pytest.raises(DocumentError):
        text_of({"a": ["\ud83d", "\ude00"]}, ["a"])


def test_objects_next_to_the_path_do_not_matter() -> None:
    assert text_of({"a": {"b": "x", "c": {"d": object()}}}, ["a.b"]) == "x"


# --- nested documents and their flattened forms ---

PATHS = ("a", "b.c", "b.d.e", "b.d.f")

leaves = st.none() | any_text(6) | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
values = leaves | st.lists(leaves | st.lists(leaves, max_size=2), max_size=3)


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object with any of these fields, or an array of such."""
    one = st.fixed_dictionaries({}, optional=fields)
    return one | st.lists(one | st.none(), max_size=3)


documents = st.fixed_dictionaries(
    {}, optional={"a": values, "b": objects(c=values, d=objects(e=values, f=values)), "other": values}
)


def flattened(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The full path of each value, and the value, in order."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from flattened(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from flattened(inner, path)
    else:
        yield path, value


def grouped(document: Json) -> dict[str, list[Any]]:
    """The flattened form of a document: an array for each path."""
    flat: dict[str, list[Any]] = {}
    for path, value in flattened(document):
        flat.setdefault(path, []).append(value)
    return flat


@given(documents, st.permutations(PATHS))
def test_a_nested_document_has_the_text_of_its_flattened_form(document: Json, paths: list[str]) -> None:
    flat = grouped(document)
    assert text_of(document, paths) == text_of(flat, paths)
    found = [value for path in paths for value in flat.get(path, []) if value is not None]
    assert text_of(document, paths) == "\n".join(each if isinstance(each, str) else json.dumps(each) for each in found)


@given(documents, st.data())
def test_names_may_be_joined_anywhere(document: Json, data: st.DataObject) -> None:
    """A document in which some objects are drawn into the names of their fields."""

    def joined(value: Any) -> Any:
        if isinstance(value, list):
            return [joined(each) for each in value]
        if not isinstance(value, dict):
            return value
        made: Json = {}
        for name, inner in value.items():
            rest = joined(inner)
            if isinstance(rest, dict):
                drawn = [each for each in rest if data.draw(st.booleans())]
                made |= {f"{name}.{each}": rest.pop(each) for each in drawn}
            made[name] = rest
        return made

    assert text_of(joined(document), PATHS) == text_of(document, PATHS)


@given(documents, st.sampled_from(PATHS))
def test_a_document_with_a_value_at_a_path_sets_it(document: Json, path: str) -> None:
    assert sets_value_at(document, path) or path not in grouped(document)


# --- whether an update sets a source field ---


@pytest.mark.parametrize(
    ("document", "sets"),
    [
        ({"a": {"b": "x"}}, True),
        ({"a": {"b": None}}, True),
        ({"a.b": None}, True),
        ({"a": {"c": "x"}}, False),
        ({"c": {"b": "x"}}, False),
        ({}, False),
    ],
)
def test_a_null_sets_a_field(document: Json, sets: bool) -> None:
    assert sets_value_at(document, "a.b") is sets


@pytest.mark.parametrize("document", [{"a": None}, {"a": []}, {"a": {"b": []}}, {"a": [{"c": 1}]}, {"a": "x"}])
def test_what_takes_away_a_field_sets_it(document: Json) -> None:
    """Merged into a document with a text in ``a.b``, each of these leaves none there."""
    assert sets_value_at(document, "a.b")


# --- which source fields there can be ---


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ("title", ("title",)),
        (["title", "body.text"], ("title", "body.text")),
        (("a",), ("a",)),
        (["名前"], ("名前",)),
    ],
)
def test_source_fields_are_one_name_or_several(given: Any, paths: tuple[str, ...]) -> None:
    assert check_sources(given) == paths


@pytest.mark.parametrize("given", [[], (), "", ".", "a.", ".a", "a..b", ["title", ""], [5], [None], None])
def test_what_names_no_field_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match=r"Give the names of one or more text fields\.$"):
        check_sources(given)


def test_source_fields_may_come_from_a_generator() -> None:
    assert check_sources(name for name in ("title", "body")) == ("title", "body")


BODY = "The storm has left many houses along the coast without power."


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"text": BODY}, "text"),
        ({"url": "https://a.example/b", "author": "Ann Lee", "body": BODY}, "body"),
        ({"lang": "zh", "content": "海岸昨夜有风暴，电车停运。"}, "content"),
        ({"name": "Rain coat", "price": 30, "in_stock": True}, "name"),
        ({"text": BODY, "empty": "  ", "none": None}, "text"),
    ],
)
def test_the_only_field_of_texts_is_taken(row: dict[str, Any], field: str) -> None:
    assert only_text([row] * 5) == (field,)


def test_several_fields_are_named_as_they_can_be_given() -> None:
    with pytest.raises(InputError, match=r"as in fields=\['summary', 'body'\]\.$"):
        only_text([{"id": "7", "summary": BODY, "body": BODY * 2}])


def test_documents_without_texts_are_refused_with_their_fields() -> None:
    with pytest.raises(InputError, match=r"None of the fields seems to hold texts: 'price', 'stock'. Name"):
        only_text([{"price": 30, "stock": 5}])
