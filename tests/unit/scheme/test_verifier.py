"""The rule: each clause decides where the ones before it do not, and nothing but the pair plays a part.

Texts are compared only where signatures leave hope, and wherever pairs are compared these are the same texts.

A caller's share of the numbers that must agree replaces that of the scheme, wherever texts decide.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import EsSimhashError, GroupOptions, dedup
from es_simhash._core.arrays import Integers
from es_simhash._core.environment import NATIVE
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import SchemeError
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_texts import TextCorpus
from es_simhash.index import Index
from es_simhash.plans import reply_size
from es_simhash.plans.distinct import SearchOptions
from es_simhash.plans.find_options import FindOptions
from es_simhash.plans.operations import GetDocuments
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, MinHash, SimHash
from es_simhash.scheme.verification import Measure, Verification
from es_simhash.scheme.verifier import (
    CLAUSES,
    Clause,
    PairMeasures,
    Verifier,
    are_near,
    clauses,
    comparable_features,
    is_by_rarity,
    lowest_estimate,
    rarity_of,
    verification_of,
)
from es_simhash.sketches import similarity
from es_simhash.sketches.keys import sharing
from es_simhash.sketches.minhash.common import estimates, standard_error
from es_simhash.sketches.similarity import SetCache, WeightedSet, shared_weights
from es_simhash.text.features import UNIT, IdfTable
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens import Chars, Custom, Runs, Words
from tests.support.corpus import corpus
from tests.support.fuzzing import examples
from tests.support.meddling import Meddler
from tests.support.runs import mixed_text, runs_of
from tests.support.texts import any_text
from tests.support.volumes import volume

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


def texts() -> dict[str, str]:
    """Texts that share more or fewer words, all unequal."""
    chosen = random.Random(3)
    made = set[str]()
    for document in corpus():
        words = document["body"].split()
        for share in (0.0, 0.05, 0.1, 0.15, 0.2, 0.3):
            edited = [f"{chosen.random():.6f}" if chosen.random() < share else word for word in words]
            made.add(" ".join(edited))
    return {f"t{number}": text for number, text in enumerate(sorted(made))}


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
        monkeypatch.setattr("es_simhash.scheme.verifier.shared_weights", self)

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


SHARES = st.floats(0.01, 1)


def clause(s: float, *, meets: bool = True, least: float = 0.6) -> Clause:
    texts = PairMeasures(np.array([s]), np.array([meets]))
    return CLAUSES[clauses(Criteria(None, least), None, texts)[0]]


@pytest.mark.parametrize(
    ("s", "meets", "expected"),
    [(0.59, True, "below"), (0.59, False, "below"), (0.6, True, "similar"), (0.99, False, "numbers")],
)
def test_the_first_clause_that_holds_decides(s: float, meets: bool, expected: Clause) -> None:
    assert clause(s, meets=meets) == expected


@given(SHARES, SHARES)
def test_a_pair_is_near_if_its_similarity_is_at_least_the_minimum(s: float, least: float) -> None:
    assert (clause(s, least=least) == "similar") == (s >= least)


@given(SHARES, st.booleans(), SHARES, SHARES)
def test_a_lower_minimum_only_adds_pairs(s: float, meets: bool, one: float, other: float) -> None:
    lower, higher = sorted((one, other))
    assert clause(s, meets=meets, least=higher) != "similar" or clause(s, meets=meets, least=lower) == "similar"


@given(st.lists(st.tuples(SHARES, st.booleans()), min_size=1, max_size=8), st.data())
def test_other_pairs_change_no_clause(pairs: list[tuple[float, bool]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(pairs) - 1))
    similarities, meets = zip(*pairs, strict=True)
    together = clauses(Criteria(None, 0.6), None, PairMeasures(np.array(similarities), np.array(meets)))
    s, meets_alone = pairs[place]
    assert CLAUSES[together[place]] == clause(s, meets=meets_alone)


def test_a_distance_within_the_maximum_decides_before_texts_do() -> None:
    distances = np.array([3, 4, 3, 4])
    texts = PairMeasures(np.array([0.1, 0.1, 0.9, 0.6]), np.array([True, True, False, True]))
    found = clauses(Criteria(3, 0.5), distances, texts)
    assert [CLAUSES[each] for each in found] == ["bits", "below", "bits", "similar"]
    assert are_near(found).tolist() == [True, False, True, True]
    found = clauses(Criteria(3, None), distances, None)
    assert [CLAUSES[each] for each in found] == ["bits", "below", "bits", "below"]


def test_an_unknown_similarity_is_below_every_minimum() -> None:
    texts = PairMeasures.of_similarities(np.array([np.nan]))
    assert CLAUSES[clauses(Criteria(None, 0.5), None, texts)[0]] == "below"


STRICT = Verification(0.95, measure="balanced", features="text")
BY_FEATURES = replace(STRICT, measure="jaccard", features="scheme")
# Of an estimate of .6 by 108 values of 8 bits.
ERROR = standard_error(0.6, 108, 8)
SCHEMES = {
    "default": Scheme(verification=BY_FEATURES),
    "keys of a part": Scheme(minhash=MinHash(bands=42, rows=3), verification=BY_FEATURES),
    "signatures": Scheme(layout=Layout(signature_bits=4), verification=BY_FEATURES),
}


@pytest.mark.parametrize(
    ("verification", "least"),
    [
        (None, -1.0),
        (Verification(0.6, measure="jaccard", features="scheme"), 0.6 - 0.15 - 3 * ERROR),
        (Verification(0.6, measure="jaccard", features="text"), 0.22),
        (Verification(0.6, measure="balanced", features="scheme"), 0.22),
    ],
)
def test_the_bound_depends_on_how_texts_are_compared(verification: Verification | None, least: float) -> None:
    assert lowest_estimate(Criteria(None, 0.6, verification), MinHash(), 8) == pytest.approx(least, abs=1e-3)


@pytest.mark.parametrize("minhash", [MinHash(), MinHash(bands=32, rows=4), MinHash(bands=20, rows=6, key_bits=30)])
def test_keys_seldom_find_what_is_not_compared(minhash: MinHash) -> None:
    least = lowest_estimate(Criteria(None, 0.95, STRICT), minhash, minhash.layout.value_bits)
    assert (
        sharing(least - 0.01, minhash.layout, minhash.shared) < 0.05 <= sharing(least, minhash.layout, minhash.shared)
    )


@pytest.mark.parametrize("least", [0.02, 0.04, 0.95])
def test_texts_are_compared_from_half_the_minimum_on_or_from_what_keys_seldom_find(least: float) -> None:
    seldom = lowest_estimate(Criteria(None, 1.0, Verification(1.0)), MinHash(), 8)
    assert 0.04 / 2 < seldom < 0.95 / 2
    assert lowest_estimate(Criteria(None, least, Verification(least)), MinHash(), 8) == min(least / 2, seldom)


def test_signatures_are_compared_by_the_values_of_keys() -> None:
    first = np.arange(108, dtype=np.uint32)
    others = np.stack([np.where(np.arange(108) < count, first, first + 1) for count in (23, 24, 25, 108)])
    # By chance, one of 256 values agrees.
    shares = [(count / 108 - 1 / 256) / (1 - 1 / 256) for count in (23, 24, 25, 108)]
    assert [share >= 0.22 for share in shares] == [False, False, True, True]
    least = lowest_estimate(Criteria(None, 0.95, STRICT), MinHash(), 8)
    assert (estimates(first, others, 8) >= least).tolist() == [False, False, True, True]


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_a_search_and_a_check_compare_the_same_texts(
    scheme: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Texts that come with the candidates are not counted.
    monkeypatch.setattr(reply_size, "_SECOND_REQUEST", 0)
    monkeypatch.setattr(reply_size, "_LEFT_OUT", 0)
    documents = texts()
    engine = Meddler(EmbeddedEngine(tmp_path))
    index = Index("texts", engine, scheme=scheme, fields=["body"])
    index.init()
    index.add([{"_id": id_, "body": text} for id_, text in documents.items()], refresh=True)
    candidates = sum(index.find(text).candidates for text in documents.values())
    read = sum(len(each.ids) for each in engine.seen if isinstance(each, GetDocuments))
    assert len(documents) < read < candidates

    index = Index("none", engine, scheme=scheme, fields=["body"])
    index.init()
    checked: list[Any] = list(index.check([{"_id": id_, "body": text} for id_, text in documents.items()]))
    # Each text also finds itself.
    assert candidates == len(documents) + 2 * sum(each.earlier.candidates for each in checked)


WITH_NUMBERS = replace(Scheme(), verification=Verification(0.7, numbers=0.5))
ESTIMATING = replace(Scheme(), verification=None)
NUMBER_SHARES = st.floats(0, 1)


def criteria_of_page(**options: Any) -> Criteria:
    return SearchOptions(distinct=True, **options).near.criteria(Scheme())


ASKED: list[Callable[..., Criteria]] = [
    lambda **options: FindOptions(**options).criteria(Scheme()),
    criteria_of_page,
    lambda **options: GroupOptions(**options).criteria(Scheme()),
]


@pytest.mark.parametrize("asked", ASKED)
def test_every_options_take_numbers_and_refuse_them_where_fingerprints_decide(asked: Callable[..., Criteria]) -> None:
    assert asked(numbers=0.75).verification == Verification(numbers=0.75)
    assert asked(numbers=0).verification == asked().verification == Verification()
    assert asked(numbers=0, estimate=True) == asked(estimate=True)
    with pytest.raises(EsSimhashError, match="Leave"):
        asked(numbers=0.75, estimate=True)
    for by_bits in ({"by": "simhash"}, {"distance": 3}):
        with pytest.raises(EsSimhashError, match="Leave out the numbers, or search by a similarity"):
            asked(numbers=0.75, **by_bits)
    for wrong in (1.5, -0.1, float("nan"), "many", True):
        with pytest.raises(EsSimhashError, match="numbers cannot be"):
            asked(numbers=wrong)


def test_everything_else_stays_as_the_scheme_says() -> None:
    assert verification_of(WITH_NUMBERS, estimate=False) == WITH_NUMBERS.verification
    assert verification_of(WITH_NUMBERS, estimate=False, numbers=1) == Verification(0.7, numbers=1)
    assert verification_of(WITH_NUMBERS, estimate=False, numbers=0) == Verification(0.7)
    assert verification_of(WITH_NUMBERS, estimate=True, numbers=0) is None


def test_without_a_verification_the_features_of_fingerprints_are_compared_and_the_numbers() -> None:
    found = verification_of(ESTIMATING, estimate=False, numbers=0.5)
    assert found == replace(Verification.of_fingerprints(0.6), numbers=0.5)
    assert verification_of(ESTIMATING, estimate=False, numbers=0) is None
    assert verification_of(ESTIMATING, estimate=False) is None


def test_other_candidates_keep_the_numbers() -> None:
    found = FindOptions(numbers=0.5, candidates="more_like_this").criteria(Scheme()).verification
    assert found == Verification(numbers=0.5)


def test_texts_that_contain_one_another_are_compared_by_no_numbers() -> None:
    with pytest.raises(EsSimhashError, match="Leave out what compares"):
        FindOptions(relation="containing", numbers=0.5)


VOLUMES = st.builds(volume, st.integers(1, 4), st.integers(2019, 2022), st.none() | st.integers(1, 9))


@given(st.lists(VOLUMES, min_size=2, max_size=8), NUMBER_SHARES, NUMBER_SHARES)
@examples(30)
def test_a_higher_share_of_numbers_adds_no_pair(texts: list[str], one: float, other: float) -> None:
    lower, higher = sorted((one, other))
    found = [pairs_by(texts, share) for share in (None, lower, higher)]
    assert found[0] >= found[1] >= found[2]


@given(st.lists(VOLUMES, min_size=2, max_size=8), NUMBER_SHARES)
@examples(30)
def test_what_is_refused_is_what_the_numbers_take_away(texts: list[str], share: float) -> None:
    different = list(dict.fromkeys(texts))
    with deduplicated(different, None) as without, deduplicated(different, share) as found:
        assert found.counts.near + found.counts.refused == without.counts.near
        assert without.counts.refused == 0


def deduplicated(texts: list[str], numbers: float | None) -> Groups[TextCorpus]:
    return dedup(((str(place), text) for place, text in enumerate(texts)), numbers=numbers)


def pairs_by(texts: list[str], numbers: float | None) -> set[tuple[int, int]]:
    with deduplicated(texts, numbers) as found:
        return {(int(pair["first"]), int(pair["second"])) for pairs in found.pairs() for pair in pairs}
