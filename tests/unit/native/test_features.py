"""Features by the compiled kernels are those of numpy, whatever the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import Settings, SimHash
from es_simhash.text.features import FeatureBatch, IdfTable
from es_simhash.text.hashing import HASH_FUNCTIONS
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens import Chars, Custom, Runs, RunsAndNumbers, Words
from tests.support.numbers import numerous_text
from tests.support.runs import mixed_text
from tests.unit.native.made import assert_equal, by_kernels, by_numpy, kernels, without_kernels

TEXTS = [
    "",
    " \t",
    "Hi!",
    "The quick brown fox jumps over the lazy dog, and then it does so again and again.",
    "the the the THE",
    "__ _a _ a_1 can't 3.14 1,000 'tis don''t U.S.A.",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa a",
]
LONG_TEXTS = ["".join(map(chr, range(32, 400))) * 9, "some words of a long text, " * 300, "漢😀" * 999]
LETTERS = "aAbc '._1\t,\n-é漢ßﬁ\u0301😀𝒳אﾊ"
drawn_texts = st.lists(st.text(st.sampled_from(LETTERS), max_size=40), max_size=5)
kinds = st.one_of(
    st.builds(Chars, st.integers(1, 20) | st.sampled_from([64, 65, 100, 1_000_000])),
    st.builds(Runs, st.sampled_from([2, 3])),
    st.just(RunsAndNumbers()),
    st.builds(Words, st.integers(1, 4), st.frozensets(st.sampled_from(["a", "the", "漢", "ab", ""]))),
)
hash_names = st.sampled_from(sorted(HASH_FUNCTIONS))
widths = st.sampled_from([SimHash(64), SimHash(128, blocks=6)])


def settings_of(**choices: Any) -> Settings:
    return Settings(minhash=None, **choices)


@given(drawn_texts, kinds, hash_names, widths, st.sampled_from(["set", "tf"]), st.booleans())
def test_texts_have_the_features_of_numpy(
    texts: list[str], tokens: Any, name: str, simhash: SimHash, weights: Any, folded: bool
) -> None:
    steps = Normalisation() if folded else Normalisation(nfkc=False, casefold=False, whitespace=False)
    settings = settings_of(normalisation=steps, tokens=tokens, hash=name, simhash=simhash, weights=weights)
    assert_equal(by_kernels(settings, texts), by_numpy(settings, texts))


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=40), max_size=5), kinds)
def test_texts_of_any_characters_have_the_features_of_numpy(texts: list[str], tokens: Any) -> None:
    settings = settings_of(tokens=tokens)
    assert_equal(by_kernels(settings, texts), by_numpy(settings, texts))


@given(st.lists(mixed_text(), max_size=5), st.sampled_from([2, 3]), hash_names, widths)
def test_runs_are_those_of_numpy(texts: list[str], dense: Any, name: str, simhash: SimHash) -> None:
    steps = Normalisation(nfkc=False, casefold=False, whitespace=False)
    settings = settings_of(tokens=Runs(dense), hash=name, simhash=simhash, normalisation=steps, weights="tf")
    assert_equal(by_kernels(settings, texts), by_numpy(settings, texts))


@given(st.lists(numerous_text(), max_size=5), hash_names, widths, st.booleans())
def test_numbers_are_those_of_numpy(texts: list[str], name: str, simhash: SimHash, folded: bool) -> None:
    steps = Normalisation() if folded else Normalisation(nfkc=False, casefold=False, whitespace=False)
    settings = settings_of(tokens=RunsAndNumbers(), hash=name, simhash=simhash, normalisation=steps, weights="tf")
    assert_equal(by_kernels(settings, texts), by_numpy(settings, texts))


@pytest.mark.parametrize("numeral", ["二十三", "12,500", "7", "٣٤", "𝟚𝟛", "1", "一" * 17])
@pytest.mark.parametrize("letter", ["a", "字", "ع", "😀"])
def test_numbers_far_from_each_other_are_those_of_numpy(letter: str, numeral: str) -> None:
    steps = Normalisation(nfkc=False, casefold=False, whitespace=False)
    settings = settings_of(tokens=RunsAndNumbers(), normalisation=steps, weights="tf")
    texts = [letter * count + numeral + letter * (300 - count) + numeral for count in range(0, 300)]
    assert_equal(by_kernels(settings, texts), by_numpy(settings, texts))


@pytest.mark.parametrize("weights", ["idf", "tfidf"])
@pytest.mark.parametrize("simhash", [SimHash(64), SimHash(128, blocks=6)])
def test_weights_come_from_the_idf_table(weights: Any, simhash: SimHash) -> None:
    plain = settings_of(tokens=Words(), simhash=simhash)
    table = IdfTable.learn([by_numpy(plain, [*TEXTS, "the quick end", "the end"])])
    settings = replace(plain, weights=weights, idf=table)
    found = by_kernels(settings, TEXTS)
    assert found.weights is not None
    assert len(set(found.weights.tolist())) > 2
    assert_equal(found, by_numpy(settings, TEXTS))


@pytest.mark.parametrize("tokens", [Chars(65), Chars(1001), Words(20), Words(1000)])
@pytest.mark.parametrize("text", LONG_TEXTS)
def test_long_tokens_that_overlap_have_the_hashes_of_numpy(tokens: Any, text: str) -> None:
    steps = Normalisation(nfkc=False, casefold=False, whitespace=False)
    settings = settings_of(tokens=tokens, weights="tf", normalisation=steps)
    assert_equal(by_kernels(settings, [text, "short"]), by_numpy(settings, [text, "short"]))


def test_an_empty_idf_table_knows_no_feature() -> None:
    table = IdfTable(1, np.empty(0, np.uint64), np.empty(0, np.uint32), 1 << 40)
    settings = settings_of(tokens=Words(), weights="idf", idf=table)
    assert_equal(by_kernels(settings, TEXTS), by_numpy(settings, TEXTS))


tokens_lists = st.lists(st.lists(st.text(st.sampled_from("ab é😀"), max_size=12), max_size=8), min_size=1, max_size=5)


@given(tokens_lists, hash_names, st.sampled_from(["set", "tf"]))
def test_given_tokens_are_hashed_as_they_are(lists: list[list[str]], name: str, weights: Any) -> None:
    settings = settings_of(tokens=Words(2, frozenset(["a"])), hash=name, weights=weights)
    found = FeatureBatch(*settings.fingerprinter.features_of_tokens(lists))
    assert_equal(found, without_kernels(lambda: fingerprinting.features_of_tokens(settings, lists)))


@given(st.lists(st.lists(st.tuples(st.text("ab é", max_size=4), st.integers(-5, 5) | st.floats(-9, 9)))))
def test_weights_may_come_with_tokens(pairs: list[list[tuple[str, float]]]) -> None:
    """They go by numpy's way, whatever is installed."""
    settings = settings_of(tokens=Custom("own", lambda _: []), weights="own")
    found = fingerprinting.features_of_tokens(settings, pairs)
    assert_equal(found, without_kernels(lambda: fingerprinting.features_of_tokens(settings, pairs)))


