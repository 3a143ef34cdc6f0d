from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import SchemeError, TextError, WeightError
from es_simhash.text.features import FeatureBatch, batch
from es_simhash.text.hashing import registry
from es_simhash.text.tokens.kinds import (
    KINDS,
    Chars,
    Chinese,
    Custom,
    Keywords,
    Runs,
    RunsAndNumbers,
    Words,
    tokens_from_json,
    tokens_to_json,
)
from es_simhash.text.tokens.runs import char_features, char_spans, run_features, run_spans
from es_simhash.text.tokens.words import spans_from_lists
from tests.support.runs import ENDS, mixed_text, runs_of
from tests.support.texts import any_text, batches

Lists = st.lists(st.lists(any_text(6), max_size=6), max_size=5)


def n_grams(items: Any, n: int) -> list[Any]:
    """Every run of n items, or all of them if there are fewer."""
    return [items[start : start + n] for start in range(max(len(items) - n + 1, min(len(items), 1)))]


@given(batches(), st.integers(1, 9))
def test_character_n_grams_are_all_windows_of_n_code_points(texts: list[str], n: int) -> None:
    assert char_spans(batch(texts), n).lists() == [n_grams(text, n) for text in texts]


@given(batches(), st.integers(1, 9), st.sampled_from([32, 64, 128]))
def test_hashing_whole_batches_gives_the_hashes_of_the_n_grams(texts: list[str], n: int, bits: int) -> None:
    features = char_features(batch(texts), n, bits)
    tokens = [gram for text in texts for gram in n_grams(text, n)]
    assert np.array_equal(features.hashes, registry.hash_tokens(tokens, bits))
    assert np.diff(features.offsets).tolist() == [len(n_grams(text, n)) for text in texts]


def test_runs_are_short_in_dense_scripts_and_long_in_others() -> None:
    texts = ["abcdefg", "近似重复", "漢", "abc漢", "一a二", "ab漢字c", "𠀀𛀀a", "검출 ok", ""]
    assert run_spans(batch(texts), 2).lists() == [
        ["abcde", "bcdef", "cdefg"],
        ["近似", "似重", "重复"],
        ["漢"],
        ["abc漢"],
        ["一a"],
        ["ab漢字c", "漢字", "字c"],
        ["𠀀𛀀", "𛀀a"],
        ["검출", "출 "],
        [],
    ]
    assert run_spans(batch(texts), 3).lists() == [
        ["abcde", "bcdef", "cdefg"],
        ["近似重", "似重复"],
        ["漢"],
        ["abc漢"],
        ["一a二"],
        ["ab漢字c", "漢字c"],
        ["𠀀𛀀a"],
        ["검출 ", "출 o"],
        [],
    ]


@given(st.lists(mixed_text(), max_size=8), st.sampled_from([2, 3]), st.sampled_from([32, 64, 128]))
def test_runs_of_a_batch_are_those_of_each_text_by_slicing(texts: list[str], n: int, bits: int) -> None:
    expected = [runs_of(text, n) for text in texts]
    assert run_spans(batch(texts), n).lists() == expected
    features = run_features(batch(texts), n, bits)
    assert np.array_equal(features.hashes, registry.hash_tokens([run for runs in expected for run in runs], bits))
    assert np.diff(features.offsets).tolist() == list(map(len, expected))


def test_the_ranges_of_dense_characters_are_fixed() -> None:
    texts = [character + "abcd" for character in ENDS]
    assert run_spans(batch(texts), 2).lists() == [runs_of(text) for text in texts]


@pytest.mark.parametrize("dense", [2, 3])
def test_texts_in_one_script_have_the_very_features_of_n_grams(dense: int) -> None:
    for text, n in [("Letters only, and 12 marks.", 5), ("近似重复检测找到改动过的文章", dense)]:
        assert np.array_equal(run_features(batch([text]), dense, 64).hashes, char_features(batch([text]), n, 64).hashes)


@given(Lists)
def test_spans_keep_the_tokens_they_are_made_of(lists: list[list[str]]) -> None:
    assert spans_from_lists(lists).lists() == lists


@given(Lists, st.integers(1, 4))
def test_shingles_are_runs_of_tokens_joined_by_spaces(lists: list[list[str]], n: int) -> None:
    expected = [[" ".join(run) for run in n_grams(tokens, n)] for tokens in lists]
    assert spans_from_lists(lists).shingles(n).lists() == expected


