from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import Integers
from es_simhash._core.environment import NATIVE
from es_simhash.errors import SchemeError
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import MinHash, SimHash
from es_simhash.scheme.verdict.levels import Measure
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier, comparable_features, is_by_rarity, rarity_of
from es_simhash.sketches import similarity
from es_simhash.sketches.weighted_sets import SetCache, WeightedSet, shared_weights
from es_simhash.text.features import UNIT, IdfTable
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens.kinds import Chars, Custom, Runs, Words
from tests.support.fuzzing import examples
from tests.support.runs import mixed_text, runs_of
from tests.support.texts import any_text

TEXTS = [
    "The quick brown fox jumps over the lazy dog, again and again and again.",
    "The quick brown fox jumped over a lazy dog, again.",
    "THE QUICK  brown fox",
    "完全に違う文章です。その内容も長さも別。",
    "the",
    "",
]
N = 3
MEASURE_OF: dict[Measure, Callable[[Any, Any], float]] = {
    "jaccard": similarity.weighted_jaccard,
    "balanced": similarity.balanced,
}


def ngrams(text: str, n: int = N) -> Counter[str]:
    """The n-grams of a normalised text, by slicing it; of a shorter text the text itself."""
    normalised = Normalisation()(text)
    if not normalised:
        return Counter()
    return Counter(normalised[i : i + n] for i in range(max(1, len(normalised) - n + 1)))


def idf_of(corpus: list[str]) -> Callable[[str], float]:
    """ln((N + 1) / (df + 1)) + 1 in units of 1 / UNIT; what is in one document only counts as unseen."""
    frequencies = Counter(gram for text in corpus for gram in ngrams(text))

    def idf(gram: str) -> float:
        frequency = frequencies[gram] if frequencies[gram] >= 2 else 0
        return round(UNIT * (math.log((len(corpus) + 1) / (frequency + 1)) + 1))

    return idf


def weighed(text: str, weight: Callable[[str, int], float]) -> dict[str, float]:
    return {gram: weight(gram, count) for gram, count in ngrams(text).items()}


PLAIN = Scheme(tokens=Chars(N))
CORPUS = [*TEXTS, *TEXTS[:2], "again and again", "the brown dog"]
IDF = idf_of(CORPUS)
LEARNT = IdfTable.learn(PLAIN.features(CORPUS))

# Schemes, and how much an n-gram weighs under them, given its count in the text.
WEIGHTS: dict[str, tuple[Scheme, Callable[[str, int], float]]] = {
    "set": (PLAIN, lambda gram, count: 1),
    "tf": (Scheme(tokens=Chars(N), weights="tf"), lambda gram, count: count),
    "idf": (PLAIN.with_idf(CORPUS), lambda gram, count: IDF(gram)),
    "tfidf": (PLAIN.with_idf(CORPUS, "tfidf"), lambda gram, count: count * IDF(gram)),
}
each_measure = pytest.mark.parametrize("measure", get_args(Measure))


def similarities_to(
    scheme: Scheme, text: str, others: Sequence[str], measure: Measure = "jaccard", idf: IdfTable | None = None
) -> list[float]:
    return Verifier(scheme, Verification.of_fingerprints(1.0, measure), idf).to_others(text, others)


@each_measure
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("first", TEXTS)
def test_each_measure_is_that_of_the_ngrams_as_the_scheme_weighs_them(
    first: str, weights: str, measure: Measure
) -> None:
    scheme, weight = WEIGHTS[weights]
    compare = MEASURE_OF[measure]
    expected = [compare(weighed(first, weight), weighed(other, weight)) for other in TEXTS]
    assert similarities_to(scheme, first, TEXTS, measure) == pytest.approx(expected)


@each_measure
@pytest.mark.parametrize("scheme", [*(scheme for scheme, _ in WEIGHTS.values()), Scheme(tokens=Words(), hash="md5")])
@examples(10)
@given(texts=st.lists(mixed_text(), min_size=1, max_size=4))
def test_texts_are_compared_by_runs_whatever_the_scheme(measure: Measure, scheme: Scheme, texts: list[str]) -> None:
    verifier = Verifier(scheme, Verification(measure=measure, features="text"))
    texts += [TEXTS[0], TEXTS[3], TEXTS[3][3:]]
    runs = [set(runs_of(Normalisation()(text))) for text in texts]
    expected = [MEASURE_OF[measure](runs[-1], each) for each in runs]
    assert verifier.to_others(texts[-1], texts) == pytest.approx(expected)


