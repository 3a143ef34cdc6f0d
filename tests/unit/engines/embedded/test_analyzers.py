"""Texts are split into words as Elasticsearch's analyzers do, the same with compiled kernels and without."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.environment import NATIVE
from es_simhash.engines.embedded.values import standard, whitespace
from es_simhash.text.tokens.words import words

CASES = [
    ("plain words 9", "plain words 9"),
    ("Don't COUNT 3.14, twice!", "don't count 3.14 twice"),
    ("Ärger über 漢字 ΟΔΟΣ.", "ärger über 漢 字 οδος"),
    ("?! … ", ""),
    ("", ""),
    (300 * "A" + " b", f"{255 * 'a'} {45 * 'a'} b"),
    (256 * "𠮷", " ".join(256 * "𠮷")),
    (256 * "𝒳", f"{255 * '𝒳'} 𝒳"),
]


@pytest.mark.parametrize("by_kernels", [True, False])
@pytest.mark.parametrize(("text", "expected"), CASES)
def test_the_standard_analyzer_finds_words_in_lower_case(
    text: str, expected: str, by_kernels: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not by_kernels:
        monkeypatch.setenv(NATIVE, "0")
    assert standard(text) == expected


@given(st.text(st.sampled_from("aB 1_'.é近ひテ한ไΣİ\u0301👍\n"), max_size=12) | st.text())
def test_the_standard_analyzer_finds_the_words_of_unicode(text: str) -> None:
    assert standard(text) == " ".join(word.lower() for word in words(text))


def test_the_whitespace_analyzer_keeps_what_stands_between_white_space() -> None:
    assert whitespace(" 1LheR\tPa5k_  -x.Y\n") == "1LheR Pa5k_ -x.Y"
    assert whitespace(300 * "a") == f"{255 * 'a'} {45 * 'a'}"
