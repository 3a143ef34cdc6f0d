from __future__ import annotations

import hashlib
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core import arrays
from es_simhash.errors import HashError, MissingExtraError, SchemeError, TextError
from es_simhash.text import hashing
from es_simhash.text.features import batch
from es_simhash.text.hashing import HASH_FUNCTIONS, WIDTHS, custom_hash, hash_function, lookup3
from tests.support.texts import any_text

M64 = 2**64 - 1


def fmix64(x: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = (x ^ x >> 33) * factor & M64
    return x ^ x >> 33


def poly64_by_definition(token: str, bits: int) -> int:
    """The definition in docs/fingerprints.md, step by step."""
    data = token.encode("utf-16-le")
    p = len(data) // 2
    for start in range(0, len(data), 8):
        p = (p * 0x9E3779B97F4A7C15 + int.from_bytes(data[start : start + 8].ljust(8, b"\0"), "little")) & M64
    if bits == 128:
        return fmix64(p) << 64 | fmix64(p ^ 0x6A09E667F3BCC909)
    return fmix64(p) >> (64 - bits)


@given(st.lists(any_text(20)), st.sampled_from(WIDTHS))
def test_poly64_follows_its_definition(tokens: list[str], bits: int) -> None:
    hashes = arrays.to_ints(hashing.hash_tokens(tokens, bits))
    assert hashes == [poly64_by_definition(token, bits) for token in tokens]


@pytest.mark.parametrize("length", [1, 4, 255, 256, 257, 259, 260, 261, 4096])
def test_poly64_follows_its_definition_for_long_tokens(length: int) -> None:
    token = "".join(chr(0x4E00 + i % 977) for i in range(length))
    assert arrays.to_ints(hashing.hash_tokens(["x", token, ""], 64))[1] == poly64_by_definition(token, 64)


@given(any_text(40), st.integers(1, 14), st.sampled_from(WIDTHS))
def test_hashes_of_windows_are_those_of_the_tokens_in_them(text: str, n: int, bits: int) -> None:
    units = batch([text]).units
    starts = np.arange(max(len(units) - n + 1, 0))
    by_span = hashing.hash_spans(units, starts, starts + n, bits)
    assert np.array_equal(hashing.hash_windows(units, n, bits), by_span)


def test_many_windows_and_spans_are_hashed_as_few_are() -> None:
    units = batch(["".join(chr(0x20 + i * i % 90) for i in range(20_000))]).units
    windows = hashing.hash_windows(units, 6)
    starts = np.arange(len(windows))
    assert np.array_equal(windows, hashing.hash_spans(units, starts, starts + 6))
    assert np.array_equal(windows[9_000:9_100], hashing.hash_windows(units[9_000:9_105], 6))


def test_where_there_is_nothing_no_hash_is_made() -> None:
    units, nothing = batch([""]).units, np.empty(0, dtype=np.int64)
    assert hashing.hash_spans(units, nothing, nothing).shape == (0,)
    assert hashing.hash_windows(units, 3).shape == (0,)


@given(st.integers(0, M64))
def test_fmix64_is_the_finaliser_of_murmurhash3(x: int) -> None:
    assert hashing.fmix64(np.array([x], dtype=np.uint64)).tolist() == [fmix64(x)]


@given(any_text(20))
def test_murmur3_is_that_of_mmh3(token: str) -> None:
    mmh3 = pytest.importorskip("mmh3")
    data = token.encode()
    function = hash_function("murmur3").hash_tokens
    assert arrays.to_ints(function([token], 32)) == [mmh3.hash(data, signed=False)]
    assert arrays.to_ints(function([token], 64)) == [mmh3.hash64(data, signed=False)[0]]
    first, second = mmh3.hash64(data, signed=False)
    assert arrays.to_ints(function([token], 128)) == [first << 64 | second]


@given(any_text(20), st.sampled_from(["md5", "sha1", "sha256"]), st.sampled_from(WIDTHS))
def test_digests_are_the_first_bits_of_those_of_hashlib(token: str, name: str, bits: int) -> None:
    digits = hashlib.new(name, token.encode()).hexdigest()[: bits // 4]
    assert arrays.to_ints(hash_function(name).hash_tokens([token], bits)) == [int(digits, 16)]


@pytest.mark.parametrize(
    ("token", "bits", "expected"),
    [
        ("", 32, 0x811C9DC5),
        ("a", 32, 0xE40C292C),
        ("foobar", 32, 0xBF9CF968),
        ("", 64, 0xCBF29CE484222325),
        ("a", 64, 0xAF63DC4C8601EC8C),
        ("foobar", 64, 0x85944171F73967E8),
        ("a", 128, 0xD228CB696F1A8CAF78912B704E4A8964),
    ],
)
def test_fnv1a_has_its_published_values(token: str, bits: int, expected: int) -> None:
    assert arrays.to_ints(hash_function("fnv1a").hash_tokens([token], bits)) == [expected]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        # From the self-test in lookup3.c, and from that file compiled.
        ("", 0xDEADBEEFDEADBEEF_9C093CCDBD5B7DDE),
        ("Four score and seven years ago", 0x17770551CE7226E6_2CCFB64CE4D8D895),
        ("a", 0x58D68708582647AC_4B2D71D0DBACA1A4),
        ("0123456789ab", 0x1065E50AF0EC5868_2156CC875BE5501F),
        ("0123456789abc", 0x7351CE56595621EF_3217D7403C3CA47E),
        ("0123456789ab0123456789ab", 0x4905589FC2B8072C_FE5931A4679BAA06),
    ],
)
def test_jenkins_lookup3_has_the_values_of_its_author(data: str, expected: int) -> None:
    assert lookup3(data.encode(), 128) == expected
    assert lookup3(data.encode(), 64) == expected >> 64
    assert lookup3(data.encode(), 32) == expected >> 96