def test_rarity_is_that_of_what_is_compared() -> None:
    verification = Verification(features="text")
    scheme = Scheme(tokens=Words(), verification=verification)
    assert rarity_of(scheme, CORPUS) == rarity_of(Scheme(tokens=Runs()), CORPUS)
    assert rarity_of(scheme, CORPUS) != rarity_of(Scheme(tokens=Words(), verification=None), CORPUS)
    # Weights of the scheme's tokens are none of runs.
    weighted = WEIGHTS["tf"][0]
    assert is_by_rarity(weighted, verification)
    assert not is_by_rarity(weighted, Verification(features="scheme"))
    assert not is_by_rarity(weighted, replace(verification, weights="scheme"))


@each_measure
@examples(25)
@given(first=any_text(30), others=st.lists(any_text(30), max_size=4))
def test_each_measure_of_any_texts_is_that_of_their_sets_of_ngrams(
    measure: Measure, first: str, others: list[str]
) -> None:
    texts = [*others, first, first + " and more"]
    expected = [MEASURE_OF[measure](set(ngrams(first)), set(ngrams(other))) for other in texts]
    assert similarities_to(PLAIN, first, texts, measure) == pytest.approx(expected)


@each_measure
@pytest.mark.parametrize("weights", WEIGHTS)
def test_an_idf_table_weighs_in_place_of_the_scheme(weights: str, measure: Measure) -> None:
    scheme, _ = WEIGHTS[weights]
    expected = [
        MEASURE_OF[measure](*(weighed(text, lambda gram, count: IDF(gram)) for text in (TEXTS[0], other)))
        for other in TEXTS
    ]
    assert similarities_to(scheme, TEXTS[0], TEXTS, measure, LEARNT) == pytest.approx(expected)


@each_measure
def test_hashes_of_128_bits_give_the_same_similarities(measure: Measure) -> None:
    wide = Scheme(tokens=Chars(N), simhash=SimHash(128, 8, 3))
    for idf in (None, LEARNT):
        expected = similarities_to(PLAIN, TEXTS[0], TEXTS, measure, idf)
        assert similarities_to(wide, TEXTS[0], TEXTS, measure, idf) == pytest.approx(expected)


def test_a_scheme_computes_the_exact_jaccard_similarity() -> None:
    assert [PLAIN.exact_jaccard(TEXTS[0], other) for other in TEXTS] == similarities_to(PLAIN, TEXTS[0], TEXTS)


@each_measure
def test_texts_without_features_are_similar_to_each_other_only(measure: Measure) -> None:
    assert similarities_to(PLAIN, "", ["", " \n", "the"], measure) == [1, 1, 0]
    assert similarities_to(PLAIN, "the", ["", "the"], measure) == [0, 1]
    assert similarities_to(PLAIN, "the", [], measure) == []


def test_words_and_their_own_weights_are_compared() -> None:
    words = Scheme(tokens=Words(1), minhash=MinHash("weighted", 32, 8, 4), weights="tf")
    assert similarities_to(words, "a a b", ["a b b c"]) == [2 / 5]
    own: dict[str, float] = {"a": 2.0, "b": 0.5, "c": 1.0}
    cut: Callable[[str], list[tuple[str, float]]] = lambda text: [(word, own[word]) for word in text.split()]  # noqa: E731
    weighted = Scheme(tokens=Custom("own", cut), weights="own")
    assert similarities_to(weighted, "a b", ["a c"]) == [2.0 / 3.5]
    assert similarities_to(weighted, "a b", ["a c"], "balanced") == pytest.approx([2 / math.sqrt(3.5 * 2.5)])


def test_many_texts_are_compared_as_one_by_one() -> None:
    texts = [f"{text} {i}" for i in range(200) for text in TEXTS]
    for idf in (None, LEARNT):
        several = similarities_to(PLAIN, TEXTS[0], texts, "balanced", idf)
        one_by_one = [similarities_to(PLAIN, TEXTS[0], [text], "balanced", idf)[0] for text in texts[::101]]
        assert several[::101] == pytest.approx(one_by_one)
        assert len(several) == len(texts)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_features_come_once_each_and_sorted(weights: str) -> None:
    scheme, weight = WEIGHTS[weights]
    for text, features in zip(TEXTS, comparable_features(scheme, TEXTS), strict=True):
        hashes, own = features if isinstance(features, tuple) else (features, [1] * len(features))
        assert not isinstance(hashes, Mapping)
        assert len(set(hashes)) == len(ngrams(text))
        assert list(hashes) == sorted(hashes)
        assert sorted(own) == pytest.approx(sorted(weighed(text, weight).values()))


