from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.scheme.fingerprinting import hashed_features, normalised
from es_simhash.scheme.settings import Settings
from es_simhash.text import hashing
from es_simhash.text.features import batch
from es_simhash.text.hashing import HASH_FUNCTIONS
from es_simhash.text.normalise import VALUES, is_unassigned
from es_simhash.text.numbers import masked, numbers_of, run_and_number_features, run_and_number_spans
from es_simhash.text.tokens import Runs, RunsAndNumbers
from tests.support.numbers import masked_by_characters, numbers_by_characters, numerous_text, runs_and_numbers_of
from tests.support.texts import batches

# A text of this size that cost the square of its length would take days.
LONG = 2_000_000


def normal(text: str) -> str:
    [found] = normalised(Settings(), [text]).texts()
    return found


@pytest.mark.parametrize(
    ("text", "numbers", "without"),
    [
        ("Invoice 0417: 12 pieces at 3.50", ["3", "12", "50", "417"], "invoice 0: 0 pieces at 0.0"),
        ("Der Preis stieg um 1’250’000 Franken.", ["1250000"], "der preis stieg um 0 franken."),
        ("总价１２，５００元，共３件", ["3", "12500"], "总价0元,共0件"),
        ("١٢٣ كتابا و ۴۵ قلما", ["45", "123"], "0 كتابا و 0 قلما"),
        ("राम के पास २५ किताबें", ["25"], "राम के पास 0 किताबें"),
        ("𝟙𝟚 and 𝟘", ["0", "12"], "0 and 0"),
        ("no number, nor a①b", ["1"], "no number, nor a0b"),
        ("none", [], "none"),
        ("123", ["123"], "0"),
        ("000 00", ["0"], "0 0"),
        ("", [], ""),
    ],
)
def test_numbers_are_the_values_of_digits_of_any_script_and_width(text: str, numbers: list[str], without: str) -> None:
    assert (numbers_of(normal(text)), masked(normal(text))) == (numbers, without)


@pytest.mark.parametrize(
    ("text", "numbers", "without"),
    [
        ("12,500", ["12500"], "0"),
        ("1'234'567", ["1234567"], "0"),
        ("1’000’000", ["1000000"], "0"),
        ("0,001", ["1"], "0"),
        ("1,234'567", ["567", "1234"], "0'0"),
        ("1,234'567,890", ["1234", "567890"], "0'0"),
        ("2024,123", ["123", "2024"], "0,0"),
        ("2024,123,456", ["2024", "123456"], "0,0"),
        ("1,000,2000", ["1000", "2000"], "0,0"),
        ("12,50", ["12", "50"], "0,0"),
        ("12, 500", ["12", "500"], "0, 0"),
        ("12,,500", ["12", "500"], "0,,0"),
        ("12.500", ["12", "500"], "0.0"),
        ("12,", ["12"], "0,"),
        ("3.14", ["3", "14"], "0.0"),
        ("14.03.2024", ["3", "14", "2024"], "0.0.0"),
        ("2024-03-14", ["3", "14", "2024"], "0-0-0"),
        ("08:30", ["8", "30"], "0:0"),
        ("12,一二三", ["12", "123"], "0,0"),
        ("12,5𖫀𖫁", ["5", "12"], "0,0𖫀𖫁"),
    ],
)
def test_groups_of_thousands_are_one_number(text: str, numbers: list[str], without: str) -> None:
    assert (numbers_of(text), masked(text)) == (numbers, without)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("十二", "12"),
        ("二十", "20"),
        ("二十三", "23"),
        ("一百", "100"),
        ("一百二十", "120"),
        ("一百零五", "105"),
        ("三万五千", "35000"),
        ("三萬五千", "35000"),
        ("三千二百万", "32000000"),
        ("一亿二千万", "120000000"),
        ("一億", "100000000"),
        ("万一", "10001"),
        ("一万亿", "1000000000000"),
        ("二亿三万", "200030000"),
        ("二〇二四", "2024"),
        ("二零二四", "2024"),
        ("〇〇七", "7"),
        ("零零", "0"),
        ("一二百", "1200"),
        ("九" * 15 + "亿", "9" * 15 + "0" * 8),
    ],
)
def test_chinese_numerals_have_values(text: str, number: str) -> None:
    assert (numbers_of(text), masked(f"{text}年")) == ([number], "0年")


