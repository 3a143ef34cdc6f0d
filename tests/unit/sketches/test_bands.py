from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import FormatError, HashError, SchemeError
from es_simhash.sketches.bands import Bands
from es_simhash.sketches.minhash.common import estimates
from es_simhash.sketches.tradeoffs import band_probability

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
    for keys, values in zip(bands.keys(some), bands.values(some).tolist(), strict=True):
        for key, value in zip(keys, values, strict=True):
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
