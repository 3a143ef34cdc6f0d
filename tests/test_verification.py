from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash import similarity
from es_simhash.errors import SchemeError
from es_simhash.idf import UNIT, IdfTable
from es_simhash.scheme import Scheme
from es_simhash.settings import MinHash, SimHash
from es_simhash.text.normalise import Normalisation
from es_simhash.tokens.kinds import Chars, Custom, Words
from es_simhash.verification import MEASURES, comparable_features, exact_similarities, measure_named
from tests.texts import any_text

TEXTS = [
    "The quick brown fox jumps over the lazy dog, again and again and again.",
    "The quick brown fox jumped over a lazy dog, again.",
    "THE QUICK  brown fox",
    "完全に違う文章です。その内容も長さも別。",
    "the",
    "",
]
N = 3
MEASURE_OF: dict[str, Callable[[Any, Any], float]] = {
    "jaccard": similarity.weighted_jaccard,
    "containment": similarity.containment,
    "overlap": similarity.overlap,
    "cosine": similarity.cosine,
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
each_measure = pytest.mark.parametrize("measure", MEASURES)


@each_measure
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("first", TEXTS)
def test_each_measure_is_that_of_the_ngrams_as_the_scheme_weighs_them(first: str, weights: str, measure: str) -> None:
    scheme, weight = WEIGHTS[weights]
    compare = MEASURE_OF[measure]
    expected = [compare(weighed(first, weight), weighed(other, weight)) for other in TEXTS]
    assert exact_similarities(scheme, first, TEXTS, measure) == pytest.approx(expected)


@each_measure
@settings(max_examples=25)
@given(first=any_text(30), others=st.lists(any_text(30), max_size=4))
def test_each_measure_of_any_texts_is_that_of_their_sets_of_ngrams(measure: str, first: str, others: list[str]) -> None:
    texts = [*others, first, first + " and more"]
    expected = [MEASURE_OF[measure](set(ngrams(first)), set(ngrams(other))) for other in texts]
    assert exact_similarities(PLAIN, first, texts, measure) == pytest.approx(expected)


@each_measure
@pytest.mark.parametrize("weights", WEIGHTS)
def test_an_idf_table_weighs_in_place_of_the_scheme(weights: str, measure: str) -> None:
    scheme, _ = WEIGHTS[weights]
    expected = [
        MEASURE_OF[measure](*(weighed(text, lambda gram, count: IDF(gram)) for text in (TEXTS[0], other)))
        for other in TEXTS
    ]
    assert exact_similarities(scheme, TEXTS[0], TEXTS, measure, LEARNT) == pytest.approx(expected)


@each_measure
def test_hashes_of_128_bits_tell_the_same(measure: str) -> None:
    wide = Scheme(tokens=Chars(N), simhash=SimHash(128, 8, 3))
    for idf in (None, LEARNT):
        expected = exact_similarities(PLAIN, TEXTS[0], TEXTS, measure, idf)
        assert exact_similarities(wide, TEXTS[0], TEXTS, measure, idf) == pytest.approx(expected)


def test_the_measure_is_the_jaccard_similarity_unless_another_is_named() -> None:
    assert exact_similarities(PLAIN, TEXTS[0], TEXTS) == exact_similarities(PLAIN, TEXTS[0], TEXTS, "jaccard")
    assert [PLAIN.exact_jaccard(TEXTS[0], other) for other in TEXTS] == exact_similarities(PLAIN, TEXTS[0], TEXTS)


def test_the_containment_is_that_of_the_first_text() -> None:
    [part_in_whole] = exact_similarities(PLAIN, TEXTS[2], [TEXTS[0]], "containment")
    [whole_in_part] = exact_similarities(PLAIN, TEXTS[0], [TEXTS[2]], "containment")
    assert part_in_whole == 1
    assert whole_in_part == len(ngrams(TEXTS[2])) / len(ngrams(TEXTS[0]))


@each_measure
def test_texts_without_features_are_similar_to_each_other_only(measure: str) -> None:
    assert exact_similarities(PLAIN, "", ["", " \n", "the"], measure) == [1, 1, 0]
    assert exact_similarities(PLAIN, "the", ["", "the"], measure) == [0, 1]
    assert exact_similarities(PLAIN, "the", [], measure) == []


def test_words_and_their_own_weights_are_compared() -> None:
    words = Scheme(tokens=Words(1), minhash=MinHash("weighted", 32, 8, 4), weights="tf")
    assert exact_similarities(words, "a a b", ["a b b c"]) == [2 / 5]
    own: dict[str, float] = {"a": 2.0, "b": 0.5, "c": 1.0}
    cut: Callable[[str], list[tuple[str, float]]] = lambda text: [(word, own[word]) for word in text.split()]  # noqa: E731
    weighted = Scheme(tokens=Custom("own", cut), weights="own")
    assert exact_similarities(weighted, "a b", ["a c"]) == [2.0 / 3.5]
    assert exact_similarities(weighted, "a b", ["a c"], "cosine") == pytest.approx([4 / math.sqrt(4.25 * 5)])


def test_many_texts_are_compared_as_one_by_one() -> None:
    texts = [f"{text} {i}" for i in range(200) for text in TEXTS]
    for idf in (None, LEARNT):
        several = exact_similarities(PLAIN, TEXTS[0], texts, "overlap", idf)
        one_by_one = [exact_similarities(PLAIN, TEXTS[0], [text], "overlap", idf)[0] for text in texts[::101]]
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


@pytest.mark.parametrize("name", ["dice", "", "Jaccard", "weighted_jaccard"])
def test_an_unknown_measure_is_refused_with_those_there_are(name: str) -> None:
    message = rf"There is no measure '{name}'\. Choose from: jaccard, containment, overlap, cosine\."
    with pytest.raises(SchemeError, match=message):
        measure_named(name)
    with pytest.raises(SchemeError, match=message):
        exact_similarities(PLAIN, "a", ["b"], name)


def test_measures_are_found_by_their_names() -> None:
    assert {name: measure_named(name) for name in MEASURES} == MEASURE_OF
