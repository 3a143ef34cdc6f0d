from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from es_simhash.plans.explain.explanation import examine, explain
from es_simhash.plans.explain.similarities import compare_features, readable_features
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import MinHash, SimHash
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier, comparable_features
from es_simhash.sketches import similarity
from es_simhash.text.features import UNIT
from es_simhash.text.hashing.registry import custom_hash
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens.kinds import Chars, Chinese, Custom, Keywords, Runs, Words
from tests.support.texts import any_text

A = "The quick brown fox jumps over the lazy dog, and the dog sleeps. 近似重复检测，文章只改动了几个字。"
B = "The quick brown cat jumps over the lazy dog, and the cat sleeps. 近似重复检测，文章改动了几个字。"
TEXTS = [A, B, "The", "", "👩‍🚀 e\u0301 ﬁ ｶﾞ 各 \u0378"]

PLAIN = Scheme()
SCHEMES = {
    "default": PLAIN,
    "short": Scheme.preset("short"),
    "words": Scheme(tokens=Words(2, stop_words=frozenset({"the"}))),
    "chinese": Scheme(tokens=Chinese()),
    "keywords": Scheme(tokens=Keywords(), weights="own", minhash=None),
    "runs": Scheme(tokens=Runs(dense=3)),
    "tf": Scheme(tokens=Words(), weights="tf"),
    "idf": PLAIN.with_idf(TEXTS),
    "tfidf": PLAIN.with_idf(TEXTS, "tfidf"),
    "weighted": Scheme(weights="tf", minhash=MinHash("weighted", 32, 8, 4)),
    "sha256": Scheme(hash="sha256"),
    "wide": Scheme(simhash=SimHash(128, 8, 3)),
    "own hash": Scheme(hash=custom_hash("length", len, 16), minhash=None, simhash=SimHash(16, 4, 3)),
    "own tokens": Scheme(tokens=Custom("halves", lambda text: [(text[:9], 2.5), (text[9:], 0.5)]), weights="own"),
}


def hashes_of(scheme: Scheme, text: str) -> set[int]:
    """The features that fingerprints are made of, as a verification reads them."""
    [features] = comparable_features(scheme, [text])
    assert isinstance(features, np.ndarray | tuple)
    return set((features[0] if isinstance(features, tuple) else features).tolist())


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("text", TEXTS)
def test_readable_tokens_hash_to_the_features_of_fingerprints(name: str, text: str) -> None:
    assert set(readable_features(SCHEMES[name], text)) == hashes_of(SCHEMES[name], text)


@settings(max_examples=60)
@given(text=any_text())
def test_readable_tokens_of_any_text_hash_to_its_features(text: str) -> None:
    for tokens in (Chars(3), Runs(), Runs(dense=3), Words(2)):
        scheme = replace(PLAIN, tokens=tokens)
        assert set(readable_features(scheme, text)) == hashes_of(scheme, text)


def test_html_is_tokenised_without_its_markup() -> None:
    scheme = Scheme(html=True, tokens=Words())
    text = "<p>some <b>words</b></p><script>no words</script>"
    assert list(readable_features(scheme, text).values()) == ["some", "words"]
    assert set(readable_features(scheme, text)) == hashes_of(scheme, text)


def test_tokens_come_in_the_order_of_the_text() -> None:
    assert list(readable_features(Scheme(tokens=Words()), "b a c a").values()) == ["b", "a", "c"]


@pytest.mark.parametrize("name", SCHEMES)
def test_weights_add_up_to_the_exact_similarity(name: str) -> None:
    scheme = SCHEMES[name]
    features = compare_features(scheme, (A, B))
    shared = sum(min(each.weight_a, each.weight_b) for each in compared(scheme)["shared"])
    assert features.shared.weight == pytest.approx(shared)
    union = sum(max(each) for group in compared(scheme).values() for each in weights(group))
    assert shared / union == pytest.approx(scheme.exact_jaccard(A, B))


def compared(scheme: Scheme) -> dict[str, list[Counted]]:
    """The features of both texts by plain dictionaries, each with its weights."""
    both = [dict(zip(*arrays(each), strict=True)) for each in comparable_features(scheme, [A, B])]
    unit = UNIT if scheme.idf else 1
    groups: dict[str, list[Counted]] = {"shared": [], "only": []}
    for code in {**both[0], **both[1]}:
        pair = Counted(*(each.get(code, 0) / unit for each in both))
        groups["shared" if all(code in each for each in both) else "only"].append(pair)
    return groups


class Counted:
    def __init__(self, weight_a: float, weight_b: float) -> None:
        self.weight_a, self.weight_b = weight_a, weight_b


def weights(group: list[Counted]) -> list[tuple[float, float]]:
    return [(each.weight_a, each.weight_b) for each in group]


def arrays(features: similarity.Features) -> tuple[list[int], list[float]]:
    assert isinstance(features, np.ndarray | tuple)
    hashes, own = features if isinstance(features, tuple) else (features, np.ones(len(features)))
    return hashes.tolist(), own.tolist()


def test_the_heaviest_features_come_first_then_those_that_stand_first() -> None:
    features = compare_features(Scheme(tokens=Words(), weights="tf"), ("b a a c c c x x", "c a d d e c y"))
    assert [(each.text, each.weight_a, each.weight_b) for each in features.shared.heaviest] == [
        ("c", 3, 2),
        ("a", 2, 1),
    ]
    assert [(each.text, each.weight) for each in features.only_a.heaviest] == [("x", 2), ("b", 1)]
    assert [(each.text, each.weight) for each in features.only_b.heaviest] == [("d", 2), ("e", 1), ("y", 1)]
    assert (features.shared.count, features.shared.weight) == (2, 3)


def test_features_are_those_that_are_compared() -> None:
    scheme, verification = Scheme(normalisation=Normalisation(), tokens=Words()), Verification(features="text")
    first, second = (examine(scheme, name, f"見出し {name}") for name in ("ab", "ac"))
    listed = explain(
        scheme, Criteria.of(scheme), (first, second), verifier=Verifier(scheme, verification)
    ).features.shared.heaviest
    assert [each.text for each in listed] == ["見出", "出し", "し "]
    assert explain(scheme, Criteria.of(scheme), (first, second)).features == compare_features(
        scheme, ("見出し ab", "見出し ac")
    )


def test_every_feature_counts_but_only_some_are_listed() -> None:
    words = [f"w{i}" for i in range(100)]
    features = compare_features(Scheme(tokens=Words()), (" ".join(words), " ".join(words[:70])))
    assert (features.shared.count, features.only_a.count, features.only_b.count) == (70, 30, 0)
    assert [each.text for each in features.shared.heaviest] == words[:20]


def test_idf_weights_are_shown_in_units_of_one() -> None:
    corpus = ["a b", "a c", "a d"]
    scheme = Scheme(tokens=Words()).with_idf(corpus)
    [shared] = compare_features(scheme, ("a b", "a c")).shared.heaviest
    assert shared.weight_a == shared.weight_b == 1  # ln(4 / 4) + 1, for it is in all of them


def test_counts_match_plain_ngrams() -> None:
    def grams(text: str) -> Counter[str]:
        folded = " ".join(text.casefold().split())
        return Counter(folded[i : i + 5] for i in range(len(folded) - 4))

    a, b = "Some words of a text, and some more.", "Some words of a text, but some less."
    features = compare_features(PLAIN, (a, b))
    assert features.shared.count == len(grams(a).keys() & grams(b).keys())
    assert features.only_a.count == len(grams(a).keys() - grams(b).keys())
    assert {each.text for each in features.only_b.heaviest} <= grams(b).keys() - grams(a).keys()
