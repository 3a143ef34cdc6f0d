"""How many bands documents share: the model agrees with drawn signatures.

An index of keys finds what a dictionary of sets finds, as documents come and go.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import comb, prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import check_codes, from_ints, to_ints
from es_simhash.errors import FormatError, HashError, SchemeError
from es_simhash.sketches import keys
from es_simhash.sketches import keys as key_index
from es_simhash.sketches.hamming import check_distance
from es_simhash.sketches.keys import (
    REVIEWS,
    Bands,
    Blocks,
    KeyIndex,
    Keys,
    PrefixTables,
    band_probability,
    by_chance,
    least_shared,
    shared_among,
    sharing,
)
from es_simhash.sketches.minhash.common import estimates
from tests.support.fingerprints import WIDTHS, at_distance, random_codes

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def slow_key(band: int, values: list[int], key_bits: int) -> int:
    """The key of a band by its definition, in Python integers."""
    value_bits = min(32, key_bits // len(values))
    packed = 0
    for value in values:
        packed = packed * 2**value_bits + value % 2**value_bits
    return (packed + (band + 1) * (0x9E3779B97F4A7C15 >> (64 - key_bits))) % 2**key_bits


def signatures(rows: int, size: int, seed: int = 0) -> npt.NDArray[np.uint32]:
    return np.random.default_rng(seed).integers(0, 2**32, (rows, size), dtype=np.uint32)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(6, 64), st.integers(0, 3), st.integers(0, 2**32))
def test_keys_are_as_defined(count: int, rows: int, key_bits: int, spare: int, seed: int) -> None:
    some = signatures(2, count * rows + spare, seed)
    expected = [
        [slow_key(band, one[band * rows : (band + 1) * rows], key_bits) for band in range(count)]
        for one in some.tolist()
    ]
    assert Bands(count, rows, key_bits).values(some).tolist() == expected


def test_keys_stay_the_same_for_ever() -> None:
    some = np.array([[0, 1, 2, 0xFFFFFFFF, 3, 4]], dtype=np.uint32)
    assert Bands(3, 2, 64).values(some).tolist() == [[11400714819323198486, 4354685577821747241, 15755400397144945731]]
    assert Bands(3, 2, 36).keys(some) == [["njd5uY", "PG-zct", "2qctLJ"]]


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 10), st.integers(0, 3), st.integers(0, 2**32))
def test_the_lowest_bits_of_the_rows_can_be_read_back_from_the_keys(
    count: int, rows: int, digits: int, spare: int, seed: int
) -> None:
    bands = Bands(count, rows, 6 * digits)
    some = signatures(5, count * rows + spare, seed)
    kept = some[:, : bands.size] & np.uint32(2**bands.value_bits - 1)
    assert bands.signatures_of_keys(list(map("".join, bands.keys(some)))).tolist() == kept.tolist()


@pytest.mark.parametrize(
    "keys",
    [
        ["AAAAA" * 2],
        ["AAAAA" * 3 + "A"],
        ["AAAAA" * 2 + "AAA A"],
        ["AAAAA" * 2 + "AAA\u4e2dA"],
        ["AAAAA" * 2, "AAAAA" * 4],
    ],
)
def test_texts_that_are_not_the_keys_of_a_document_are_refused(keys: list[str]) -> None:
    with pytest.raises(FormatError, match="Read them again"):
        Bands(3, 2).signatures_of_keys(keys)


def test_a_key_must_hold_a_bit_of_each_row() -> None:
    assert Bands(2, 6, 6).value_bits == 1
    with pytest.raises(SchemeError, match="fewer rows"):
        Bands(2, 7, 6)


@given(st.integers(1, 10), st.integers(0, 2**32))
def test_texts_are_the_base64url_digits_of_the_keys(digits: int, seed: int) -> None:
    bands = Bands(3, 2, 6 * digits)
    some = signatures(4, 6, seed)
    for texts, values in zip(bands.keys(some), bands.values(some).tolist(), strict=True):
        for key, value in zip(texts, values, strict=True):
            assert len(key) == digits
            read = 0
            for digit in key:
                read = read * 64 + ALPHABET.index(digit)
            assert read == value


def test_the_same_rows_in_another_band_have_another_key() -> None:
    keys = Bands(20, 2).keys(np.tile(signatures(1, 2), 20))[0]
    assert len(set(keys)) == 20


@pytest.mark.parametrize(("similarity", "count", "rows"), [(0.5, 16, 4), (0.8, 10, 8), (0.3, 30, 2)])
def test_pairs_share_a_key_as_often_as_the_curve_says(similarity: float, count: int, rows: int) -> None:
    pairs = 4000
    rng = np.random.default_rng(1)
    some, others = signatures(pairs, count * rows, 2), signatures(pairs, count * rows, 3)
    others = np.where(rng.random(some.shape) < similarity, some, others)
    bands = Bands(count, rows, 60)
    share = (bands.values(some) == bands.values(others)).any(axis=1).mean()
    expected = band_probability(similarity, count, rows)
    assert abs(share - expected) < 4 * (expected * (1 - expected) / pairs) ** 0.5


@pytest.mark.parametrize(
    "settings", [{"count": 0}, {"rows": 0}, {"rows": True}, {"count": 1.5}, {"key_bits": 5}, {"key_bits": 65}]
)
def test_impossible_bands_are_refused(settings: dict[str, int]) -> None:
    message = "The key of a band" if "key_bits" in settings else f"Bands cannot have {next(iter(settings))}="
    with pytest.raises(SchemeError, match=f"^{message}.*Choose a whole number"):
        Bands(**{"count": 4, "rows": 4, **settings})


def test_keys_that_do_not_fill_their_digits_are_refused_as_texts() -> None:
    assert Bands(2, 2, 32).values(signatures(1, 4)).shape == (1, 2)
    with pytest.raises(SchemeError, match="6, 12, 18"):
        Bands(2, 2, 32).keys(signatures(1, 4))


@pytest.mark.parametrize(
    "wrong",
    [signatures(2, 7), signatures(2, 8).astype(np.int64), signatures(1, 8)[0], signatures(2, 8)[None]],
)
def test_arrays_that_do_not_hold_signatures_of_the_size_are_refused(wrong: npt.NDArray[np.uint32]) -> None:
    with pytest.raises(HashError, match=r"\(N, 8\)"):
        Bands(2, 4).values(wrong)


@given(
    st.sampled_from([Bands(4, 2, 12), Bands(8, 4), Bands(3, 1, 60), Bands(2, 5, 60), Bands(1, 1, 6)]),
    st.integers(0, 2**32),
)
def test_packed_rows_are_as_similar_as_the_signatures(bands: Bands, seed: int) -> None:
    rng = np.random.default_rng(seed)
    some, others = rng.integers(0, 3, (2, 20, bands.size + 2), dtype=np.uint32) * np.uint32(0x9E3779B1)
    expected = estimates(some[:, : bands.size], others[:, : bands.size], bands.value_bits)
    assert np.array_equal(bands.similarities(bands.packed(some), bands.packed(others)), expected)
    same = (bands.values(some) == bands.values(others)) == (bands.packed(some) == bands.packed(others))
    assert same.all()


DEFAULT = Bands(36, 3, 24)


@pytest.mark.parametrize(("similarity", "shared"), [(0.2, 1), (0.3, 2), (0.5, 3), (0.6, 10)])
def test_drawn_signatures_share_as_many_bands_as_computed(similarity: float, shared: int) -> None:
    rng, bands, pairs = np.random.default_rng(3), Bands(36, 3, 9), 20_000
    first, other = (rng.integers(0, 1 << 32, (pairs, bands.size), dtype=np.uint32) for _ in range(2))
    second = np.where(rng.random(first.shape) < similarity, first, other)
    met = (bands.values(first) == bands.values(second)).sum(axis=1) >= shared
    assert met.mean() == pytest.approx(sharing(similarity, bands, shared), abs=0.01)


@given(st.integers(1, 60), st.integers(1, 8))
def test_documents_without_anything_in_common_meet_as_random_keys_do(count: int, rows: int) -> None:
    bands = Bands(count, rows, 24)
    collides = 2.0 ** -(rows * bands.value_bits)
    assert sharing(0.0, bands, 1) == pytest.approx(1 - (1 - collides) ** count)


@pytest.mark.parametrize("similarity", [0.1, 0.5, 0.9])
def test_whole_values_in_the_keys_meet_with_the_probability_of_bands(similarity: float) -> None:
    assert sharing(similarity, Bands(8, 2, 64), 1) == pytest.approx(band_probability(similarity, 8, 2))


def test_by_chance_is_the_mean_over_unrelated_pairs() -> None:
    expected = 0.25 * sharing(0.1, DEFAULT, 2) + 0.75 * sharing(0.05, DEFAULT, 2)
    assert by_chance(DEFAULT, 2, [(0.1, 0.25), (0.05, 0.75)]) == pytest.approx(expected)
    assert sum(share for _, share in REVIEWS) == pytest.approx(1)


@given(st.floats(0.3, 0.9), st.integers(0, 10**10), st.integers(0, 10**10))
def test_larger_indices_ask_for_as_many_bands_or_more(similarity: float, few: int, more: int) -> None:
    least = least_shared(DEFAULT, 0.6)
    few, more = sorted((few, more))
    asked = [shared_among(DEFAULT, least, similarity, documents) for documents in (few, more)]
    assert least <= asked[0] <= asked[1]
    assert asked[1] == least or sharing(similarity, DEFAULT, asked[1]) >= 0.95


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
def test_keys_of_an_array_in_tables_are_those_of_its_codes(tables: PrefixTables, data: st.DataObject) -> None:
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


PROBABILITIES = st.lists(st.floats(0, 1), max_size=7)


@given(PROBABILITIES, st.integers(0, 7))
def test_at_least_is_the_sum_over_all_outcomes(probabilities: list[float], count: int) -> None:
    expected = sum(
        prod(p if happens else 1 - p for p, happens in zip(probabilities, outcome, strict=True))
        for outcome in product([False, True], repeat=len(probabilities))
        if sum(outcome) >= count
    )
    assert keys.at_least(probabilities, count) == pytest.approx(expected)


@given(PROBABILITIES, st.integers(0, 7))
def test_expected_choices_is_the_sum_over_all_choices(probabilities: list[float], count: int) -> None:
    expected = sum(prod(choice) for choice in combinations(probabilities, count))
    assert keys.expected_choices(probabilities, count) == pytest.approx(expected)


def test_four_blocks_of_16_bits_meet_about_4096_of_2_to_the_26_documents() -> None:
    assert keys.block_candidates(64, 4, 1, 2**26) == pytest.approx(4 * 2**10, rel=1e-3)


@pytest.mark.parametrize(("blocks", "expected"), [(4, 610), (5, 2.1), (6, 0.051)])
def test_more_blocks_meet_fewer_of_10_million_documents(blocks: int, expected: float) -> None:
    assert keys.block_candidates(64, blocks, blocks - 3, 10_000_000) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("bits", "blocks", "min_shared"), [(24, 4, 1), (22, 4, 2), (20, 7, 4), (13, 3, 2)])
def test_random_fingerprints_meet_as_many_as_expected(bits: int, blocks: int, min_shared: int) -> None:
    documents = 2**20
    codes = np.random.default_rng(5).integers(0, 2**bits, documents, dtype=np.uint64)
    values = Blocks(bits, blocks).values(codes)
    met = np.count_nonzero((values == values[0]).sum(axis=1) >= min_shared) - 1
    expected = keys.block_candidates(bits, blocks, min_shared, documents)
    assert abs(met - expected) < 4 * expected**0.5


def test_manku_s_tables_read_a_document_once_for_each_prefix_that_agrees() -> None:
    documents = 2**20
    tables = PrefixTables(20, 5, 3)
    codes = np.random.default_rng(5).integers(0, 2**20, documents, dtype=np.uint64)
    read = sum(np.count_nonzero(prefix == prefix[0]) - 1 for prefix in tables.prefixes(codes))
    assert read == pytest.approx(keys.manku_postings(20, 5, 3, documents), rel=0.1)
    assert keys.manku_postings(64, 4, 3, 2**26) == 4 * 2**10


def test_the_curve_of_20_bands_of_5_rows_is_that_of_the_textbook() -> None:
    textbook = {0.2: 0.006, 0.3: 0.047, 0.4: 0.186, 0.5: 0.470, 0.6: 0.802, 0.7: 0.975, 0.8: 0.9996}
    for similarity, probability in textbook.items():
        assert keys.band_probability(similarity, 20, 5) == pytest.approx(probability, abs=5e-4)


COLUMNS = 3
# Numbers at both ends of what fits, so that some are equal and others nearly.
ROWS = st.lists(st.lists(st.sampled_from([0, 1, 2, 2**31, 2**32 - 1]), min_size=COLUMNS, max_size=COLUMNS), max_size=8)
STEPS = st.lists(st.tuples(ROWS, st.lists(st.integers(0, 40), max_size=10)), max_size=8)
TYPES = st.sampled_from([np.uint32, np.uint64])


class Oracle:
    """Documents in sets, by the column and the number of each key."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[int, int], set[int]] = defaultdict(set)
        self.there: dict[int, list[int]] = {}
        self._next = 0

    def add(self, rows: Sequence[list[int]]) -> None:
        for row in rows:
            for key in enumerate(row):
                self._by_key[key].add(self._next)
            self.there[self._next] = row
            self._next += 1

    def remove(self, place: int) -> None:
        for key in enumerate(self.there.pop(place, [])):
            self._by_key[key].discard(place)

    def sharing(self, rows: Sequence[list[int]], least: int) -> Iterator[tuple[int, int, int]]:
        for number, row in enumerate(rows):
            counts = Counter(place for key in enumerate(row) for place in self._by_key[key])
            yield from sorted((number, place, count) for place, count in counts.items() if count >= least)


