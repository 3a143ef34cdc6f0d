from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import SchemeError
from es_simhash.plans.explain.text_differences import changes
from es_simhash.scheme.scheme import Scheme
from es_simhash.text.normalise import KINDS, Normalisation, folded_characters
from tests.support.texts import any_text
from tools.han_variants import TARGETS

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
