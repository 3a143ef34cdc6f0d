"""The compiled kernels give what numpy gives, bit for bit; they are only used where they are wanted and worthwhile."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash._core import native
from es_simhash.scheme.scheme import Scheme
from es_simhash.sketches.bit_counts import bit_counts
from es_simhash.sketches.minhash import one_permutation
from es_simhash.text.features import FeatureBatch, distinct
from es_simhash.text.hashing import poly64
from es_simhash.text.normalise import Normalisation
from es_simhash.text.normalise_batch import normalise_batch
from es_simhash.text.tokens.chars import char_features
from es_simhash.text.tokens.kinds import Words
from es_simhash.text.tokens.words import word_spans
from es_simhash.text.units import batch
from tests.support.texts import batches

pytest.importorskip("numba")
native_kernels = importlib.import_module("es_simhash.sketches.native_kernels")

Result = TypeVar("Result")
EVERYTHING, NOTHING = 0, 1 << 62


@contextmanager
def worthwhile_from(elements: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ES_SIMHASH_NATIVE", "1")
        patch.setattr(native, "_WORTHWHILE", elements)
        yield


def both(make: Callable[[], Result]) -> tuple[Result, Result]:
    """What is made by numpy, and by the compiled kernels."""
    with worthwhile_from(NOTHING):
        by_numpy = make()
    with worthwhile_from(EVERYTHING):
        return by_numpy, make()


@st.composite
def feature_batches(draw: st.DrawFn) -> FeatureBatch:
    sizes = draw(st.lists(st.sampled_from([0, 0, 1, 2, 7, 8, 9, 16, 100, 254, 255, 256, 600]), max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    hashes = rng.integers(0, 2**64, sum(sizes), dtype=np.uint64)
    few = rng.integers(0, 2**64, 5, dtype=np.uint64)[rng.integers(0, 5, len(hashes))]
    repeated = np.where(rng.random(len(hashes)) < draw(st.sampled_from([0, 0.5, 1])), few, hashes)
    return FeatureBatch(repeated, np.cumsum([0, *sizes]))


@given(feature_batches())
def test_bits_are_counted_alike(features: FeatureBatch) -> None:
    by_numpy, by_numba = both(lambda: bit_counts(features.hashes, features.offsets))
    assert np.array_equal(by_numpy, by_numba)


@given(feature_batches())
def test_the_same_features_are_distinct(features: FeatureBatch) -> None:
    by_numpy, by_numba = both(lambda: distinct(features))
    assert np.array_equal(by_numpy.offsets, by_numba.offsets)
    spans = list(pairwise(by_numpy.offsets))
    assert all(np.array_equal(np.sort(by_numba.hashes[a:b]), by_numpy.hashes[a:b]) for a, b in spans)


@given(feature_batches(), st.sampled_from([1, 3, 16, 128]))
def test_signatures_are_alike(features: FeatureBatch, size: int) -> None:
    by_numpy, by_numba = both(lambda: one_permutation.signatures(features, size))
    assert np.array_equal(by_numpy, by_numba)


@given(batches(), st.integers(1, 13))
def test_n_grams_are_hashed_alike(texts: list[str], n: int) -> None:
    by_numpy, by_numba = both(lambda: char_features(batch(texts), n, 64))
    assert np.array_equal(by_numpy.hashes, by_numba.hashes)
    assert np.array_equal(by_numpy.offsets, by_numba.offsets)


Normalisations = st.builds(Normalisation, st.booleans(), st.booleans(), st.booleans())


@given(batches(), Normalisations)
def test_texts_are_normalised_alike(texts: list[str], normalisation: Normalisation) -> None:
    by_numpy, by_numba = both(lambda: normalise_batch(texts, normalisation).texts())
    assert by_numpy == by_numba


@pytest.mark.parametrize("step", [{}, {"casefold": False}, {"whitespace": False}])
def test_ascii_is_normalised_alike(step: dict[str, bool]) -> None:
    text = "".join(map(chr, range(128)))
    by_numpy, by_numba = both(lambda: normalise_batch([text], Normalisation(**step)).texts())
    assert by_numpy == by_numba


@given(batches())
def test_words_are_cut_and_hashed_alike(texts: list[str]) -> None:
    spans, cut_by_numba = both(lambda: word_spans(batch(texts)))
    assert spans.lists() == cut_by_numba.lists()
    by_numpy, by_numba = both(lambda: poly64.hash_spans(spans.units, spans.starts, spans.ends))
    assert np.array_equal(by_numpy, by_numba)


@given(batches(), st.sampled_from([Scheme(), Scheme(tokens=Words(2), weights="tf")]))
@settings(max_examples=30)
def test_whole_fingerprints_are_alike(texts: list[str], scheme: Scheme) -> None:
    by_numpy, by_numba = both(lambda: list(scheme.fingerprints(texts)))
    assert by_numpy == by_numba


def test_hashes_that_differ_in_few_bits_are_distinguished_alike() -> None:
    features = FeatureBatch(np.arange(50_000, dtype=np.uint64) % 30_000, np.array([0, 20_000, 50_000]))
    by_numpy, by_numba = both(lambda: distinct(features))
    assert by_numpy.offsets.tolist() == by_numba.offsets.tolist() == [0, 20_000, 50_000]


def test_a_read_only_installation_compiles_in_memory() -> None:
    def loop(x: int) -> int:
        return x + 1

    compiler = native_kernels.njit

    def without_cache(**options: bool) -> Any:
        return _refuse if options.get("cache") else compiler(**options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native_kernels, "njit", without_cache)
        assert native_kernels._compile(loop)(1) == 2


def _refuse(_: object) -> None:
    raise RuntimeError("cannot cache function: no locator available")


@pytest.fixture
def reset(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("ES_SIMHASH_NATIVE", raising=False)
    native.forget()
    yield
    native.forget()


@pytest.mark.usefixtures("reset")
class TestStarting:
    """When numba is started, and which texts profit."""

    def test_single_texts_never_start_numba(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(native, "_PAYS", 10_000)
        assert not any(native.compiled(2_000) for _ in range(100))

    def test_enough_batches_start_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(native, "_PAYS", 100_000)
        assert [native.compiled(40_000) is not None for _ in range(4)] == [False, False, False, True]

    def test_single_texts_profit_once_it_is_started(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(native, "_PAYS", 10_000)
        native.compiled(10_000)
        assert native.compiled(2_000) is not None
        assert native.compiled(100) is None

    def test_it_can_be_wanted_from_the_first_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ES_SIMHASH_NATIVE", "1")
        assert native.compiled(2_000) is not None

    def test_it_can_be_declined(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ES_SIMHASH_NATIVE", "0")
        monkeypatch.setattr(native, "_PAYS", 10_000)
        assert [native.compiled(20_000) for _ in range(3)] == [None] * 3
