"""Signatures as bytes and text."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import FormatError, SchemeError
from es_simhash.sketches.minhash.codec import SignatureCodec
from es_simhash.sketches.minhash.common import Signatures
from es_simhash.sketches.minhash.one_permutation import signatures
from tests.support.minhashes import GOLDEN, batch

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
