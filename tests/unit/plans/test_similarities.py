"""The comparisons of fingerprints: bits, keys, similarities; and what the fields of a document are worth."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash import Passages
from es_simhash._core.json_codec import Json
from es_simhash.plans.explanation import ExaminedDocument, examine, explain
from es_simhash.plans.similarities import (
    SharedPassages,
    compare_bits,
    compare_features,
    compare_keys,
    compare_signatures,
    exact_similarity,
    expected_distance,
    named_clauses,
    readable_features,
    shared_passages,
    terms,
)
from es_simhash.scheme.own_fields import KINDS
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, MinHash, Settings, SimHash
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier, comparable_features
from es_simhash.sketches import hamming, similarity
from es_simhash.text.features import UNIT
from es_simhash.text.hashing import custom_hash
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens import Chars, Chinese, Custom, Keywords, Runs, Words
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


LETTERS = st.lists(st.sampled_from("abc"), max_size=20)


def longest(first: list[str], second: list[str]) -> list[str]:
    """The first longest run in common, place by place."""
    found: list[str] = []
    for i in range(len(first)):
        for j in range(len(second)):
            length = 0
            while first[i : i + length + 1] == second[j : j + length + 1] and max(i, j) + length < len(first + second):
                if i + length >= len(first) or j + length >= len(second):
                    break
                length += 1
            if length > len(found):
                found = first[i : i + length]
    return found


@given(LETTERS, LETTERS)
def test_the_longest_passage_is_the_first_longest_run_of_words_in_common(first: list[str], second: list[str]) -> None:
    found = shared_passages(Scheme(), (" ".join(first), " ".join(second)))
    wanted = longest(first, second)
    assert (found.words, found.in_first, found.in_second) == (len(wanted), " ".join(wanted), " ".join(wanted))


def test_a_passage_is_shown_as_it_stands_in_each_text() -> None:
    texts = "He said: “The QUICK brown fox — jumps”, and left.", "the quick Brown fox: jumps. Again."
    found = shared_passages(Scheme(passages=Passages(words=3)), texts)
    assert found == SharedPassages(5 / 9, 5 / 6, 3, 5, "The QUICK brown fox — jumps", "the quick Brown fox: jumps")


def test_of_a_long_passage_the_beginning_is_shown_and_markup_is_not_part_of_it() -> None:
    text = "<p>" + "word " * 200
    found = shared_passages(Scheme(html=True), (text, text))
    assert (found.words, found.of_first) == (200, 1.0)
    assert found.in_first == f"{'word ' * 60}…"


def test_texts_without_words_share_nothing() -> None:
    assert shared_passages(Scheme(), ("", "!")) == SharedPassages(0.0, 0.0, 6, 0, "", "")


LEFT = "The quick brown fox jumps over the lazy dog, and then it does so again and again."
RIGHT = "The quick brown fox jumped over the lazy dog, and then it does so again and again!"
LAYOUTS = [
    Layout("text"),
    Layout("keyword"),
    Layout("fields"),
    Layout("text", signature_bits=8),
    Layout(simhash="blocks"),
]


def examined(scheme: Scheme, text: str, **more: Any) -> ExaminedDocument:
    return examine(scheme, "x", text, **more)


def made(scheme: Scheme, *texts: str) -> tuple[Json, Json]:
    first, second = (examined(scheme, text).made for text in texts)
    return first, second


# ---- bits


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_the_differing_bits_turn_one_simhash_into_the_other(a: int, b: int) -> None:
    bits = compare_bits(Settings(), ({"simhash": f"{a:016x}"}, {"simhash": f"{b:016x}"}), 0.5, 3)
    assert bits
    assert a ^ sum(1 << (63 - place) for place in bits.differing) == b
    assert bits.distance == len(bits.differing) == hamming.distance(a, b)
    assert bits.is_met == (bits.distance <= 3)


@pytest.mark.parametrize("size", [16, 50, 128])
def test_positions_are_counted_from_the_most_significant_bit_of_any_width(size: int) -> None:
    digits = -(-size // 4)
    first, last = f"{1 << (size - 1):0{digits}x}", f"{1:0{digits}x}"
    bits = compare_bits(Settings(simhash=SimHash(size, 8, 3)), (first_of(first), first_of(last)), 0.0, None)
    assert bits
    assert bits.differing == [0, size - 1]
    assert not bits.is_met


def first_of(simhash: str) -> Json:
    return {"simhash": simhash}


def test_fields_without_a_simhash_are_not_compared() -> None:
    assert compare_bits(Settings(), ({}, {"simhash": "0" * 16}), 1.0, 3) is None


def test_the_expected_distance_is_that_of_random_hyperplanes() -> None:
    assert expected_distance(1.0000001, 64) == 0
    assert expected_distance(0, 64) == pytest.approx(32)
    rng = np.random.default_rng(1)
    planes = rng.standard_normal((20_000, 2))
    angle = math.acos(0.8)
    signs = planes @ np.array([[1, math.cos(angle)], [0, math.sin(angle)]]) > 0
    assert expected_distance(0.8, 1) == pytest.approx((signs[:, 0] != signs[:, 1]).mean(), abs=0.02)


# ---- keys


@pytest.mark.parametrize("layout", LAYOUTS)
def test_keys_agree_as_those_of_the_scheme_do_in_every_layout(layout: Layout) -> None:
    scheme = Scheme(layout=layout)
    held = made(scheme, LEFT, RIGHT)
    prints = [scheme.fingerprint(text) for text in (LEFT, RIGHT)]
    for kind, keys_of in (("block", scheme.block_keys), ("band", scheme.band_keys)):
        first, second = map(keys_of, prints)
        keys = compare_keys(kind, held, needed=1, probability=None, named=None)  # type: ignore[arg-type]
        assert (keys.a, keys.b) == (first, second)
        assert keys.agree == [i for i, (x, y) in enumerate(zip(first, second, strict=True)) if x == y]
        assert keys.is_candidate == bool(keys.agree)
    assert len(held[0]) == len(made(scheme, LEFT, LEFT)[0])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_key_has_a_clause_with_its_own_name(layout: Layout) -> None:
    scheme = Scheme(layout=layout)
    held, _ = made(scheme, LEFT, RIGHT)
    found = named_clauses(held, "dedup")
    asked = [(field, value["value"]) for each in found for field, value in each["term"].items()]
    assert asked == [(f"dedup.{field}", key) for kind in KINDS for field, key in terms(held, kind)]
    names = [value["_name"] for each in found for value in each["term"].values()]
    assert len(set(names)) == len(found) == 6 + 36


def test_what_the_engine_names_decides_and_is_compared() -> None:
    scheme = Scheme()
    held = made(scheme, LEFT, LEFT)
    bands: Any = {"needed": 1, "probability": 0.5}
    same = compare_keys("band", held, named=[f"band {i}" for i in range(36)], **bands)
    assert not same.is_contradicted
    other = compare_keys("band", held, named=["block 1"], **bands)
    assert (other.engine, len(other.agree)) == ([], 36)
    assert other.is_contradicted
    assert not other.is_candidate
    unasked = compare_keys("band", held, named=None, **bands)
    assert unasked.is_candidate
    assert not compare_keys("band", held, needed=None, probability=None, named=None).is_candidate


def test_fields_without_keys_have_none() -> None:
    assert terms({"status": "empty"}, "band") == []


@pytest.mark.parametrize(
    ("probability", "expected"),
    [(0.009, "below 0.01"), (0.01, "0.01"), (0.371, "0.37"), (0.9999, "above 0.99"), (None, "unknown")],
)
def test_a_probability_is_never_shown_as_certain(probability: float | None, expected: str) -> None:
    held = made(Scheme(), LEFT, RIGHT)
    assert compare_keys("band", held, needed=1, probability=probability, named=None).chance == expected


# ---- similarities


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_estimate_is_that_of_a_search(layout: Layout) -> None:
    scheme = Scheme(layout=layout)
    held = made(scheme, LEFT, RIGHT)
    found = compare_signatures(scheme, held, exact_similarity(scheme, (LEFT, RIGHT)), 0.6)
    hit = {"_index": "i", "_id": "b", "_source": {"dedup": held[1]}}
    [match] = scheme.rerank(scheme.fingerprint(LEFT), {"hits": {"hits": [hit]}}, similarity=0.0001)
    assert found.estimate == match.similarity
    assert found.exact == scheme.exact_jaccard(LEFT, RIGHT)
    assert (found.values, found.value_bits) == (128 if layout.signature_bits else 108, layout.signature_bits or 8)


def test_the_standard_error_is_that_of_the_share_of_equal_values_corrected_for_chance() -> None:
    scheme = Scheme()
    found = compare_signatures(scheme, made(scheme, LEFT, RIGHT), exact_similarity(scheme, (LEFT, RIGHT)), 0.6)
    assert found.estimate is not None
    share = 1 / 256 + (1 - 1 / 256) * found.estimate
    assert found.standard_error == pytest.approx(math.sqrt(share * (1 - share) / 108) / (1 - 1 / 256))


def test_an_unweighted_signature_estimates_the_unweighted_similarity() -> None:
    words: Any = {"tokens": Words(), "weights": "tf"}
    texts = ("a a a b", "a b c")
    plain = exact_similarity(Scheme(**words), texts)
    assert (plain.weighted, plain.signed) == (2 / 5, 2 / 3)
    heeding = exact_similarity(Scheme(minhash=MinHash("weighted", 32, 8, 4), **words), texts)
    assert heeding.signed == heeding.weighted == 2 / 5
    assert heeding.cosine == pytest.approx(4 / math.sqrt(10 * 3))


def test_without_signatures_only_the_exact_similarity_is_reported() -> None:
    strict = Scheme.preset("strict")
    for scheme, texts in ((strict, (LEFT, RIGHT)), (Scheme(), (LEFT, ""))):
        found = compare_signatures(scheme, made(scheme, *texts), exact_similarity(scheme, texts), None)
        assert (found.estimate, found.standard_error) == (None, None)
        assert found.exact == scheme.exact_jaccard(*texts)


# ---- what fields are worth

SCHEME = Scheme()


def stored(text: str, **changes: Any) -> Json:
    return {**examined(SCHEME, text).made, **changes}


@pytest.mark.parametrize(
    ("fields", "state", "is_held"),
    [
        (stored(LEFT), "current", True),
        (stored(RIGHT), "stale", True),
        (stored(""), "stale", True),
        (stored(LEFT, status="deferred"), "deferred", False),
        ({"status": "deferred"}, "deferred", False),
        (stored(LEFT, scheme="other"), "foreign", False),
        (None, "missing", False),
        ({}, "missing", False),
        (stored(LEFT, bands="nothing"), "damaged", False),
        (stored(LEFT, blocks=stored(RIGHT)["blocks"]), "damaged", True),
        (stored(RIGHT, simhash=None), "damaged", False),
    ],
)
def test_the_state_of_stored_fields(fields: Json | None, state: str, is_held: bool) -> None:
    found = examined(SCHEME, LEFT, index="i", stored=fields)
    assert (found.state, found.is_held) == (state, is_held)
    assert found.held == (fields if is_held else found.made)


def test_an_empty_text_with_its_fields_is_current() -> None:
    found = examined(SCHEME, " ", index="i", stored=stored(" "))
    assert (found.state, found.is_held, found.made["status"]) == ("current", True, "empty")


def test_a_text_without_an_index_has_no_fields() -> None:
    found = examined(SCHEME, LEFT)
    assert (found.state, found.is_held, found.held) == ("text", False, found.made)


def test_a_text_of_any_length_is_examined() -> None:
    assert examined(SCHEME, LEFT * 10_000).made["status"] == "ok"