@given(Lists, st.sets(any_text(6), max_size=3))
def test_unwanted_tokens_are_left_out(lists: list[list[str]], unwanted: set[str]) -> None:
    unwanted |= {tokens[0] for tokens in lists[:2] if tokens}
    expected = [[token for token in tokens if token not in unwanted] for tokens in lists]
    assert spans_from_lists(lists).without(unwanted).lists() == expected


def test_stop_words_are_left_out_before_words_are_joined() -> None:
    spans, _ = Words(2, frozenset({"the", "on"})).cut(batch(["the cat sat on the mat"]))
    assert spans.lists() == [["cat sat", "sat mat"]]


def test_a_caller_may_bring_tokens_or_weighted_tokens() -> None:
    halves = Custom("halves", lambda text: [text[: len(text) // 2], text[len(text) // 2 :]])
    spans, weights = halves.cut(batch(["abcd"]))
    assert spans.lists() == [["ab", "cd"]]
    assert weights is None
    counted = Custom("counted", lambda text: [(character, text.count(character)) for character in sorted(set(text))])
    spans, weights = counted.cut(batch(["", "abca"]))
    assert spans.lists() == [[], ["a", "b", "c"]]
    assert weights is not None
    assert weights.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("tokens", "error"),
    [
        ([1, 2], TextError),
        ([("a", 1), "b"], TextError),
        ([("a", "x")], WeightError),
        ([("a", float("nan"))], WeightError),
    ],
)
def test_what_is_not_a_token_is_refused(tokens: list[Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Custom("bad", lambda _: tokens).cut(batch(["x"]))


@pytest.mark.parametrize(
    "kind",
    [
        Chars(3),
        Runs(),
        Runs(dense=3),
        RunsAndNumbers(),
        Words(2, frozenset({"b", "a"})),
        Chinese("rjieba", 2),
        Keywords("textrank", 11),
    ],
)
def test_every_kind_has_a_json_form(kind: Any) -> None:
    assert tokens_from_json(tokens_to_json(kind), {}) == kind


def test_runs_of_two_have_the_form_they_had_without_the_setting() -> None:
    assert tokens_to_json(Runs(dense=2)) == {"kind": "runs"}
    assert tokens_to_json(Runs(dense=3)) == {"kind": "runs", "dense": 3}
    assert tokens_from_json({"kind": "runs"}, {}) == Runs(dense=2)


@pytest.mark.parametrize("dense", [0, 1, 4, 2.0, True, "3", None])
def test_runs_of_a_dense_script_have_two_or_three_characters(dense: Any) -> None:
    with pytest.raises(SchemeError, match="Choose 2 or 3"):
        Runs(dense)


def test_a_custom_kind_takes_its_function_by_name() -> None:
    form = tokens_to_json(Custom("lines", str.splitlines))
    assert form == {"kind": "custom", "name": "lines"}
    assert tokens_from_json(form, {"lines": str.splitlines}) == Custom("lines", str.splitlines)
    with pytest.raises(SchemeError, match="'lines'"):
        tokens_from_json(form, {})


def test_kinds_are_known_by_the_names_in_their_json() -> None:
    assert all(KINDS[name].kind == name for name in KINDS)


@pytest.mark.parametrize("make", [Chars, Words, lambda n: Chinese("jieba", n), lambda n: Keywords("tfidf", n)])
@pytest.mark.parametrize("n", [0, -1, 1.5, True, "3"])
def test_sizes_below_one_are_refused(make: Any, n: Any) -> None:
    with pytest.raises(SchemeError, match="whole number from 1"):
        make(n)


@pytest.mark.parametrize(
    "form", [{"kind": "vowels"}, {}, {"kind": "chars", "m": 3}, {"kind": "chinese", "backend": "hanlp"}]
)
def test_a_form_that_cannot_be_read_is_refused(form: dict[str, Any]) -> None:
    with pytest.raises(SchemeError):
        tokens_from_json(form, {})


def test_a_batch_of_features_has_as_many_documents_as_texts() -> None:
    assert len(FeatureBatch(np.empty(0, np.uint64), np.zeros(4, np.int64))) == 3
