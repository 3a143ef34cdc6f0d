"""Words: Unicode's default word boundaries, for whole batches."""

from __future__ import annotations

import runpy
import unicodedata
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import TextError
from es_simhash.text.features import batch
from es_simhash.text.words import (
    ALPHANUMERIC,
    PICTOGRAPHIC,
    VALUE,
    WordBreak,
    properties_table,
    segment_starts,
    word_spans,
    words,
)
from tests import ROOT

MAKE_DATA = runpy.run_path(str(ROOT / "tools" / "make_word_break_data.py"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The quick (“brown”) fox can’t jump 32.3 feet, right?",
            "The quick brown fox can’t jump 32.3 feet right",
        ),
        ("can't 'tis rock'n'roll dogs'", "can't tis rock'n'roll dogs"),
        ("3.14 1,234.5 1:2 a:b a.b 1.a a.1 U.S.A. e.g.", "3.14 1,234.5 1 2 a:b a.b 1 a a 1 U.S.A e.g"),
        ("snake_case _private __init__ _ __", "snake_case _private __init__"),
        ("x² 10% A4 C++ user@example.com 2024-01-02", "x ² 10 A4 C user example.com 2024 01 02"),
        ("我用搜索引擎。", "我 用 搜 索 引 擎"),
        ("ひらがなとカタカナとﾊﾝｶｸ", "ひ ら が な と カタカナ と ﾊﾝｶｸ"),
        ("한국어 낱말 test한글", "한국어 낱말 test한글"),
        ("naïve café cafe\u0301 Straße", "naïve café cafe\u0301 Straße"),
        ("co\u00adoperate zero\u200bwidth", "co\u00adoperate zero width"),
        ("צה\"ל ג'ירפה שלום", "צה\"ל ג'ירפה שלום"),
        ("हिन्दी ไทย", "हिन्दी ไ ท ย"),
        ("👍 👍🏽 👩‍👩‍👧 🇩🇪 ❤️ 1️⃣ a😀b", "1️⃣ a b"),
        ("𠮷野家 𝒳𝒴", "𠮷 野 家 𝒳𝒴"),
        ("", ""),
        (" \t\r\n", ""),
    ],
)
def test_words_are_the_segments_with_a_letter_a_digit_or_an_ideograph(text: str, expected: str) -> None:
    assert words(text) == expected.split()


def official_cases() -> list[list[str]]:
    lines = (ROOT / "tests" / "data" / "word_break_test.txt").read_text(encoding="utf-8").splitlines()
    segments = [line.split("÷") for line in lines if not line.startswith("#")]
    return [["".join(chr(int(point, 16)) for point in part.split()) for part in case] for case in segments]


def test_the_rules_pass_all_official_test_cases() -> None:
    cases = official_cases()
    assert len(cases) == 1944
    text = "".join(map("".join, cases))
    text_starts = np.cumsum([0] + [len("".join(case)) for case in cases])[:-1]
    segments = [segment for case in cases for segment in case]
    starts = segment_starts(properties_table()[[ord(c) for c in text]], text_starts)
    assert starts.tolist() == np.cumsum([0] + [len(segment) for segment in segments])[:-1].tolist()


def test_the_words_of_the_official_test_cases_are_their_segments_with_something_alphanumeric() -> None:
    cases = official_cases()
    found = word_spans(batch(["".join(case) for case in cases])).lists()
    assert found == [[segment for segment in case if is_alphanumeric(segment)] for case in cases]


# Characters of all kinds, for the simple rules and for the others; among them alphabetic marks and letters
# that are pictographs.
SIMPLE = " \tab9_.,:;'\"’-+ªµ²½éЯﬁ١٫あカｶ゛ー漢한ไˈ՛…‿\u3000\u202f\u2028☺😀"
HARD = "\u0301\u064b\u093e\ufe0f\u200d\u00ad\u0600🏽אבב\r\n🇩🇪🅰ℹⓂ👩𝒳𠮷𝟙"
mixed_texts = st.text(st.sampled_from(SIMPLE + HARD), max_size=12)
simple_texts = st.text(st.sampled_from(SIMPLE), max_size=12)


@given(st.lists(mixed_texts | simple_texts, max_size=6))
def test_a_batch_has_the_words_that_the_rules_give_text_by_text(texts: list[str]) -> None:
    assert word_spans(batch(texts)).lists() == [words_by_the_book(text) for text in texts]


@given(st.lists(st.text(st.characters(max_codepoint=127), max_size=30), max_size=6))
def test_an_ascii_batch_has_the_words_that_the_rules_give_text_by_text(texts: list[str]) -> None:
    assert word_spans(batch(texts)).lists() == [words_by_the_book(text) for text in texts]


@given(simple_texts)
def test_what_stands_in_other_texts_of_a_batch_does_not_matter(text: str) -> None:
    """A text with a combining mark is cut in another way, and a text beyond ASCII makes the units wider."""
    alone = words(text)
    for other in ("plain", "naïve", "cafe\u0301", ""):
        found = word_spans(batch([other, text, other, text])).lists()
        assert found == [words(other), alone, words(other), alone]


# `regex` deviates from UAX #29 at ignorable characters, regional indicators, and apostrophes before vowels.
@given(st.text(st.sampled_from([c for c in SIMPLE + "𝒳𠮷" if c not in "'’"])))
def test_boundaries_are_those_of_the_regex_package(text: str) -> None:
    bounds = [match.start() for match in regex.finditer(r"(?w)\b", text)]
    segments = [text[start:end] for start, end in pairwise(bounds)]
    assert words(text) == [segment for segment in segments if is_alphanumeric(segment)]


