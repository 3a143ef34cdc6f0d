from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, TypeVar, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash._core.environment import NATIVE, native
from es_simhash.errors import InputError
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verification import Measure, Verification, VerificationFeatures
from es_simhash.scheme.verifier import PairMeasures, Verifier, rarity_of
from es_simhash.sketches.similarity import SetCache
from es_simhash.text.features import IdfTable
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens import Chars, Custom, Runs, Words
from tests.support.texts import any_text
from tools import native_digits

kernels = pytest.importorskip("es_simhash_native")

Found = TypeVar("Found")

TEXTS = [
    "The quick brown fox jumps over the lazy dog, again and again and again, in 1998 and in 2004.",
    "The quick brown fox jumped over a lazy dog, again, in 1998.",
    "Edition 12\n\nThe quick brown fox jumps over the lazy dog, again and again and again, in 1998 and in 2004.",
    "Straße 12, ١٢ und १२: ﬁne ①, e\u0301te\u0301, 각 각, ê\u0323, 𝟙𝟚, 𑥐",
    "完全に違う文章です。その内容も長さも別。",
    "the",
    " \n\t",
    "",
]
CORPUS = [*TEXTS, *TEXTS, "again and again", "the brown dog"]
PLAIN = Scheme()
SCHEMES = [
    PLAIN,
    Scheme(tokens=Chars(2), weights="tf"),
    PLAIN.with_idf(CORPUS),
    PLAIN.with_idf(CORPUS, "tfidf"),
    Scheme(tokens=Words(1), hash="fnv1a", weights="tf"),
    Scheme(tokens=Words(2, stop_words=frozenset({"the"})), normalisation=Normalisation(nfkc=False)),
    Scheme(tokens=Chars(1), normalisation=Normalisation(whitespace=False, casefold=False), hash="md5"),
    Scheme(tokens=Runs(), weights="tf"),
    Scheme(tokens=Runs(dense=3)),
    Scheme(tokens=Custom("blanks", str.split)),
]
NUMBERS = [0.0, 0.4]