@pytest.mark.parametrize("name", ["dice", "", "Jaccard", "weighted_jaccard", "overlap"])
def test_an_unknown_measure_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(SchemeError, match=rf"Unknown measure '{name}'\. Choose from: jaccard, balanced\."):
        Verification(measure=name)  # type: ignore[arg-type]


def test_each_pair_of_equal_texts_has_a_least_of_its_own() -> None:
    texts, pairs = [TEXTS[0], TEXTS[1], TEXTS[0], TEXTS[1]], np.array([[0, 2], [1, 3]])
    [similar, too_low] = Verifier(PLAIN, Verification()).similarities(texts, pairs, np.array([0.1, 0.99])).tolist()
    assert (similar > 0.1, too_low) == (True, 0)


# ---- work that is saved

WORDS = [f"{a}{b}{c}" for a in "bdgklmnprst" for b in "aeiou" for c in "mnprst"]
FRAME = " ".join(WORDS[:120])


def framed(seed: int, count: int, own: int) -> list[str]:
    """Texts with the same frame, each with some words of its own, and for every third a copy with one word changed."""
    rng = random.Random(seed)
    texts: list[str] = []
    for number in range(count):
        mine = rng.sample(WORDS[120:], own)
        if number % 3 == 2:
            mine = [*texts[-1].removeprefix(FRAME).split()[1:], rng.choice(WORDS)]
        texts.append(f"{FRAME} {' '.join(mine)}")
    return texts


FRAMED = framed(1, 15, 12)


def pairs_of(texts: list[str]) -> Integers:
    return np.array(list(combinations(range(len(texts)), 2))).T


@pytest.mark.parametrize("table", [None, rarity_of(PLAIN, FRAMED)], ids=["plain", "by rarity"])
@pytest.mark.parametrize("least", [0.05, 0.5, 0.9, 1.0])
@each_measure
def test_similarities_below_the_minimum_are_0_and_the_others_unchanged(
    measure: Measure, least: float, table: IdfTable | None
) -> None:
    verifier, pairs = Verifier(PLAIN, Verification(measure=measure), table), pairs_of(FRAMED)
    everything = verifier.similarities(FRAMED, pairs)
    assert (everything > 0).any()
    expected = np.where(everything >= least, everything, 0.0)
    assert verifier.similarities(FRAMED, pairs, least).tolist() == expected.tolist()
    # Each pair may have a least of its own, and memory for as few texts as there can be.
    mixed = np.where(np.arange(pairs.shape[1]) % 2 == 0, least, 0.0)
    little = SetCache(verifier.prepared, lambda rows: [FRAMED[row] for row in rows.tolist()], np.ones_like, 1)
    expected = np.where(everything >= mixed, everything, 0.0)
    assert verifier.of_cached(little, pairs, mixed).similarities.tolist() == expected.tolist()


def test_numbers_are_shared_with_any_minimum() -> None:
    texts = [f"{text} {number % 4}" for number, text in enumerate(framed(2, 12, 6))]
    verifier = Verifier(PLAIN, Verification(numbers=0.5), rarity_of(PLAIN, texts))
    everything = verifier.similarities(texts, pairs_of(texts))
    expected = np.where(everything >= 0.5, everything, 0.0)
    assert verifier.similarities(texts, pairs_of(texts), 0.5).tolist() == expected.tolist()


class Looking:
    """Counts the features that numpy looks up when texts are compared."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.features = 0
        monkeypatch.setenv(NATIVE, "0")
        monkeypatch.setattr("es_simhash.scheme.verdict.verifier.shared_weights", self)

    def __call__(self, texts: Sequence[WeightedSet], first: Integers, second: Integers) -> Integers:
        self.features += sum(len(texts[place].hashes) for place in second.tolist())
        return shared_weights(texts, first, second)


def test_texts_with_the_same_frame_are_distinguished_by_their_own_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    texts = [f"{FRAME} {''.join(rng.choices('abcdefghijklmnopqrstuvwxyz', k=120))}" for _ in range(25)]
    pairs, looking = pairs_of(texts), Looking(monkeypatch)
    verifier = Verifier(PLAIN, Verification(), rarity_of(PLAIN, texts))
    assert not verifier.similarities(texts, pairs, 0.5).any()
    assert looking.features < pairs.shape[1] * len(ngrams(texts[0])) / 2


def test_equal_texts_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looking = Looking(monkeypatch)
    verifier = Verifier(PLAIN, Verification.of_fingerprints(0.6))
    found = verifier.to_others(FRAMED[0], [FRAMED[1], FRAMED[0]] * 500)
    assert found == verifier.to_others(FRAMED[0], [FRAMED[1], FRAMED[0]]) * 500
    assert looking.features < 5 * max(len(ngrams(text)) for text in FRAMED)
