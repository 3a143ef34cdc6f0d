"""Hashes by the compiled kernels are those of the registry."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import to_ints
from es_simhash.text.hashing import HASH_FUNCTIONS, WIDTHS
from tests import ROOT
from tests.unit.native.made import kernels, without_kernels

pytest.importorskip("mmh3")

GOLDEN = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))["hashes"]
NAMES = sorted(HASH_FUNCTIONS)
tokens = st.text(max_size=8) | st.text(st.sampled_from("aé漢😀"), max_size=80)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("name", GOLDEN)
def test_hashes_are_the_golden_ones(name: str, bits: int) -> None:
    found = to_ints(kernels.hash_tokens(list(GOLDEN[name]), name, bits))
    assert [f"{value:0{bits // 4}x}" for value in found] == [hashes[str(bits)] for hashes in GOLDEN[name].values()]


@given(st.lists(tokens, max_size=5), st.sampled_from(NAMES), st.sampled_from(WIDTHS))
def test_hashes_are_those_of_the_registry(listed: list[str], name: str, bits: int) -> None:
    expected = without_kernels(lambda: HASH_FUNCTIONS[name].hash_tokens(listed, bits))
    found = kernels.hash_tokens(listed, name, bits)
    assert found.shape == expected.shape
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("length", [*range(70), 300, 5000])
def test_tokens_of_any_length_have_the_hashes_of_the_registry(length: int) -> None:
    token = ("abcdefg漢" * 700)[:length]
    for name, bits in product(NAMES, WIDTHS):
        expected = without_kernels(lambda: HASH_FUNCTIONS[name].hash_tokens([token], bits))  # noqa: B023
        assert kernels.hash_tokens([token], name, bits).tolist() == expected.tolist()


def test_what_cannot_be_hashed_is_refused() -> None:
    for listed, name, bits in ((["a\ud800"], "md5", 64), ([1], "md5", 64), (["a"], "md4", 64), (["a"], "md5", 60)):
        with pytest.raises(kernels.Refused):
            kernels.hash_tokens(listed, name, bits)
