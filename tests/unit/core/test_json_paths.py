"""Settings are truth values, however a server writes them; the values at a path of many documents."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import column_at, is_false, is_true, values_at
from tests.support.fuzzing import nested


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
