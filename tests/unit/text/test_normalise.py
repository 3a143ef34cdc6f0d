""""""

from __future__ import annotations

import json
import sys
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from es_simhash.errors import SchemeError, TextError
from es_simhash.plans.text_differences import changes
from es_simhash.scheme.scheme import Scheme
from es_simhash.text import normalise as normalise_batch_module
from es_simhash.text.features import batch, is_continuation
from es_simhash.text.normalise import (
    KINDS,
    Normalisation,
    folded_characters,
    is_unassigned,
    normalise_batch,
    strip_html,
)
from tests.support.normalization_cases import normalization_cases
from tests.support.texts import any_text, batches
from tools.han_variants import TARGETS

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


FOLDS = st.sets(st.sampled_from(KINDS)).map(tuple)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("han", "臺灣的電腦軟體發展", "台湾的电脑软体发展"),
        ("han", "舊字體の國會圖書館で讀む", "旧字体の国会図書館で読む"),
        ("han", "裏裡里 著着 爲為为 説說说", "里里里 着着 为为为 说说说"),
        ("kana", "ラーメン、ヴァイオリンとﾃﾚﾋﾞ", "らーめん、ゔぁいおりんとてれび"),
        ("accents", "Hélène à Đà Nẵng, ΰπνος, naïve cafés", "Helene a Đa Nang, υπνος, naive cafes"),
        ("accents", "x\u0304\u0301y", "xy"),
    ],
)
def test_forms_of_a_character_are_one_by_their_kind_of_folding_only(kind: Any, one: str, other: str) -> None:
    folding = Normalisation(fold=(kind,))
    assert folding(one) == folding(other)
    others = Normalisation(fold=tuple(each for each in KINDS if each != kind))
    assert others(one) != others(other)


@pytest.mark.parametrize("kept", ["ヷヸヹヺー・", "øłđßæ", "йё", "가각", "भि", "😀", "人民"])
def test_other_characters_stay_what_they_are(kept: str) -> None:
    assert Normalisation(casefold=False, fold=KINDS)(kept) == unicodedata.normalize("NFKC", kept)


@given(any_text(), FOLDS)
def test_what_is_folded_changes_no_more(text: str, fold: Any) -> None:
    normalisation = Normalisation(fold=fold)
    assert normalisation(normalisation(text)) == normalisation(text)


@given(any_text(), FOLDS)
def test_folding_replaces_single_characters_of_what_the_other_steps_make(text: str, fold: Any) -> None:
    steps = Normalisation(whitespace=False)
    expected = steps(text).translate(folded_characters(fold)) if not text.isascii() else steps(text)
    assert replace(steps, fold=fold)(text) == expected


def test_no_character_stands_for_one_that_another_stands_for() -> None:
    changed = folded_characters(KINDS)
    assert not changed.keys() & {ord(folded) for folded in changed.values() if folded}
    assert all(unicodedata.normalize("NFKC", folded) == folded for folded in changed.values())


def test_the_kernels_have_the_same_table_of_han_characters() -> None:
    here, native = (target.read_bytes() for target in TARGETS)
    assert here == native


def test_a_scheme_without_folding_has_the_form_and_the_id_that_it_had_before_there_was_any() -> None:
    plain = Scheme(normalisation=Normalisation())
    assert json.loads(plain.to_json())["normalisation"] == {"nfkc": True, "casefold": True, "whitespace": True}
    folding = Scheme(normalisation=Normalisation(fold=("kana", "han")))
    assert json.loads(folding.to_json())["normalisation"]["fold"] == ["han", "kana"]
    assert Scheme.from_json(folding.to_json()) == folding
    assert len({scheme.id for scheme in (folding, plain, Scheme())}) == 3


def test_an_unknown_kind_of_folding_is_named() -> None:
    with pytest.raises(SchemeError, match=r"Unknown folding 'hanzi'\. Choose from: han, kana, accents\."):
        Normalisation(fold=("hanzi",))  # type: ignore[arg-type]


@pytest.mark.parametrize("native", ["0", "1"])
def test_texts_in_both_scripts_are_equal_with_their_kernels_and_without(
    native: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ES_SIMHASH_NATIVE", native)
    scheme, plain = Scheme(), Scheme(normalisation=Normalisation())
    one, other = "颱風過後，沿海許多居民停電，學校停課至星期四。", "台风过后，沿海许多居民停电，学校停课至星期四。"
    assert scheme.fingerprint(one) == scheme.fingerprint(other)
    assert scheme.exact_jaccard(one, other) == 1.0
    assert plain.exact_jaccard(one, other) < 0.4


def test_words_that_agree_only_as_folded_are_counted() -> None:
    scheme, plain = Scheme(), Scheme(normalisation=Normalisation())
    found = changes(scheme, ("他愛讀書，共12本。", "他爱读书，共13册。"))
    assert (found.words, found.numbers, found.folded) == (1, 1, 3)
    assert found.sentence == "1 of 7 words and 1 of 1 numbers differ: 12 → 13; 3 words agree only as folded"
    assert changes(plain, ("他愛讀書", "他爱读书")).folded == 0


@given(batches())
def test_a_batch_keeps_its_texts(texts: list[str]) -> None:
    assert batch(texts).texts() == texts


@given(batches())
def test_what_is_not_a_continuation_begins_a_code_point(texts: list[str]) -> None:
    together = batch(texts)
    assert (~is_continuation(together.units)).sum() == sum(map(len, texts))


def test_a_lone_surrogate_is_refused_with_its_place() -> None:
    with pytest.raises(TextError, match=r"Text 1 has .*U\+D800 at character 2.*right encoding"):
        batch(["fine", "ab\ud800"])


@pytest.mark.parametrize("wrong", [None, b"bytes", 3])
def test_what_is_not_a_string_is_refused_by_type(wrong: object) -> None:
    with pytest.raises(TextError, match=f"Text 1 .*{type(wrong).__name__}"):
        batch(["fine", wrong])  # type: ignore[list-item]
