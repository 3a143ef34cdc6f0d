from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from es_simhash.errors import TextError
from es_simhash.text import normalise as normalise_batch_module
from es_simhash.text.normalise import KINDS, Normalisation, is_unassigned, normalise_batch, strip_html
from tests.support.normalization_cases import normalization_cases
from tests.support.texts import any_text, batches

Folds = st.sets(st.sampled_from(KINDS)).map(tuple)
Normalisations = st.builds(Normalisation, st.booleans(), st.booleans(), st.booleans(), Folds)

WHITE_SPACE = [*range(0x9, 0xE), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]
WHITE_SPACE += [0x2028, 0x2029, 0x202F, 0x205F, 0x3000]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ｆｕｌｌ　Ｗｉｄｔｈ", "full width"),
        ("STRASSE straße", "strasse strasse"),
        ("ﬁne … ①", "fine ... 1"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("e\u0301", "é"),
        ("  a\t\n b\u3000", "a b"),
        ("中文，標點。", "中文,標點。"),
        ("", ""),
        (" \n", ""),
    ],
)
def test_the_default_folds_forms_case_and_white_space(text: str, expected: str) -> None:
    assert Normalisation()(text) == expected


def test_each_step_can_be_switched_off() -> None:
    text = "Ａ  B\u00a0ß"
    assert Normalisation(nfkc=False)(text) == "ａ b ss"
    assert Normalisation(casefold=False)(text) == "A B ß"
    assert Normalisation(whitespace=False)(text) == "a  b ss"
    assert Normalisation(False, False, False)(text) == text


@given(batches(), Normalisations)
def test_a_batch_is_normalised_as_its_texts_are_one_by_one(texts: list[str], normalisation: Normalisation) -> None:
    assert normalise_batch(texts, normalisation).texts() == [normalisation(text) for text in texts]


def _points(*ranges: tuple[int, int]) -> st.SearchStrategy[str]:
    return st.sampled_from([chr(point) for first, last in ranges for point in range(first, last)])


# Characters that combine with their neighbours: marks of several classes, vowel signs, jamo, syllables.
COMBINING = _points((0x300, 0x370), (0x93C, 0x94E), (0x9BC, 0x9D8), (0xDCA, 0xDE0), (0xE31, 0xE4F), (0x1D165, 0x1D16E))
JAMO = _points((0x1100, 0x1200), (0xA960, 0xA97D), (0xAC00, 0xAC40), (0xFFA0, 0xFFDD))
ODD = st.sampled_from(list("ﬁ´¨ǅŉẞ①㌀ﷺ\u0344\u0f73\uff9e𝐀🅰😀\U000110ba\U00030000\u0378")) | st.sampled_from(
    list("aA=<カ \n\u3000\0")
)
COMBINED = st.text(st.one_of(COMBINING, JAMO, ODD), max_size=12)


@given(st.lists(COMBINED, max_size=4), Normalisations)
@example(["a\u034fb", "\u034f\u0301"], Normalisation(fold=("accents",)))  # a mark that folds to nothing, and joins none
def test_characters_that_combine_are_normalised_in_a_batch_as_they_are_alone(
    texts: list[str], normalisation: Normalisation
) -> None:
    assert normalise_batch(texts, normalisation).texts() == [normalisation(text) for text in texts]


@pytest.mark.parametrize("odd", ["ﬁ", "e\u0301", "😀🅰", "क्ष", "힣\u11a8", "´"])
def test_an_odd_character_costs_what_it_is_and_not_its_text(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    of_characters = Normalisation.of_characters

    def counted(self: Normalisation, text: str) -> str:
        sizes.append(len(text))
        return of_characters(self, text)

    monkeypatch.setattr(Normalisation, "of_characters", counted)
    text = "é and more of this text " * 100
    assert normalise_batch([text + odd + text], Normalisation()).texts()[0].startswith("é and")
    assert max(sizes, default=0) <= 4


def test_what_composes_with_the_character_before_it_is_known() -> None:
    """The standard library knows newer characters, too, which Unicode 13.0 has not assigned."""
    composites = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.normalize("NFC", c) == c]
    pairs = [unicodedata.decomposition(c).split() for c in composites]
    seconds = {int(pair[1], 16) for pair in pairs if len(pair) == 2 and not pair[0].startswith("<")}
    composing = {point for point in seconds if not unicodedata.combining(chr(point)) and not is_unassigned(chr(point))}
    assert composing <= normalise_batch_module._COMPOSING


def test_every_character_is_normalised_alike_alone_and_in_a_batch() -> None:
    characters = [chr(point) for point in range(0x30000) if not 0xD800 <= point < 0xE000]
    texts = [f"a{character}b" for character in characters]
    normalisation = Normalisation()
    assert normalise_batch(texts, normalisation).texts() == [normalisation(text) for text in texts]


@given(any_text())
def test_assigned_characters_follow_the_standard_library(text: str) -> None:
    assigned = "".join(character for character in text if not is_unassigned(character))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", assigned).casefold())
    assert Normalisation()(assigned) == " ".join(folded.split())


def test_characters_that_unicode_13_does_not_have_are_left_alone_by_every_python() -> None:
    capital_of_unicode_14, modifier_of_unicode_14 = "\u2c2f", "\U00010781"
    text = f"A{capital_of_unicode_14}B{modifier_of_unicode_14}"
    assert Normalisation()(text) == f"a{capital_of_unicode_14}b{modifier_of_unicode_14}"
    assert normalise_batch([text], Normalisation()).texts() == [Normalisation()(text)]


@pytest.mark.skipif(unicodedata.unidata_version != "13.0.0", reason="needs the unicodedata of Python 3.10")
def test_the_pinned_list_is_that_of_unicode_13() -> None:
    unassigned = [chr(p) for p in range(sys.maxunicode + 1) if unicodedata.category(chr(p)) == "Cn"]
    assert all(map(is_unassigned, unassigned))
    assert not any(is_unassigned(chr(p)) for p in range(0x3000) if unicodedata.category(chr(p)) != "Cn")


def test_white_space_is_the_same_29_characters_in_every_python() -> None:
    assert [point for point in range(sys.maxunicode + 1) if chr(point).isspace()] == sorted(WHITE_SPACE)


def test_the_official_cases_are_normalised_to_their_form_kc() -> None:
    texts, forms = zip(*normalization_cases(), strict=True)
    nfkc = Normalisation(casefold=False, whitespace=False)
    assert len(texts) == 5 * 18_503
    assert list(map(nfkc, texts)) == list(forms)
    assert normalise_batch(texts, nfkc).texts() == list(forms)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(TextError, match=r"U\+DFFF"):
        normalise_batch(["a\udfff"], Normalisation())


def test_what_is_not_a_string_is_refused() -> None:
    with pytest.raises(TextError, match=r"Text 0 .*NoneType"):
        normalise_batch([None], Normalisation())  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>one &amp; two</p><p>three</p>", ["one", "&", "two", "three"]),
        ("<head><title>t</title></head><body><script>x()</script>中文<br>字</body>", ["中文", "字"]),
        ("no tags, 1 < 2", ["no", "tags,", "1", "<", "2"]),
        ("<!-- only a comment -->", []),
        ("", []),
    ],
)
def test_html_is_stripped_to_what_a_reader_sees(html: str, expected: list[str]) -> None:
    pytest.importorskip("selectolax")
    assert strip_html(html).split() == expected
