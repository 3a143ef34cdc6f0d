"""Words by the compiled kernels are those that numpy finds by the rules of Unicode."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.scheme.settings import Settings
from es_simhash.text import hashing
from es_simhash.text.features import FeatureBatch, batch
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens import Words
from es_simhash.text.words import Spans, properties_table, spans_from_lists, word_spans
from tests.unit.native.made import by_kernels, kernels, rows
from tests.unit.text.test_words import HARD, SIMPLE, is_alphanumeric, official_cases
from tools import native_word_break

AS_THEY_ARE = Settings(
    normalisation=Normalisation(nfkc=False, casefold=False, whitespace=False), tokens=Words(), weights="tf"
)
SCRIPTS = [
    "The don't 3.14 snake_case U.S.A.",
    "हिन्दी में शब्द क्षेत्र",
    "Tiếng Việt co\u0302\u0323ng",
    "ภาษาไทย กำ",
    "العَرَبِيَّة كلمة",
    "שלום צה\"ל ג'ירפה",
    "한국어 낱말 \u1112\u1161\u11ab",
    "漢字とカタカナﾊﾝｶｸ゛ー",
    "👩‍👩‍👧 🇩🇪 1️⃣ 👍🏽 ❤️",
    "𠮷𝒳𝟙 Ⓜ🅰",
    "\r\n\u2028\u00ad\u200b\u200d\ufeff\u0600",
]
mixed = st.lists(st.sampled_from([*"".join(SCRIPTS), *SIMPLE, *HARD]), max_size=80).map("".join)


def assert_words(texts: list[str], expected: Spans) -> None:
    hashes = hashing.hash_spans(expected.units, expected.starts, expected.ends)
    assert rows(by_kernels(AS_THEY_ARE, texts)) == rows(FeatureBatch(hashes, expected.offsets))


def test_the_words_of_the_official_test_cases_are_their_segments_with_something_alphanumeric() -> None:
    cases = official_cases()
    segments = [list(filter(is_alphanumeric, case)) for case in cases]
    assert_words(["".join(case) for case in cases], spans_from_lists(segments))


@pytest.mark.parametrize("text", SCRIPTS)
def test_texts_of_every_script_have_the_words_of_numpy(text: str) -> None:
    texts = [text, 70 * text, text[::-1]]
    assert_words(texts, word_spans(batch(texts)))


@given(st.lists(mixed, max_size=4))
def test_texts_of_many_scripts_have_the_words_of_numpy(texts: list[str]) -> None:
    assert_words(texts, word_spans(batch(texts)))


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_texts_of_any_characters_have_the_words_of_numpy(text: str) -> None:
    assert_words([text], word_spans(batch([text])))


def test_the_neighbours_of_every_character_belong_to_it_as_they_do_by_numpy() -> None:
    table = properties_table()
    bounds = np.flatnonzero(np.diff(table)) + 1
    points = [p for p in np.unique([*bounds, *(bounds - 1)]).tolist() if not 0xD800 <= p < 0xE000]
    around = ["a*a", "1*1", "ア*", "א*א", "\u200d*"]
    texts = [template.replace("*", chr(point)) for point in points for template in around]
    assert_words(texts, word_spans(batch(texts)))


def test_the_table_of_properties_is_made_again_the_same() -> None:
    assert native_word_break.rust() == native_word_break.TARGET.read_text(encoding="ascii")


@pytest.mark.parametrize("longest", [1, 3, 255])
@given(text=mixed)
def test_words_are_joined_by_spaces_and_cut_at_whole_characters(text: str, longest: int) -> None:
    expected = [
        word[start : start + longest]
        for word in word_spans(batch([text])).strings()
        for start in range(0, len(word), longest)
    ]
    assert kernels.words(text, longest) == " ".join(expected)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(kernels.Refused):
        kernels.words("a\ud800", 255)