def test_what_is_not_text_is_refused() -> None:
    made: Any = settings_of().fingerprinter
    given: Any = settings_of(tokens=Custom("own", lambda _: [])).fingerprinter
    calls: list[Callable[[], Any]] = [
        lambda: made.features(["a", None]),
        lambda: made.features(["a\ud800"]),
        lambda: made.features_of_tokens([["a"], "ab"]),
        lambda: made.features_of_tokens([["a", 1]]),
        lambda: made.features_of_tokens([["a\ud800"]]),
        lambda: given.features(["a"]),
    ]
    for call in calls:
        with pytest.raises(kernels.Refused):
            call()


@pytest.mark.parametrize(
    "wrong",
    [
        {"tokens": ("sentences",)},
        {"tokens": ("chars", 0)},
        {"tokens": ("runs", 4)},
        {"hash_bits": 60},
        {"simhash_bits": 65},
        {"minhash": ("k-means", 128)},
        {"weights": "idf"},
        {"idf": (np.zeros(1, np.uint64), np.zeros(2, np.uint32), 1), "weights": "idf"},
    ],
)
def test_settings_that_no_scheme_has_are_refused(wrong: dict[str, Any]) -> None:
    right = {"tokens": ("chars", 5), "hash_bits": 64, "weights": "set", "idf": None, "simhash_bits": 64}
    others = {"normalisation": (True, True, True, ()), "hash": "poly64", "minhash": None, "floor": 8}
    kernels.Fingerprinter(**right, **others)
    with pytest.raises(kernels.Refused):
        kernels.Fingerprinter(**{**right, **others, **wrong})


def test_stop_words_that_no_text_can_have_are_ignored() -> None:
    settings = settings_of(tokens=Words(1, frozenset(["a\ud800", "b"])), normalisation=Normalisation())
    assert_equal(by_kernels(settings, ["a b c"]), by_numpy(settings, ["a b c"]))
