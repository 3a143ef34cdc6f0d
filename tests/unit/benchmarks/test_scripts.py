"""Texts in many scripts are what their names say, and the same in every run."""

from __future__ import annotations

import unicodedata

import pytest

from benchmarks.scripts import TEXTS, decomposed, with_one
from tests.support.nightly import rest_at_night


def scripts(text: str) -> set[str]:
    """The first words of the letters' names, as "LATIN" or "DEVANAGARI"."""
    return {unicodedata.name(character).split()[0] for character in text if character.isalpha()}


@pytest.mark.parametrize("name", rest_at_night(TEXTS, quick=["Hindi", "Korean, jamo"]))
def test_texts_have_their_length_and_differ_from_each_other(name: str) -> None:
    kind = TEXTS[name]
    texts = kind.make(3, kind.length)
    assert [len(text) for text in texts] == [kind.length] * 3
    assert len(set(texts)) == 3
    assert kind.make(3, kind.length) == texts


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("Hindi", "DEVANAGARI"),
        ("Vietnamese, decomposed", "LATIN"),
        ("Arabic with marks", "ARABIC"),
        ("Thai", "THAI"),
        ("Korean, jamo", "HANGUL"),
    ],
)
def test_texts_are_written_in_their_script(name: str, script: str) -> None:
    assert scripts(TEXTS[name].make(1, 1000)[0]) == {script}


def test_decomposed_texts_have_their_marks_and_jamo_apart() -> None:
    for name in ("Vietnamese, decomposed", "Korean, jamo"):
        [text] = TEXTS[name].make(1, 500)
        assert decomposed(text) == text
        assert len(unicodedata.normalize("NFC", text)) < 450


def test_one_odd_character_takes_the_place_of_another() -> None:
    assert with_one("ﬁ", ["abcd", "abc"]) == ["abﬁd", "aﬁc"]