def both_ways(work: Callable[[], Found]) -> tuple[Found, Found]:
    """Return what compiled kernels find, and what numpy does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(NATIVE, raising=False)
        compiled = work()
        patch.setenv(NATIVE, "0")
        return compiled, work()


def every_pair(texts: Sequence[str]) -> Any:
    return np.array(list(product(range(len(texts)), repeat=2)), dtype=np.int64).reshape(-1, 2).T


def listed(measures: PairMeasures) -> list[tuple[float, bool]]:
    return list(zip(measures.similarities.tolist(), measures.meets.tolist(), strict=True))


def assert_same(verifier: Verifier, texts: Sequence[str], least: Any = 0.0, limit: int = 1 << 20) -> None:
    """All similarities are the same to the last digit, of texts in memory and of those kept in ``limit`` bytes."""
    pairs = every_pair(texts)
    compiled, numpy = both_ways(lambda: listed(replace(verifier).measures(texts, pairs, least)))
    assert compiled == numpy
    assert_same_to_others(verifier, texts)
    sizes = np.array(list(map(len, texts)), dtype=np.int64)

    def kept(threads: int = 1) -> list[tuple[float, int]]:
        again = replace(verifier)
        cache = SetCache(again.prepared, lambda rows: [texts[row] for row in rows], sizes.__getitem__, limit, threads)
        halves = np.array_split(np.arange(pairs.shape[1]), 2)
        wanted = np.broadcast_to(np.float64(least), pairs.shape[1])
        return [each for some in halves for each in listed(again.of_cached(cache, pairs[:, some], wanted[some]))]

    assert both_ways(kept) == (numpy, numpy)
    assert kept(threads=3) == numpy


def assert_same_to_others(verifier: Verifier, texts: Sequence[str]) -> None:
    """Texts that are compared with others, some of them not known, have the same similarities."""
    others = [None if place % 4 == 1 else text for place, text in enumerate(texts)]
    wanted = [(text, others[first:], np.linspace(0, 0.6, len(others) - first)) for first, text in enumerate(texts[:3])]
    compiled, numpy = both_ways(lambda: [listed(each) for each in replace(verifier).each_to_others(wanted)])
    assert str(compiled) == str(numpy)  # NaN is not equal to itself
    assert list(map(math.isnan, (s for s, _ in numpy[0]))) == [other is None for other in others]


def verifiers(measure: Any) -> st.SearchStrategy[Verifier]:
    """Verifiers of all kinds of features and weights, by numbers or not."""
    tables = [None, rarity_of(PLAIN, CORPUS * 20), IdfTable.learn(PLAIN.features(CORPUS))]
    return st.builds(
        lambda scheme, table, features, numbers: Verifier(
            scheme, Verification(measure=measure, features=features, numbers=numbers), table
        ),
        st.sampled_from(SCHEMES),
        st.sampled_from(tables),
        st.sampled_from(["scheme", "text"]),
        st.sampled_from(NUMBERS),
    )


@pytest.mark.parametrize("measure", get_args(Measure))
@settings(max_examples=60)
@given(data=st.data())
def test_similarities_of_any_texts_are_the_same(measure: str, data: st.DataObject) -> None:
    parts = st.sampled_from([*TEXTS, "again ", "12 ", "\n", "\u2028", "x"]) | any_text(20)
    texts = data.draw(st.lists(st.lists(parts, max_size=3).map("".join), max_size=4))
    texts += [data.draw(st.sampled_from(TEXTS)), "".join(texts)]
    leasts = st.sampled_from([0.0, 0.1, 0.3, 0.55, 1.0])
    count = len(texts) ** 2
    least = data.draw(leasts | st.lists(leasts, min_size=count, max_size=count).map(np.array))
    assert_same(data.draw(verifiers(measure)), texts, least, data.draw(st.sampled_from([1, 2_000, 1 << 20])))


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("scheme", range(len(SCHEMES)))
@pytest.mark.parametrize("measure", get_args(Measure))
def test_similarities_of_many_languages_are_the_same(measure: Any, scheme: int, numbers: float) -> None:
    for features in get_args(VerificationFeatures):
        verification = Verification(measure=measure, features=features, numbers=numbers)
        assert_same(Verifier(SCHEMES[scheme], verification), TEXTS)


def test_the_text_of_html_is_compared() -> None:
    pytest.importorskip("selectolax")
    scheme = Scheme(html=True)
    assert_same(
        Verifier(scheme, Verification(numbers=1)), ["<p>One text, 12</p>", "One <b>text, 12</b><script>13</script>"]
    )


def test_long_texts_and_many_of_them_are_the_same() -> None:
    words = [f"{a}{b}{c}" for a in "bdgkl" for b in "aeiou" for c in "mnprst"]
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(words, size)) for size in [40, 60, 5_000, 40, 300] * 5]
    for table in (None, rarity_of(PLAIN, texts)):
        assert_same(Verifier(PLAIN, Verification(), table), texts, limit=1 << 18)


@pytest.mark.parametrize("scheme", range(len(SCHEMES) - 1))
def test_the_kernels_compare_texts_themselves(scheme: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NATIVE, raising=False)
    first, second = every_pair(TEXTS[:3])
    compiled = Verifier(SCHEMES[scheme], Verification())._compiled
    assert compiled is not None
    assert compiled.measures(TEXTS, first, second, np.zeros(len(first)))


@pytest.mark.parametrize("verifier", [Verifier(SCHEMES[-1], Verification()), Verifier(PLAIN, Verification())])
def test_without_the_kernels_numpy_compares(verifier: Verifier, monkeypatch: pytest.MonkeyPatch) -> None:
    if verifier.settings is PLAIN:
        monkeypatch.setenv(NATIVE, "0")
        assert native() is None
    assert replace(verifier)._compiled is None


def test_a_callers_own_tokens_are_compared_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NATIVE, raising=False)
    assert Verifier(SCHEMES[-1], Verification(features="text")).compared is SCHEMES[-1]


def test_numpy_says_what_is_wrong_with_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NATIVE, raising=False)
    with pytest.raises(InputError, match="surrogate"):
        Verifier(PLAIN, Verification()).to_others("fine", ["also fine", "bad \ud800"])


@pytest.mark.parametrize("unseen", [0, 1, 2**31, 2**33, 2**60])
def test_weights_of_any_size_are_the_same(unseen: int) -> None:
    table = IdfTable.learn(PLAIN.features(CORPUS))
    heavy = IdfTable(table.documents, table.hashes, table.weights, unseen)
    assert_same(Verifier(PLAIN, Verification(measure="jaccard"), heavy), TEXTS[:2])


def test_the_table_of_digits_is_that_of_the_definition() -> None:
    assert native_digits.TARGET.read_text(encoding="ascii") == native_digits.source()