def array(rows: Sequence[list[int]], dtype: type[Any] = np.uint64) -> Keys:
    return np.array(rows, dtype=dtype).reshape(len(rows), COLUMNS)


@pytest.mark.parametrize("recent", [0, 5, 512])
@given(steps=STEPS, asked=ROWS, least=st.integers(1, COLUMNS), dtype=TYPES)
def test_documents_are_those_of_a_dictionary_of_sets(
    recent: int, steps: list[tuple[list[list[int]], list[int]]], asked: list[list[int]], least: int, dtype: type[Any]
) -> None:
    """Of the ``recent`` ones no table is made."""
    index, oracle = KeyIndex(COLUMNS, dtype), Oracle()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_RECENT": recent, "_ENTRIES": 20, "_CELLS": 40}.items():
            patch.setattr(key_index, name, value)
        for rows, gone in steps:
            before = len(index)
            added = index.add(array(rows, dtype))
            oracle.add(rows)
            assert len(added) == len(rows) == len(index) - before
            index.remove(set(gone))
            for place in gone:
                oracle.remove(place)
            assert len(index) == len(oracle.there)
            shared = index.sharing(array(asked, dtype), least)
            assert list(zip(*(each.tolist() for each in shared), strict=True)) == list(oracle.sharing(asked, least))
    there = np.array(sorted(oracle.there), dtype=np.int64)
    assert index.keys_at(there).tolist() == [oracle.there[place] for place in there.tolist()]


def test_thousands_of_documents_are_found_by_the_keys_that_they_share() -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2000, (6000, 12), dtype=np.uint64)
    index = KeyIndex(12)
    for part in np.split(keys, [1, 2, 3, 400, 1000, 1001, 4000]):
        index.add(part)
    index.remove(range(0, 6000, 3))
    rows, places, counts = index.sharing(keys[:50], 2)
    equal = (keys[:50, np.newaxis] == keys[np.newaxis]).sum(axis=2)
    equal[:, ::3] = 0
    expected = np.nonzero(equal >= 2)
    assert np.array_equal(expected, (rows, places))
    assert np.array_equal(equal[expected], counts)


def test_what_comes_and_goes_takes_no_more_memory() -> None:
    index = KeyIndex(4)
    for number in range(40):
        added = index.add(np.full((1000, 4), number, dtype=np.uint64))
        index.remove(range(added.start))
    assert len(index) == 1000
    assert sum(len(part.places) for part in index._parts) <= 4000
