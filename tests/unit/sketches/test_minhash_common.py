"""Signatures as bytes and text.

Estimates of the similarity, and their errors.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import FormatError, SchemeError
from es_simhash.sketches.minhash import k_hash, one_permutation
from es_simhash.sketches.minhash.common import SignatureCodec, Signatures, estimate, estimates, standard_error
from es_simhash.sketches.minhash.one_permutation import signatures
from tests.support.minhashes import GOLDEN, Kernel, assert_mean, batch, pairs

values = st.integers(0, 2**32 - 1)
codecs = st.builds(SignatureCodec, st.integers(1, 40), st.integers(1, 32))


@st.composite
def codecs_and_signatures(draw: st.DrawFn) -> tuple[SignatureCodec, list[list[int]]]:
    codec = draw(codecs)
    return codec, draw(st.lists(st.lists(values, min_size=codec.size, max_size=codec.size), max_size=4))


def array(rows: list[list[int]], size: int) -> Signatures:
    return np.array(rows, dtype=np.uint32).reshape(-1, size)


def rows(stored: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(stored, np.uint8)[np.newaxis]


def by_definition(row: list[int], value_bits: int) -> bytes:
    whole: int = sum(value % 2**value_bits << i * value_bits for i, value in enumerate(row))
    return whole.to_bytes(-(-len(row) * value_bits // 8), "little")


@given(codecs_and_signatures())
def test_the_bytes_are_as_defined(drawn: tuple[SignatureCodec, list[list[int]]]) -> None:
    codec, rows = drawn
    expected = [by_definition(row, codec.value_bits) for row in rows]
    packed = codec.pack(array(rows, codec.size))
    assert packed.shape == (len(rows), codec.byte_length)
    assert [row.tobytes() for row in packed] == expected


@given(codecs_and_signatures())
def test_all_that_is_kept_comes_back(drawn: tuple[SignatureCodec, list[list[int]]]) -> None:
    codec, rows = drawn
    table = array(rows, codec.size)
    kept = table & np.uint32(2**codec.value_bits - 1)
    assert (codec.unpack(codec.pack(table)) == kept).all()
    assert (codec.from_texts(codec.to_texts(table)) == kept).all()
    for row, whole in zip(kept, table, strict=True):
        assert (codec.from_text(codec.to_text(whole)) == row).all()


@given(codecs_and_signatures())
def test_the_text_is_base64url_without_padding(drawn: tuple[SignatureCodec, list[list[int]]]) -> None:
    codec, rows = drawn
    for row, text in zip(rows, codec.to_texts(array(rows, codec.size)), strict=True):
        assert len(text) == codec.text_length
        padded = text + "=" * (-len(text) % 4)
        assert base64.b64decode(padded, altchars=b"-_", validate=True) == by_definition(row, codec.value_bits)


def test_stored_forms_never_change() -> None:
    signature = signatures(batch(GOLDEN), 6)[3]
    stored = {bits: SignatureCodec(6, bits).to_text(signature) for bits in (1, 5, 8, 12, 32)}
    assert stored == {
        1: "Lw",
        5: "-4XMIg",
        8: "m--BuWxR",
        12: "m_OugZJrbBiF",
        32: "m7NpAO8KVSCBQpUpuUYhBmyoVydRWD5k",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AAECAwQFBg",  # too short
        "AAECAwQFBgcI",  # too long
        "AAECAwQFBg=",  # padded
        "AAECAwQFBgc=",  # padded
        "AAECAwQFB c",  # a space
        "AAECAwQFBgc\n",  # a line break
        "AAECAwQFBgd",  # its last bits are not 0
        "//ECAwQFBgc",  # the other alphabet
        "ÄAECAwQFBgc",
    ],
)
def test_malformed_texts_are_refused(text: str) -> None:
    codec = SignatureCodec(8, 8)
    assert codec.from_text("AAECAwQFBgc").tolist() == list(range(8))
    with pytest.raises(FormatError, match="is not a signature of 8 values of 8 bits, which has 11 base64url"):
        codec.from_text(text)


def test_bits_after_the_end_are_refused() -> None:
    codec = SignatureCodec(3, 5)
    assert codec.unpack(rows(b"\xff\x7f")).tolist() == [[31, 31, 31]]
    with pytest.raises(FormatError, match="bits after its end"):
        codec.unpack(rows(b"\xff\xff"))


def test_bytes_of_another_length_are_refused() -> None:
    for stored in (b"", b"\0" * 3, b"\0" * 5):
        with pytest.raises(FormatError, match="packed signatures of 4 bytes"):
            SignatureCodec(1).unpack(rows(stored))


def test_signatures_of_another_size_are_refused() -> None:
    tables: list[Any] = [np.zeros((2, 5), np.uint32), np.zeros(4, np.uint32), np.zeros((2, 4), np.int64)]
    for table in tables:
        with pytest.raises(FormatError, match="does not hold signatures of 4 values"):
            SignatureCodec(4).pack(table)


@pytest.mark.parametrize(("size", "value_bits"), [(0, 8), (8, 0), (8, 33), (4097, 8)])
def test_impossible_codecs_are_refused(size: int, value_bits: int) -> None:
    with pytest.raises(SchemeError, match="Choose a whole number"):
        SignatureCodec(size, value_bits)


EMPTY = np.full(64, 0xFFFFFFFF, dtype=np.uint32)
SOME = np.arange(64, dtype=np.uint32)


def test_the_estimate_is_the_share_of_equal_positions() -> None:
    assert estimate(SOME, SOME) == 1.0
    assert estimate(SOME, SOME + np.uint32(1)) == 0.0
    assert estimate(SOME, np.where(SOME < 16, SOME, SOME + np.uint32(100))) == 0.25


def test_one_signature_meets_many() -> None:
    many = np.stack([SOME, SOME[::-1], SOME // np.uint32(2)])
    assert estimates(SOME, many).tolist() == [estimate(SOME, other) for other in many]
    assert estimates(many[:, np.newaxis], many).shape == (3, 3)


@pytest.mark.parametrize("value_bits", [1, 8, 32])
def test_documents_without_features_are_like_each_other_only(value_bits: int) -> None:
    assert estimate(EMPTY, EMPTY, value_bits) == 1.0
    assert estimate(EMPTY, SOME, value_bits) == 0.0
    assert estimate(SOME | np.uint32(0xFFFF0000), EMPTY, value_bits) == 0.0


@pytest.mark.parametrize("value_bits", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("kernel", [k_hash.signatures, one_permutation.signatures])
@pytest.mark.parametrize(("shared", "only_a", "only_b"), [(40, 30, 10), (90, 5, 5)])
def test_the_estimate_of_few_bits_is_corrected_for_chance(
    shared: int, only_a: int, only_b: int, kernel: Kernel, value_bits: int
) -> None:
    """Without bias, and with the standard error that is foretold."""
    size, jaccard = 32, shared / (shared + only_a + only_b)
    a, b = pairs(shared, 1500, shared, only_a, only_b)
    found = estimates(kernel(a, size), kernel(b, size), value_bits)
    assert_mean(found, jaccard)
    assert 0.8 <= found.std() / standard_error(jaccard, size, value_bits) <= 1.2


def test_cut_signatures_and_whole_ones_are_comparable() -> None:
    whole = np.array([0x12345678, 0x9ABCDEF0, 0x0F0F0F0F], dtype=np.uint32)
    assert estimate(whole & np.uint32(0xFF), whole, value_bits=8) == 1.0


def test_an_estimate_is_never_negative() -> None:
    assert estimate(SOME * np.uint32(2), SOME * np.uint32(2) + np.uint32(1), value_bits=1) == 0.0


def test_the_standard_error_is_that_of_a_binomial_share() -> None:
    assert standard_error(0.5, 100) == pytest.approx(0.05)
    assert standard_error(1.0, 100) == 0.0
    assert standard_error(0.5, 100, value_bits=1) == pytest.approx((0.75 * 0.25 / 100) ** 0.5 * 2)


def test_signatures_of_different_sizes_are_refused() -> None:
    for other in (SOME[:1], SOME[:63]):
        with pytest.raises(FormatError, match="cannot be compared"):
            estimate(SOME, other)


@pytest.mark.parametrize("value_bits", [0, 33, 1.5, True])
def test_impossible_bits_are_refused(value_bits: int) -> None:
    with pytest.raises(SchemeError, match="Choose a whole number from 1 to 32"):
        estimate(SOME, SOME, value_bits)
