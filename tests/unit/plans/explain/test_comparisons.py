"""The comparisons of fingerprints: bits, keys, similarities; and what the fields of a document are worth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.plans.explain.explanation import ExaminedDocument, examine
from es_simhash.plans.explain.similarities import (
    compare_bits,
    compare_keys,
    compare_signatures,
    exact_similarity,
    expected_distance,
    named_clauses,
    terms,
)
from es_simhash.scheme.own_fields import KINDS
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, MinHash, Settings, SimHash
from es_simhash.sketches import hamming
from es_simhash.text.tokens.kinds import Words

A = "The quick brown fox jumps over the lazy dog, and then it does so again and again."
B = "The quick brown fox jumped over the lazy dog, and then it does so again and again!"
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
    held = made(scheme, A, B)
    prints = [scheme.fingerprint(text) for text in (A, B)]
    for kind, keys_of in (("block", scheme.block_keys), ("band", scheme.band_keys)):
        first, second = map(keys_of, prints)
        keys = compare_keys(kind, held, needed=1, probability=None, named=None)  # type: ignore[arg-type]
        assert (keys.a, keys.b) == (first, second)
        assert keys.agree == [i for i, (x, y) in enumerate(zip(first, second, strict=True)) if x == y]
        assert keys.is_candidate == bool(keys.agree)
    assert len(held[0]) == len(made(scheme, A, A)[0])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_key_has_a_clause_with_its_own_name(layout: Layout) -> None:
    scheme = Scheme(layout=layout)
    held, _ = made(scheme, A, B)
    found = named_clauses(held, "dedup")
    asked = [(field, value["value"]) for each in found for field, value in each["term"].items()]
    assert asked == [(f"dedup.{field}", key) for kind in KINDS for field, key in terms(held, kind)]
    names = [value["_name"] for each in found for value in each["term"].values()]
    assert len(set(names)) == len(found) == 6 + 36


def test_what_the_engine_names_decides_and_is_compared() -> None:
    scheme = Scheme()
    held = made(scheme, A, A)
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
    held = made(Scheme(), A, B)
    assert compare_keys("band", held, needed=1, probability=probability, named=None).chance == expected


# ---- similarities


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_estimate_is_that_of_a_search(layout: Layout) -> None:
    scheme = Scheme(layout=layout)
    held = made(scheme, A, B)
    found = compare_signatures(scheme, held, exact_similarity(scheme, (A, B)), 0.6)
    hit = {"_index": "i", "_id": "b", "_source": {"dedup": held[1]}}
    [match] = scheme.rerank(scheme.fingerprint(A), {"hits": {"hits": [hit]}}, similarity=0.0001)
    assert found.estimate == match.similarity
    assert found.exact == scheme.exact_jaccard(A, B)
    assert (found.values, found.value_bits) == (128 if layout.signature_bits else 108, layout.signature_bits or 8)


def test_the_standard_error_is_that_of_the_share_of_equal_values_corrected_for_chance() -> None:
    scheme = Scheme()
    found = compare_signatures(scheme, made(scheme, A, B), exact_similarity(scheme, (A, B)), 0.6)
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
    for scheme, texts in ((strict, (A, B)), (Scheme(), (A, ""))):
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
        (stored(A), "current", True),
        (stored(B), "stale", True),
        (stored(""), "stale", True),
        (stored(A, status="deferred"), "deferred", False),
        ({"status": "deferred"}, "deferred", False),
        (stored(A, scheme="other"), "foreign", False),
        (None, "missing", False),
        ({}, "missing", False),
        (stored(A, bands="nothing"), "damaged", False),
        (stored(A, blocks=stored(B)["blocks"]), "damaged", True),
        (stored(B, simhash=None), "damaged", False),
    ],
)
def test_the_state_of_stored_fields(fields: Json | None, state: str, is_held: bool) -> None:
    found = examined(SCHEME, A, index="i", stored=fields)
    assert (found.state, found.is_held) == (state, is_held)
    assert found.held == (fields if is_held else found.made)


def test_an_empty_text_with_its_fields_is_current() -> None:
    found = examined(SCHEME, " ", index="i", stored=stored(" "))
    assert (found.state, found.is_held, found.made["status"]) == ("current", True, "empty")


def test_a_text_without_an_index_has_no_fields() -> None:
    found = examined(SCHEME, A)
    assert (found.state, found.is_held, found.held) == ("text", False, found.made)


def test_a_text_of_any_length_is_examined() -> None:
    assert examined(SCHEME, A * 10_000).made["status"] == "ok"
