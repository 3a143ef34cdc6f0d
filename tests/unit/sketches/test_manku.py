from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import from_ints, to_ints
from es_simhash.errors import SchemeError
from es_simhash.sketches.blocks import PrefixTables
from tests.support.fingerprints import at_distance, random_codes


@st.composite
def some_tables(draw: st.DrawFn) -> PrefixTables:
    bits = draw(st.integers(1, 128))
    count = draw(st.integers(-(-bits // 64), min(bits, 8)))
    return PrefixTables(bits, count, draw(st.integers(0, count - 1)))


def slow_prefixes(code: int, tables: PrefixTables) -> list[str]:
    """The prefixes as the chosen pieces of the code written in binary."""
    written, pieces = f"{code:0{tables.bits}b}", []
    for width in tables.blocks.widths:
        pieces.append(written[:width])
        written = written[width:]
    return ["".join(chosen) for chosen in combinations(pieces, tables.count - tables.distance)]


def test_the_paper_s_six_blocks_make_20_tables_with_prefixes_of_31_to_33_bits() -> None:
    tables = PrefixTables(64, 6, 3)
    assert len(tables.choices) == 20
    assert set(tables.prefix_bits) == {31, 32, 33}


@given(some_tables(), st.data())
def test_prefixes_are_the_chosen_pieces_of_the_code(tables: PrefixTables, data: st.DataObject) -> None:
    code = data.draw(st.integers(0, (1 << tables.bits) - 1))
    prefixes = [to_ints(prefix)[0] for prefix in tables.prefixes(from_ints([code], tables.bits))]
    assert prefixes == [int(prefix, 2) for prefix in slow_prefixes(code, tables)]
    assert tables.prefix_bits == tuple(len(prefix) for prefix in slow_prefixes(code, tables))


@pytest.mark.parametrize(("bits", "count", "distance"), [(64, 4, 3), (64, 6, 3), (128, 5, 2), (33, 5, 4), (1, 1, 0)])
def test_any_pair_within_the_distance_agrees_on_a_whole_prefix(bits: int, count: int, distance: int) -> None:
    rng = np.random.default_rng(0)
    codes = random_codes(rng, 500, bits)
    tables = PrefixTables(bits, count, distance)
    for apart in range(distance + 1):
        keys = zip(tables.keys(codes), tables.keys(at_distance(rng, codes, bits, apart)), strict=True)
        assert all(set(mine) & set(other) for mine, other in keys)


def test_keys_are_table_number_and_hex_of_the_prefix() -> None:
    assert PrefixTables(64, 4, 2).keys(0xAAAA_BBBB_CCCC_DDDD) == [
        "0aaaabbbb",
        "1aaaacccc",
        "2aaaadddd",
        "3bbbbcccc",
        "4bbbbdddd",
        "5ccccdddd",
    ]
    assert PrefixTables(128, 3, 0).keys(0x0123456789ABCDEF_0000000000000001) == ["00123456789abcdef0000000000000001"]


def test_more_than_36_tables_are_numbered_with_two_digits() -> None:
    keys = PrefixTables(64, 8, 4).keys(0)
    assert len(keys) == comb(8, 4)
    assert [key[:2] for key in keys[34:38]] == ["0y", "0z", "10", "11"]
    assert PrefixTables(64, 36, 35).keys(0)[-1] == "z0"
    assert PrefixTables(64, 37, 36).keys(0)[-1] == "100"


@given(some_tables(), st.data())
def test_keys_of_an_array_are_the_keys_of_its_codes(tables: PrefixTables, data: st.DataObject) -> None:
    ints = data.draw(st.lists(st.integers(0, (1 << tables.bits) - 1), max_size=3))
    assert tables.keys(from_ints(ints, tables.bits)) == [tables.keys(code) for code in ints]


@given(some_tables(), st.data())
def test_keys_hold_table_and_prefix(tables: PrefixTables, data: st.DataObject) -> None:
    code = data.draw(st.integers(0, (1 << tables.bits) - 1))
    digits = 1 if len(tables.choices) <= 36 else 2
    read = [(int(key[:digits], 36), int(key[digits:], 16)) for key in tables.keys(code)]
    assert read == [(number, int(prefix, 2)) for number, prefix in enumerate(slow_prefixes(code, tables))]


def test_too_few_blocks_are_refused_with_a_count_that_would_do() -> None:
    with pytest.raises(SchemeError, match="Choose at least 4 blocks"):
        PrefixTables(64, 3, 3)


def test_an_absurd_number_of_tables_is_refused() -> None:
    with pytest.raises(SchemeError, match="155117520 tables"):
        PrefixTables(64, 30, 15)
