from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core import arrays
from es_simhash.errors import FormatError


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_hex_digits_are_those_of_python(values: list[int]) -> None:
    points = arrays.code_points(np.array(values, dtype=np.uint64), 16, arrays.HEX)
    assert arrays.strings(points).tolist() == [f"{value:016x}" for value in values]


@given(st.lists(st.integers(0, 2**48 - 1), min_size=1))
def test_base64_digits_are_those_of_the_standard_library(values: list[int]) -> None:
    points = arrays.code_points(np.array(values, dtype=np.uint64), 8, arrays.BASE64URL)
    expected = [base64.urlsafe_b64encode(value.to_bytes(6, "big")).decode() for value in values]
    assert arrays.strings(points).tolist() == expected


@given(st.lists(st.integers(0, 2**36 - 1)))
def test_what_was_written_is_read_back(values: list[int]) -> None:
    array = np.array(values, dtype=np.uint64)
    text = "".join(arrays.strings(arrays.code_points(array, 6, arrays.BASE64URL)).tolist()) if values else ""
    assert arrays.values_of(text, 6, arrays.BASE64URL).tolist() == values


@pytest.mark.parametrize("text", ["AAAAA", "AAAAA+", "AAAAA\u4e2d", "AAAAA\ud800"])
def test_what_was_never_written_is_not_read(text: str) -> None:
    with pytest.raises(FormatError, match="6 digits"):
        arrays.values_of(text, 6, arrays.BASE64URL)


@given(st.lists(st.lists(st.integers(0, 63), min_size=2, max_size=2), min_size=1))
def test_joined_texts_are_those_of_python_with_spaces_between(rows: list[list[int]]) -> None:
    points = arrays.code_points(np.array(rows, dtype=np.uint64), 3, arrays.BASE64URL)
    assert arrays.joined(points) == [" ".join(row) for row in arrays.strings(points).tolist()]


def test_digits_lie_along_a_new_last_axis() -> None:
    points = arrays.code_points(np.array([[0x12, 0xAB], [0x00, 0xFF]], dtype=np.uint64), 2, arrays.HEX)
    assert points.shape == (2, 2, 2)
    assert arrays.strings(points).tolist() == [["12", "ab"], ["00", "ff"]]


@given(st.integers(0, 36**3 - 1))
def test_base36_has_a_fixed_number_of_digits_that_python_reads_back(value: int) -> None:
    text = arrays.base36(value, 3)
    assert len(text) == 3
    assert text == text.lower()
    assert int(text, 36) == value
