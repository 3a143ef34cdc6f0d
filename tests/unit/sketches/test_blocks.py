from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import check_codes, from_ints
from es_simhash.errors import HashError, SchemeError
from es_simhash.sketches.blocks import Blocks
from es_simhash.sketches.hamming import check_distance
from tests.support.fingerprints import WIDTHS, at_distance, random_codes


@st.composite
def layouts(draw: st.DrawFn, most: int = 128) -> Blocks:
    bits = draw(st.integers(1, 128))
    return Blocks(bits, draw(st.integers(-(-bits // 64), min(bits, most))))


BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def slow_blocks(code: int, blocks: Blocks) -> list[str]:
    """The blocks as pieces of the code written in binary."""
    written, pieces = f"{code:0{blocks.bits}b}", []
    for width in blocks.widths:
        pieces.append(written[:width])
        written = written[width:]
    return pieces


@given(layouts())
def test_blocks_cover_all_bits_and_the_first_ones_are_a_bit_wider(blocks: Blocks) -> None:
    assert sum(blocks.widths) == blocks.bits
    assert sorted(blocks.widths, reverse=True) == list(blocks.widths)
    assert blocks.widths[0] - blocks.widths[-1] in (0, 1)


@given(layouts(), st.data())
def test_values_are_the_pieces_of_the_code_in_binary(blocks: Blocks, data: st.DataObject) -> None:
    code = data.draw(st.integers(0, (1 << blocks.bits) - 1))
    values = blocks.values(from_ints([code], blocks.bits))
    assert values.dtype == np.uint64
    assert values.tolist() == [[int(piece, 2) for piece in slow_blocks(code, blocks)]]


@pytest.mark.parametrize("bits", WIDTHS)
def test_codes_within_a_distance_share_as_many_blocks_as_promised(bits: int) -> None:
    rng = np.random.default_rng(bits)
    codes = random_codes(rng, 100, bits)
    for distance in range(0, bits, max(1, bits // 12)):
        others = at_distance(rng, codes, bits, distance)
        for count in {max(distance + 1, -(-bits // 64)), (distance + 1 + bits) // 2, bits}:
            blocks = Blocks(bits, count)
            shared = (blocks.values(codes) == blocks.values(others)).sum(axis=1)
            assert shared.min() >= blocks.min_shared(distance) == count - distance


@given(layouts(most=36), st.data())
def test_differences_in_as_many_blocks_as_possible_leave_just_the_promised_ones(
    blocks: Blocks, data: st.DataObject
) -> None:
    distance = data.draw(st.integers(0, blocks.count - 1))
    spoilt = sum(1 << (blocks.bits - 1 - start) for start in blocks.starts[:distance])
    keys, others = blocks.keys(0), blocks.keys(spoilt)
    assert len(set(keys) & set(others)) == blocks.min_shared(distance)


def test_keys_are_the_position_and_base64url_digits() -> None:
    assert Blocks(64, 4).keys(0xDEAD_BEEF_1A2B_0007) == ["0N6t", "1L7v", "2Bor", "3AAH"]
    assert Blocks(64, 5).keys(0) == ["0AAA", "1AAA", "2AAA", "3AAA", "4AAA"]
    assert Blocks(24, 2).keys(67) == ["0AA", "1BD"]
    assert Blocks(36, 36).keys(1)[9:12] == ["9A", "aA", "bA"]
    assert Blocks(36, 36).keys(1)[35] == "zB"


@given(layouts(most=36), st.data())
def test_keys_of_an_array_are_the_keys_of_its_codes(blocks: Blocks, data: st.DataObject) -> None:
    ints = data.draw(st.lists(st.integers(0, (1 << blocks.bits) - 1), max_size=5))
    assert blocks.keys(from_ints(ints, blocks.bits)) == [blocks.keys(code) for code in ints]


@given(layouts(36), st.data())
def test_a_code_is_read_from_its_own_keys_alone(blocks: Blocks, data: st.DataObject) -> None:
    code, other = (data.draw(st.integers(0, 2**blocks.bits - 1)) for _ in range(2))
    keys = blocks.keys(code)
    assert blocks.code_of(keys) == code
    place, digit = data.draw(st.integers(0, blocks.count - 1)), data.draw(st.sampled_from("0A_z é"))
    changed = [*keys[:place], keys[place][:-1] + digit, *keys[place + 1 :]]
    read = blocks.code_of(changed)
    assert read is None or blocks.keys(read) == changed
    assert blocks.code_of([*keys, *blocks.keys(other)]) is None
    assert blocks.code_of(keys[1:]) is None


@given(layouts(most=36), st.data())
def test_keys_hold_position_and_value(blocks: Blocks, data: st.DataObject) -> None:
    code = data.draw(st.integers(0, (1 << blocks.bits) - 1))
    for position, (key, piece) in enumerate(zip(blocks.keys(code), slow_blocks(code, blocks), strict=True)):
        value = 0
        for digit in key[1:]:
            value = value * 64 + BASE64URL.index(digit)
        assert (int(key[0], 36), value) == (position, int(piece, 2))
        assert len(key) == 1 + (blocks.widths[0] + 5) // 6


@pytest.mark.parametrize(
    ("bits", "count", "advice"),
    [
        (64, 0, "Choose 1 to 64 blocks."),
        (64, 65, "Choose 1 to 64 blocks."),
        (64, True, "Choose 1 to 64 blocks."),
        (65, 1, "Choose at least 2 blocks."),
        (0, 1, "Choose a whole number from 1 to 128."),
    ],
)
def test_impossible_layouts_are_refused_with_possible_ones_named(bits: int, count: int, advice: str) -> None:
    with pytest.raises(SchemeError, match=advice):
        Blocks(bits, count)


def test_too_few_blocks_for_a_distance_are_refused_with_a_count_that_would_do() -> None:
    with pytest.raises(SchemeError, match="Choose at least 5 blocks"):
        Blocks(64, 4).min_shared(4)
    assert Blocks(64, 5).min_shared(4) == 1


def test_a_distance_that_no_number_of_blocks_allows_is_refused() -> None:
    with pytest.raises(SchemeError, match="Choose a distance below 8"):
        Blocks(8, 8).min_shared(8)


@pytest.mark.parametrize("distance", [-1, 1.0, True, "3"])
def test_what_is_not_a_distance_is_refused(distance: object) -> None:
    with pytest.raises(SchemeError, match="Choose a whole number from 0"):
        check_distance(distance)  # type: ignore[arg-type]


def test_more_blocks_than_digits_have_values_but_no_keys() -> None:
    blocks = Blocks(64, 37)
    assert blocks.values(from_ints([0], 64)).shape == (1, 37)
    with pytest.raises(SchemeError, match="Choose at most 36 blocks"):
        blocks.keys(0)


@pytest.mark.parametrize(
    "codes",
    [
        np.zeros(3, dtype=np.int64),
        np.zeros((3, 2), dtype=np.uint64),
        np.zeros((), dtype=np.uint64),
        np.array([0, 1 << 32], dtype=np.uint64),
    ],
)
def test_arrays_that_do_not_hold_codes_of_the_width_are_refused(codes: np.ndarray) -> None:
    with pytest.raises(HashError):
        check_codes(codes, 32)


@pytest.mark.parametrize(
    "codes",
    [
        np.zeros(3, dtype=np.uint64),
        np.zeros((3, 3), dtype=np.uint64),
        np.array([[1 << 36, 0]], dtype=np.uint64),
    ],
)
def test_arrays_that_do_not_hold_wide_codes_are_refused(codes: np.ndarray) -> None:
    with pytest.raises(HashError):
        check_codes(codes, 100)
