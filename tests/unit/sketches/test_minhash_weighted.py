"""Weighted MinHash."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import HashError, SchemeError, WeightError
from es_simhash.sketches.minhash import weighted
from es_simhash.sketches.minhash.weighted import ln, signatures
from es_simhash.text.features import FeatureBatch
from tests.support.minhashes import GOLDEN, WORD, assert_mean, batch, fmix64, hexes, shuffled, words

EMPTY = 0xFFFFFFFF

weights = st.floats(0, allow_infinity=False, allow_nan=False, max_value=1e300) | st.integers(0, 3)
weighted_texts = st.lists(st.dictionaries(words, weights, max_size=15), max_size=5)


def ln_by_definition(x: float) -> float:
    m, k = math.frexp(x)
    s = (m - 0.7071067811865476) / (m + 0.7071067811865476)
    z = s * s
    return (k - 0.5) * 0.6931471805599453 + s * (2 + z * (2 / 3 + z * (2 / 5 + z * (2 / 7 + z * (2 / 9)))))


def exponential(j: int) -> float:
    return -ln_by_definition((j + 0.5) / 2**13)


def by_definition(features: dict[int, float], size: int) -> list[int]:
    values = []
    for i in range(size):
        best = (math.inf, 0, 0)
        for h, w in features.items():
            if w > 0:
                m = fmix64(h ^ fmix64(i + 1))
                j1, j2, j3, j4 = (m >> shift & 0x1FFF for shift in (51, 38, 25, 12))
                r, c = exponential(j1) + exponential(j2), exponential(j3) + exponential(j4)
                beta = ((m & 0xFFF) + 0.5) / 2**12
                t = math.floor(ln_by_definition(w) / r + beta)
                best = min(best, (ln_by_definition(c) - r * (t - beta + 1), h, t))
        _, h, t = best
        values.append(EMPTY if best[0] == math.inf else fmix64((h * 0x9E3779B97F4A7C15 + t) & WORD) >> 32)
    return values


def of(texts: list[dict[int, float]]) -> FeatureBatch:
    return batch([list(text) for text in texts], [list(map(float, text.values())) for text in texts])


@given(weighted_texts, st.integers(1, 6))
def test_every_value_is_as_defined(texts: list[dict[int, float]], size: int) -> None:
    assert signatures(of(texts), size).tolist() == [by_definition(text, size) for text in texts]


@given(st.floats(min_value=5e-324, allow_infinity=False))
def test_the_logarithm_is_as_defined_and_near_the_true_one(x: float) -> None:
    found = ln(np.array([x, x]))
    assert found.tolist() == [ln_by_definition(x)] * 2
    assert abs(found[0] - math.log(x)) <= 1e-9


def test_values_never_change() -> None:
    given_weights = [[0.5 + place * (number + 1) for place in range(len(text))] for number, text in enumerate(GOLDEN)]
    assert hexes(signatures(batch(GOLDEN, given_weights), 6)) == [
        "ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff",
        "493249f7 94438cdf 94438cdf a612295d a612295d 94438cdf",
        "d128cce8 b0e805da 28409b01 b0e805da b0e805da b0e805da",
        "b24aa3c8 23f6553e 05a2d90e 36e8df9f 23f6553e a6e2f7cc",
    ]


@pytest.mark.parametrize("block", [1, 50, 10**6])
def test_neither_order_nor_neighbours_matter(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    vocabulary = rng.integers(0, 2**64, 200, dtype=np.uint64)
    drawn = [rng.choice(vocabulary, length, replace=False).tolist() for length in (0, 3, 90, 0, 12, 150, 1, 0)]
    texts = [dict(zip(text, rng.exponential(size=len(text)), strict=True)) for text in drawn]
    alone = [signatures(of([text]), 32)[0].tolist() for text in texts]
    monkeypatch.setattr(weighted, "_BLOCK", block)
    mixed, order = shuffled(of(texts), seed=3)
    assert signatures(mixed, 32).tolist() == [alone[i] for i in order]


def test_weights_of_a_repeated_feature_add_up() -> None:
    repeated = batch([[5, 6, 5, 7, 5]], [[1, 2, 3, 0.5, 4]])
    assert (signatures(repeated, 64) == signatures(of([{5: 8, 6: 2, 7: 0.5}]), 64)).all()


def test_without_weights_the_occurrences_count() -> None:
    assert (signatures(batch([[5, 6, 5]]), 64) == signatures(of([{5: 2, 6: 1}]), 64)).all()


def test_whole_weights_are_as_good_as_floats() -> None:
    floats = of([{5: 2, 6: 1}])
    whole = FeatureBatch(floats.hashes, floats.offsets, np.array([2, 1], dtype=np.int64))
    assert (signatures(floats, 16) == signatures(whole, 16)).all()


def test_documents_without_weight_have_the_empty_row() -> None:
    assert (signatures(of([{}, {5: 1}, {6: 0}]), 4) == EMPTY).all(axis=1).tolist() == [True, False, True]
    assert (signatures(of([{}, {}]), 4) == EMPTY).all()
    assert signatures(of([]), 4).shape == (0, 4)


@given(st.dictionaries(words, st.floats(1e-6, 1e6), min_size=1, max_size=8), st.data())
def test_a_choice_holds_when_other_features_lose_weight(text: dict[int, float], data: st.DataObject) -> None:
    """Consistency: what is chosen stays chosen as long as its own weight does."""
    kept = data.draw(st.sampled_from(sorted(text)))
    lighter = {h: w if h == kept else w * data.draw(st.floats(0, 1)) for h, w in text.items()}
    alone, before, after = signatures(of([{kept: text[kept]}, text, lighter]), 16).tolist()
    assert all(new == own for own, old, new in zip(alone, before, after, strict=True) if old == own)


def shares(v: npt.NDArray[np.float64], w: npt.NDArray[np.float64], count: int, size: int) -> npt.NDArray[np.bool_]:
    """If the signatures agree of pairs of documents with these weights, for many draws of hashes."""
    hashes = np.random.default_rng(len(v)).integers(0, 2**64, count * len(v), dtype=np.uint64)
    offsets = np.arange(0, len(hashes) + 1, len(v))
    a, b = (signatures(FeatureBatch(hashes, offsets, np.tile(x, count)), size) for x in (v, w))
    agree: npt.NDArray[np.bool_] = a == b
    return agree


@pytest.mark.parametrize(
    ("v", "w"),
    [
        ([1.0], [1.7]),
        ([1.0, 3.0], [2.0, 1.0]),
        ([5.0, 1.0, 0.0, 0.1], [4.0, 1.5, 0.7, 0.0]),
        (np.arange(1.0, 41.0), np.arange(40.0, 0.0, -1.0)),
        (np.arange(200) % 7 / 3, np.arange(200) % 5 / 2),
        (np.ones(30), np.ones(30) * (np.arange(30) % 3 > 0)),
    ],
)
def test_the_share_of_equal_positions_estimates_the_weighted_jaccard_similarity(v: list[float], w: list[float]) -> None:
    """Without bias, and with the variance of independent positions, whose bands agree independently."""
    size = 32
    jaccard = np.minimum(v, w).sum() / np.maximum(v, w).sum()
    equal = shares(np.array(v), np.array(w), 100_000 // (len(v) + 50), size)
    assert_mean(equal.mean(axis=1), jaccard)
    assert 0.8 <= equal.mean(axis=1).var() / (jaccard * (1 - jaccard) / size) <= 1.2
    assert_mean(equal.reshape(len(equal), -1, 4).all(axis=2).mean(axis=1), jaccard**4)


@pytest.mark.parametrize("weight", [math.nan, math.inf, -1.0])
def test_weights_that_weigh_nothing_sensible_are_refused(weight: float) -> None:
    with pytest.raises(WeightError, match=f"Text 1 has a feature of the weight {weight}"):
        signatures(of([{1: 1}, {2: 1, 3: weight}]), 4)


def test_sums_of_weights_beyond_all_numbers_are_refused() -> None:
    with pytest.raises(WeightError, match="add up to infinity"):
        signatures(batch([[1, 1]], [[1e308, 1e308]]), 4)


def test_impossible_sizes_and_hashes_are_refused() -> None:
    with pytest.raises(SchemeError, match="Choose a whole number from 1 to 4096"):
        signatures(batch([[1]]), 0)
    with pytest.raises(HashError, match="Hash the features to 64 bits"):
        signatures(FeatureBatch(np.zeros((3, 2), np.uint64), np.array([0, 3])), 8)
