"""The compiled kernels normalise every text as its definition does, by every choice of steps."""

from __future__ import annotations

import random
import unicodedata
from functools import cache
from itertools import cycle, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash.text.normalise import KINDS, Folding, Normalisation
from tests.support.nightly import rest_at_night
from tests.support.normalization_cases import normalization_cases
from tests.support.texts import any_text
from tests.unit.native.made import kernels

Steps = tuple[bool, bool, bool, tuple[Folding, ...]]
EVERY_CHOICE: list[Steps] = [
    (nfkc, casefold, space, kinds)
    for (nfkc, casefold, space), kinds in zip(
        product((True, False), repeat=3),
        cycle([(), KINDS, ("han",), ("kana",), ("accents",)]),
    )
]
ALL: Steps = (True, True, True, KINDS)
# What characters are most likely to combine with: marks of several classes, jamo, what folds to several, a wall.
NEIGHBOURS = [
    *(("a", "b"), ("e\u0323", "\u0301"), ("H", "\u0331"), ("ậ", "\u0345"), ("\u0345", "\u0301"), ("ß", "\u0338")),
    *(("\u1100", "\u11a8"), ("가", "\u1161"), ("か", "\u3099"), ("\u09c7", "\u09be"), (" ", " "), ("\u0378", "\u0378")),
]


@cache
def characters(end: int = 0x110000) -> list[str]:
    return [chr(point) for point in range(end) if not 0xD800 <= point < 0xE000]


def wrong(texts: list[str], steps: Steps) -> list[tuple[str, str]]:
    """Return the texts that are not normalised to what they should be, with what they become."""
    normalisation = Normalisation(*steps)
    normalised: list[str] = kernels.normalise(texts, steps)
    assert len(normalised) == len(texts)
    pairs = zip(texts, normalised, strict=True)
    return [(text, become) for text, become in pairs if become != normalisation(text)]


def test_the_official_cases_are_normalised_to_their_form_kc() -> None:
    texts, forms = zip(*normalization_cases(), strict=True)
    assert kernels.normalise(list(texts), (True, False, False, ())) == list(forms)


@pytest.mark.parametrize(
    "steps", rest_at_night(EVERY_CHOICE, quick=[(True, True, True, KINDS), (False, True, False, ())])
)
def test_every_character_is_normalised_as_defined(steps: Steps) -> None:
    assert wrong(characters(), steps) == []


@pytest.mark.parametrize(
    "around", rest_at_night(NEIGHBOURS, quick=[("ậ", "\u0345"), ("가", "\u1161"), ("か", "\u3099")])
)
def test_every_character_of_unicode_13_is_normalised_as_defined_next_to_others(around: tuple[str, str]) -> None:
    """What follows the third plane is unassigned or changed by nothing."""
    before, after = around
    assert wrong([f"{before}{character}{after}" for character in characters(0x30000)], ALL) == []


def _special() -> list[list[str]]:
    some = characters(0x30000)
    jamo = [(0x1100, 0x1200), (0x3131, 0x318F), (0xAC00, 0xAC80), (0xFFA0, 0xFFDD)]
    return [
        [c for c in some if unicodedata.combining(c)],
        [c for c in some if unicodedata.decomposition(c) and not "가" <= c <= "힣"],
        [c for c in some if c.casefold() != c],
        [chr(point) for first, last in jamo for point in range(first, last)],
        list("\u0378\uffff\U0001f8ff\U00040000\u0530 \t\n\u00a0\u3000\u2028\u0085\x1c\u2003\u1680"),
        list("abcHJTWYAIhtwy=<>ωΩαιΑΙةأणनरक്കെ中ガカ😀𝐀𠀀ßſİŉ\u0301\u0323\u0308\u031b\u0345"),
    ]


SPECIAL = _special()


@given(
    st.lists(st.sampled_from(range(len(SPECIAL))), min_size=1, max_size=5), st.integers(), st.sampled_from(EVERY_CHOICE)
)
@settings(max_examples=60)
def test_what_combines_is_normalised_as_defined(chosen: list[int], seed: int, steps: Steps) -> None:
    rng = random.Random(seed)  # 100 texts an example: hypothesis alone would try few of the combinations
    texts = [
        "".join(rng.choice(SPECIAL[rng.choice(chosen)]) for _ in range(rng.choice((2, 4, 9, 40)))) for _ in range(100)
    ]
    assert wrong(texts, steps) == []


@given(st.lists(any_text(), max_size=8), st.sampled_from(EVERY_CHOICE))
def test_any_text_is_normalised_as_defined(texts: list[str], steps: Steps) -> None:
    assert wrong(texts, steps) == []


@pytest.mark.parametrize("mark", ["\u0301", "\u0323", "\u0345", "\u064b", "\u11a8", "\u0cd6", "\U0001d165"])
def test_long_runs_of_marks_are_normalised_as_defined(mark: str) -> None:
    texts = [f"{base}{mark * 500}\u0316{mark * 500}b" for base in ("", "e", "가", " ", "ﬁ", "😀", "\u0378")]
    assert wrong(texts, ALL) == []


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "é" * 100 + "\udc00"])
@pytest.mark.parametrize("steps", [ALL, (False, False, False, ())])
def test_a_lone_surrogate_is_refused(text: str, steps: Steps) -> None:
    with pytest.raises(kernels.Refused):
        kernels.normalise([text], steps)


def test_what_is_not_a_string_is_refused() -> None:
    with pytest.raises(kernels.Refused):
        kernels.normalise([None], ALL)


def test_a_kind_of_folding_that_the_kernels_do_not_know_is_refused() -> None:
    with pytest.raises(kernels.Refused):
        kernels.normalise(["a"], (True, True, True, ["hangul"]))
