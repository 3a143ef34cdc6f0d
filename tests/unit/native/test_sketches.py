"""Fingerprints that the compiled kernels condense are those of numpy, to the bit."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import accumulate
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import to_ints
from es_simhash.errors import WeightError
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprinting import Fingerprints
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS, MinHash, Settings, SimHash
from es_simhash.sketches.minhash.common import SignatureCodec, Signatures
from es_simhash.text.features import FeatureBatch, IdfTable
from es_simhash.text.tokens import Keywords
from tests import ROOT

kernels = pytest.importorskip("es_simhash_native")

GOLDEN = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))["presets"]
KINDS = ("one-permutation", "k-hash", "weighted")
SIZES = (1, 2, 31, 32, 33, 63, 64, 65, 100, 128, 256, 257, 1000, 4096)
IDF = IdfTable(9, np.array([1, 5, 2**63], np.uint64), np.array([3, 2**32 - 1, 700], np.uint32), 999)

# Few hashes, so that they repeat; many, so that all bits and bins are seen.
hashes = st.sampled_from([0, 1, 5, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)
whole = st.integers(-3, 3) | st.integers(-(2**31), 2**31)
floats = st.sampled_from([0.0, -0.0, 0.1, 0.2, -0.3, 5e-324, 1e300, -1e300]) | st.floats(-1e305, 1e305)


def settings_of(kind: str = "one-permutation", size: int = 128, bits: int = 64, weights: Any = "set") -> Settings:
    return Settings(
        tokens=Keywords(),
        weights=weights,
        idf=IDF if weights in ("idf", "tfidf") else None,
        simhash=SimHash(bits, min(bits, 6), 0),
        minhash=MinHash(kind, size, bands=1, rows=1),
    )


@st.composite
def batch(draw: st.DrawFn, bits: int, weights: st.SearchStrategy[float] | None = None) -> FeatureBatch:
    """The features of a few documents, some of them made of a seed."""
    many = [64, 300] if weights is None else [40]
    counts = draw(st.lists(st.integers(0, 20) | st.sampled_from(many), max_size=4))
    drawn = [draw(st.lists(hashes, min_size=n, max_size=n)) if n <= 20 else made(n) for n in counts]
    words = np.array([word for each in drawn for word in each], np.uint64)
    codes = words if bits <= 64 else np.stack([words, words * np.uint64(2**61 - 1) + np.uint64(7)], axis=1)
    offsets = np.array([*accumulate(counts, initial=0)], np.int64)
    if weights is None:
        return FeatureBatch(codes, offsets)
    values = draw(st.lists(weights, min_size=len(words), max_size=len(words)))
    is_whole = all(isinstance(value, int) for value in values)
    return FeatureBatch(codes, offsets, np.array(values, np.int64) if is_whole else np.array(values, np.float64))


def made(count: int) -> list[int]:
    return np.random.default_rng(count).integers(0, 2**64, count, np.uint64).tolist()


def by_numpy(settings: Settings, features: FeatureBatch) -> Fingerprints:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ES_SIMHASH_NATIVE", "0")
        return fingerprinting.fingerprints(settings, fingerprinting._weigh(settings, features))


def by_kernels(settings: Settings, features: FeatureBatch) -> Fingerprints:
    columns = settings.fingerprinter.condense(features.hashes, features.offsets, features.weights)
    return Fingerprints(*columns)


def assert_same(settings: Settings, features: FeatureBatch) -> None:
    found, expected = by_kernels(settings, features), by_numpy(settings, features)
    assert found.statuses.tolist() == expected.statuses.tolist()
    if settings.simhash is None:
        assert found.simhashes is expected.simhashes is None
    else:
        assert found.simhashes is not None
        assert expected.simhashes is not None
        assert found.simhashes.shape == expected.simhashes.shape
        assert to_ints(found.simhashes) == to_ints(expected.simhashes)
    assert np.array_equal(cast("Signatures", found.signatures), cast("Signatures", expected.signatures))


@pytest.mark.parametrize("weights", ["set", "tf", "idf", "tfidf"])
@given(data=st.data())
def test_fingerprints_of_any_kind_and_width_are_those_of_numpy(weights: str, data: st.DataObject) -> None:
    bits = data.draw(st.integers(1, 128))
    size = data.draw(st.sampled_from(SIZES[:-2]))
    settings = settings_of(data.draw(st.sampled_from(KINDS)), size, bits, weights)
    assert_same(settings, data.draw(batch(bits)))


@given(st.data(), st.sampled_from(KINDS), st.sampled_from(["set", "tf", "idf"]))
def test_signatures_alone_are_those_of_numpy(data: st.DataObject, kind: str, weights: str) -> None:
    assert_same(replace(settings_of(kind, weights=weights), simhash=None), data.draw(batch(64)))


@given(st.data(), st.integers(1, 128))
def test_simhashes_of_integer_weights_are_those_of_numpy(data: st.DataObject, bits: int) -> None:
    assert_same(settings_of(bits=bits, weights="own"), data.draw(batch(bits, whole)))


@given(st.data(), st.integers(1, 128))
def test_simhashes_of_fractional_weights_are_those_of_numpy(data: st.DataObject, bits: int) -> None:
    assert_same(settings_of(bits=bits, weights="own"), data.draw(batch(bits, floats)))


@given(st.data(), st.sampled_from(SIZES[:8]))
def test_weighted_signatures_are_those_of_numpy(data: st.DataObject, size: int) -> None:
    weights = data.draw(st.sampled_from([whole.map(abs), floats.map(abs)]))
    assert_same(settings_of("weighted", size, weights="own"), data.draw(batch(64, weights)))


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 10, 129, 130, 137, 1000, 3001])
def test_fractional_weights_of_a_repeated_feature_add_up_as_in_numpy(count: int) -> None:
    weights = np.random.default_rng(count).random(count) ** 9
    hashes = np.array([3] * count + made(5), np.uint64)
    features = FeatureBatch(hashes, np.array([0, len(hashes)]), np.append(weights, [0.1, 0.2, 0.3, 1e-9, 1e9]))
    assert_same(settings_of("weighted", weights="own"), features)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_signatures_of_every_size_are_those_of_numpy(kind: str, size: int) -> None:
    counts = [0, 1, 2, 7, 8, 40, 100, 130, 200] if size < 4096 or kind != "weighted" else [0, 3]
    hashes = np.array([hash for count in counts for hash in made(count)], np.uint64)
    assert_same(settings_of(kind, size), FeatureBatch(hashes, np.array([*accumulate(counts, initial=0)])))


def test_simhashes_of_many_features_are_those_of_numpy() -> None:
    for count in (255, 256, 257, 5000, 70_000):
        features = FeatureBatch(np.array(made(count), np.uint64), np.array([0, count]))
        assert_same(settings_of(), features)
        assert_same(settings_of(bits=128), FeatureBatch(np.stack([features.hashes] * 2, axis=1), features.offsets))


@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ("weighted", [1, -1]),
        ("weighted", [1.5, -1.0]),
        ("weighted", [1e308, 1e308]),
        ("k-hash", [1e308, 1e308]),
        ("k-hash", [1.0, float("nan")]),
        ("k-hash", [1.0, float("inf")]),
    ],
)
def test_weights_that_numpy_refuses_are_refused(kind: str, weights: list[float]) -> None:
    features = FeatureBatch(np.array([5, 5], np.uint64), np.array([0, 2]), np.array(weights))
    settings = settings_of(kind, weights="own")
    with pytest.raises(kernels.Refused):
        by_kernels(settings, features)
    with pytest.raises(WeightError):
        by_numpy(settings, features)


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "chinese-keywords"])
def test_fingerprints_are_the_golden_ones(name: str) -> None:
    scheme = Scheme.preset(name)
    for golden in GOLDEN[f"{name}, second"]["texts"].values():
        [fingerprint] = Fingerprints(*scheme.fingerprinter.fingerprints([golden["text"]]))
        simhash = None if fingerprint.simhash is None else f"{fingerprint.simhash:016x}"
        assert (fingerprint.status, simhash) == (golden["status"], golden["simhash"])
        signature = fingerprint.signature
        assert (SignatureCodec(len(signature)).to_text(signature) if len(signature) else None) == golden["minhash"]
