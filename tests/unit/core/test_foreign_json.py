"""JSON that may be anything ends as a value or a ValueError."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.foreign_json import parse_json
from tests.support.fuzzing import damaged_bytes, json_values


@given(value=json_values())
def test_what_json_writes_is_read(value: Any) -> None:
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