def test_single_chinese_numerals_and_long_runs_of_them_are_not_numbers() -> None:
    for text in ["一个", "万岁", "零", "三" * 17, "一" * 1000]:
        assert (numbers_of(text), masked(text)) == ([], text)
    assert masked("二十12") == "00"
    assert masked("3万5千") == "0万0千"


def test_a_number_is_the_same_in_all_forms() -> None:
    forms = ["120000", "120,000", "120'000", "１２００００", "十二万", "١٢٠٠٠٠", "000120000"]
    assert {tuple(numbers_of(normal(form))) for form in forms} == {("120000",)}
    assert len({masked(normal(f"about {form} of them")) for form in forms}) == 1


def test_numbers_that_count_up_from_one_are_left_out() -> None:
    assert numbers_of("Article 1. Article 2. Article 3.") == []
    assert numbers_of("3 2 1 0 5 10") == ["0", "5", "10"]
    assert numbers_of("1 2") == ["1", "2"]
    assert numbers_of("2 3 4") == ["2", "3", "4"]
    assert numbers_of(" ".join(map(str, range(12))) + " 99") == ["0", "99"]
    assert masked("1. One 2. Two 3. Three") == "0. One 0. Two 0. Three"


def test_features_are_the_runs_and_seven_tokens_a_number() -> None:
    lists = run_and_number_spans(batch(["123", "", "在二十5年a", "page 3 of 12"])).lists()
    assert lists[0] == ["0", *(f"{chr(place)}123" for place in range(1, 8))]
    assert lists[1] == []
    assert lists[2] == ["在0", "年a", *(chr(place) + number for number in ("5", "20") for place in range(1, 8))]
    assert lists[3][:6] == ["page ", "age 0", "ge 0 ", "e 0 o", " 0 of", "0 of "]
    assert lists[3][7:] == [chr(place) + number for number in ("3", "12") for place in range(1, 8)]


@given(numerous_text() | st.text(max_size=40))
def test_numbers_are_those_found_character_by_character(text: str) -> None:
    assert numbers_of(text) == numbers_by_characters(text)
    assert masked(text) == masked_by_characters(text)


@given(st.lists(numerous_text(), max_size=6) | batches(), st.sampled_from([32, 64, 128]))
def test_a_batch_has_the_features_of_each_text(texts: list[str], bits: int) -> None:
    expected = [runs_and_numbers_of(text) for text in texts]
    assert run_and_number_spans(batch(texts)).lists() == expected
    features = run_and_number_features(batch(texts), bits)
    assert np.array_equal(features.hashes, hashing.hash_tokens([each for text in expected for each in text], bits))
    assert np.diff(features.offsets).tolist() == list(map(len, expected))


@pytest.mark.parametrize("name", sorted(HASH_FUNCTIONS))
def test_texts_without_numbers_have_the_very_features_of_runs(name: str) -> None:
    texts = ["Letters only, of course.", "近似重复检测找到一个改动过的文章", "", "x"]
    by_runs, by_both = (
        hashed_features(Settings(tokens=tokens, hash=name, minhash=None), texts)
        for tokens in (Runs(), RunsAndNumbers())
    )
    assert np.array_equal(by_runs.hashes, by_both.hashes)
    assert np.array_equal(by_runs.offsets, by_both.offsets)


@pytest.mark.parametrize("piece", ["7", ",", "1,", ",000", "一", "一二 ", "12,5", "1 ", "𝟙", "𝟙,"])
def test_long_texts_cost_no_more_a_character_than_short_ones(piece: str) -> None:
    started = time.process_time()
    features = run_and_number_features(batch([piece * (LONG // len(piece))]), 64)
    assert len(features) == 1
    assert time.process_time() - started < 60


def test_digits_are_those_of_unicode_13() -> None:
    points = (chr(point) for point in range(sys.maxunicode + 1))
    assert [each for each in points if each.isdecimal() and not is_unassigned(each)] == sorted(VALUES)