@pytest.mark.parametrize("name", [name for name, function in HASH_FUNCTIONS.items() if function.is_mixed])
@pytest.mark.parametrize("bits", WIDTHS)
def test_a_mixed_function_spreads_its_values_over_all_bits(name: str, bits: int) -> None:
    tokens = [f"token {i}" for i in range(400)]
    values = arrays.to_ints(HASH_FUNCTIONS[name].hash_tokens(tokens, bits))
    ones = np.array([[value >> bit & 1 for bit in range(bits)] for value in values]).mean(axis=0)
    assert len(set(values)) == 400
    assert ones.min() > 0.3
    assert ones.max() < 0.7


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SchemeError, match="poly64, murmur3"):
        hash_function("crc32")


def test_a_caller_may_bring_a_hash_function() -> None:
    own = custom_hash("length", len, bits=6)
    assert [value >> 58 for value in arrays.to_ints(own.hash_tokens(["a", "abc", "a"], 6))] == [1, 3, 1]
    assert (own.name, own.bits, own.is_mixed) == ("length", 6, False)


def test_a_caller_s_hash_takes_all_values_of_its_bits() -> None:
    own = custom_hash("order", lambda token: 63 if token == "last" else 0, bits=6)
    assert [value >> 58 for value in arrays.to_ints(own.hash_tokens(["first", "last"], 6))] == [0, 63]


@pytest.mark.parametrize("value", [-1, 64, 1.5, None, True])
def test_a_caller_s_hash_out_of_its_range_is_refused(value: object) -> None:
    own = custom_hash("own", lambda _: value, bits=6)  # type: ignore[arg-type,return-value]
    message = (
        f"The hash function 'own' returned {value!r} for the token 'a'. It must return an integer from 0 to 2**6 - 1."
    )
    with pytest.raises(HashError, match=re.escape(message)):
        own.hash_tokens(["a"], 6)


def test_a_caller_s_hash_cannot_take_a_built_in_name() -> None:
    with pytest.raises(SchemeError, match="another name"):
        custom_hash("md5", len)


def test_a_missing_library_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_SIMHASH_NATIVE", "0")
    monkeypatch.setitem(sys.modules, "mmh3", None)
    with pytest.raises(MissingExtraError, match=r"^mmh3, which computes MurmurHash3,.*pip install '[^']+\[murmur3\]'"):
        hash_function("murmur3").hash_tokens(["a"], 64)


def test_a_lone_surrogate_in_a_token_is_refused() -> None:
    with pytest.raises(TextError, match="lone surrogate"):
        hashing.hash_tokens(["\ud800"], 64)
