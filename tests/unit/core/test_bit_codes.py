from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core import arrays
from es_simhash.errors import HashError, SchemeError
from es_simhash.sketches import hamming

Widths = st.integers(1, 128)


@st.composite
def values_of_a_width(draw: st.DrawFn) -> tuple[int, list[int]]:
    bits = draw(Widths)
    return bits, draw(st.lists(st.integers(0, 2**bits - 1), max_size=6))


@given(values_of_a_width())
def test_codes_keep_integers_of_every_width(case: tuple[int, list[int]]) -> None:
    bits, values = case
    assert arrays.to_ints(arrays.from_ints(values, bits)) == values


@given(values_of_a_width(), st.data())
def test_extract_reads_the_bits_as_they_are_written_down(case: tuple[int, list[int]], data: st.DataObject) -> None:
    bits, values = case
    start = data.draw(st.integers(0, bits - 1))
    width = data.draw(st.integers(1, min(64, bits - start)))
    extracted = arrays.extract(arrays.from_ints(values, bits), bits, start, width)
    written = [f"{value:0{bits}b}"[start : start + width] for value in values]
    assert extracted.tolist() == [int(digits, 2) for digits in written]


@pytest.mark.parametrize("bits", [0, -1, 129, 1.5, True, "64"])
def test_a_width_outside_1_to_128_is_refused(bits: object) -> None:
    with pytest.raises(SchemeError, match="from 1 to 128"):
        arrays.check_bits(bits)  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "bits"), [(-1, 8), (256, 8), (1 << 64, 64), (1 << 128, 128)])
def test_a_value_that_does_not_fit_is_refused_by_name(value: int, bits: int) -> None:
    with pytest.raises(HashError, match=str(value)):
        arrays.from_ints([value], bits)


@pytest.mark.parametrize("value", [1.9, "a", None])
def test_what_is_not_an_integer_is_refused(value: object) -> None:
    with pytest.raises(HashError, match="Give integers"):
        arrays.from_ints([value], 64)  # type: ignore[list-item]


def test_integers_of_numpy_are_integers() -> None:
    assert arrays.from_ints([np.int64(5)], 128).tolist() == [[0, 5]]  # type: ignore[list-item]


def bits_by_kernighan(x: int) -> int:
    """Count bits by x &= x - 1, which clears the lowest one."""
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_scalar_distance_agrees_with_clearing_bit_after_bit(a: int, b: int) -> None:
    assert hamming.distance(a, b) == bits_by_kernighan(a ^ b)


@given(values_of_a_width(), st.data())
def test_vectorised_distances_agree_with_clearing_bit_after_bit(
    case: tuple[int, list[int]], data: st.DataObject
) -> None:
    bits, values = case
    other = data.draw(st.integers(0, 2**bits - 1))
    distances = hamming.distances(arrays.from_ints(values, bits), arrays.from_ints([other], bits))
    assert distances.tolist() == [bits_by_kernighan(value ^ other) for value in values]


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_counting_bits_without_numpy_2_agrees(values: list[int]) -> None:
    words = np.array(values, dtype=np.uint64)
    assert hamming._bit_count_swar(words).tolist() == [value.bit_count() for value in values]


@pytest.mark.parametrize(("a", "b", "expected"), [("00101110", "00001111", 2), ("100101", "101100", 2)])
def test_distances_of_the_literature(a: str, b: str, expected: int) -> None:
    assert hamming.distance(int(a, 2), int(b, 2)) == expected