def test_a_text_boundary_is_a_word_boundary() -> None:
    texts = ["a", "b", "", "c'", "d", "1.", "5", "e", "'f", "__", "_"]
    expected = [["a"], ["b"], [], ["c"], ["d"], ["1"], ["5"], ["e"], ["f"], [], []]
    assert word_spans(batch(texts)).lists() == expected


def test_batches_without_words_have_none() -> None:
    for texts in ([], [""], ["", " "], ["…"], ["_", "\u0301"]):
        spans = word_spans(batch(texts))
        assert spans.strings() == []
        assert spans.offsets.tolist() == [0] * (len(texts) + 1)


def test_a_lone_surrogate_is_a_text_error() -> None:
    with pytest.raises(TextError, match="lone surrogate"):
        words("a\ud800")


@pytest.mark.parametrize("name", MAKE_DATA["PATTERNS"])
def test_the_pinned_properties_are_those_of_unicode(name: str) -> None:
    """Compared for the characters of Unicode 3.2, which any version of `regex` knows."""
    in_regex = {
        point for first, last in MAKE_DATA["ranges"](MAKE_DATA["PATTERNS"][name]) for point in range(first, last + 1)
    }
    flags = {"Extended_Pictographic": PICTOGRAPHIC, "Alphanumeric": ALPHANUMERIC}
    table = properties_table()
    pinned = table & flags[name] != 0 if name in flags else table & VALUE == WordBreak[name.upper()]
    assigned = characters_of_unicode_3_2()
    assert assigned & set(np.flatnonzero(pinned).tolist()) == assigned & in_regex


@cache
def characters_of_unicode_3_2() -> frozenset[int]:
    return frozenset(p for p in range(len(properties_table())) if unicodedata.ucd_3_2_0.category(chr(p)) != "Cn")


# The rules of UAX #29 as they are written there, one position after the other.

LINE_ENDS = {"CR", "LF", "Newline"}
IGNORABLE = {"Extend", "Format", "ZWJ"}
LETTER = {"ALetter", "Hebrew_Letter"}
MID_QUOTE = {"MidNumLet", "Single_Quote"}


@cache
def word_break(character: str) -> str:
    names = MAKE_DATA["WORD_BREAK_VALUES"]
    return next((name for name in names if regex.match(rf"\p{{Word_Break={name}}}", character)), "Other")


def words_by_the_book(text: str) -> list[str]:
    kinds = [word_break(character) for character in text]
    segments: list[str] = []
    for i, character in enumerate(text):
        if i == 0 or is_boundary(text, kinds, i):
            segments.append("")
        segments[-1] += character
    return [segment for segment in segments if is_alphanumeric(segment)]


def is_alphanumeric(segment: str) -> bool:
    return regex.search(r"[\p{Alphabetic}\p{N}]", segment) is not None


def is_boundary(text: str, kinds: list[str], i: int) -> bool:
    if (kinds[i - 1], kinds[i]) == ("CR", "LF"):  # WB3
        return False
    if kinds[i - 1] in LINE_ENDS or kinds[i] in LINE_ENDS:  # WB3a, WB3b
        return True
    if kinds[i - 1] == "ZWJ" and regex.match(r"\p{Extended_Pictographic}", text[i]):  # WB3c
        return False
    if kinds[i - 1] == kinds[i] == "WSegSpace":  # WB3d
        return False
    if kinds[i] in IGNORABLE:  # WB4
        return False
    before = ["", "", *without_ignorable(kinds[:i])]
    after = [*without_ignorable(kinds[i:]), ""]
    return not is_joined(before, after)


def without_ignorable(kinds: list[str]) -> list[str]:
    return [kind for last, kind in pairwise(["Newline", *kinds]) if kind not in IGNORABLE or last in LINE_ENDS]


def is_joined(before: list[str], after: list[str]) -> bool:
    a, b, c, d = before[-2], before[-1], after[0], after[1]
    flags = 0
    while before[-1 - flags] == "Regional_Indicator":
        flags += 1
    return (
        (b in LETTER and c in LETTER)  # WB5
        or (b in LETTER and c in MID_QUOTE | {"MidLetter"} and d in LETTER)  # WB6
        or (a in LETTER and b in MID_QUOTE | {"MidLetter"} and c in LETTER)  # WB7
        or (b == "Hebrew_Letter" and c == "Single_Quote")  # WB7a
        or (b == d == "Hebrew_Letter" and c == "Double_Quote")  # WB7b
        or (a == c == "Hebrew_Letter" and b == "Double_Quote")  # WB7c
        or (b == c == "Numeric")  # WB8
        or (b in LETTER and c == "Numeric")  # WB9
        or (b == "Numeric" and c in LETTER)  # WB10
        or (a == c == "Numeric" and b in MID_QUOTE | {"MidNum"})  # WB11
        or (b == d == "Numeric" and c in MID_QUOTE | {"MidNum"})  # WB12
        or (b == c == "Katakana")  # WB13
        or (b in LETTER | {"Numeric", "Katakana", "ExtendNumLet"} and c == "ExtendNumLet")  # WB13a
        or (b == "ExtendNumLet" and c in LETTER | {"Numeric", "Katakana"})  # WB13b
        or (c == "Regional_Indicator" and flags % 2 == 1)  # WB15, WB16
    )
