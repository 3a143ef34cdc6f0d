"""Features by the compiled kernels, and by numpy, to compare them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import Settings
from es_simhash.text.features import FeatureBatch
from es_simhash.text.tokens.kinds import Chars, Chinese, Words

kernels = pytest.importorskip("es_simhash_native")


def fingerprinter(settings: Settings) -> Any:
    steps, minhash, idf = settings.normalisation, settings.minhash, settings.idf
    return kernels.Fingerprinter(
        normalisation=(steps.nfkc, steps.casefold, steps.whitespace),
        tokens=tokens(settings),
        hash=settings.hash_function.name,
        hash_bits=settings.hash_bits,
        weights=settings.weights,
        idf=(idf.hashes, idf.weights, idf.unseen) if idf else None,
        simhash_bits=settings.simhash.bits if settings.simhash else 0,
        minhash=(minhash.kind, minhash.size) if minhash else None,
        floor=settings.floor,
    )


def tokens(settings: Settings) -> tuple[Any, ...]:
    given = settings.tokens
    if isinstance(given, Chars):
        return ("chars", given.n)
    if isinstance(given, Words | Chinese):
        return ("words", given.n, sorted(given.stop_words))
    return ("given",)


def by_kernels(settings: Settings, texts: list[str]) -> FeatureBatch:
    return FeatureBatch(*fingerprinter(settings).features(texts))


def by_numpy(settings: Settings, texts: list[str]) -> FeatureBatch:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ES_SIMHASH_NATIVE", "0")
        return fingerprinting.features_of_texts(settings, texts)


def rows(batch: FeatureBatch) -> list[list[tuple[Any, ...]]]:
    """Return the features of each document in order: the words of their hashes, and their weights."""
    weights = np.ones(len(batch.hashes), np.int64) if batch.weights is None else batch.weights
    columns: Iterable[Any] = [*np.atleast_2d(batch.hashes.T), weights]
    listed = list(zip(*(column.tolist() for column in columns), strict=True))
    return [sorted(listed[start:end]) for start, end in zip(batch.offsets, batch.offsets[1:], strict=False)]


def assert_equal(found: FeatureBatch, expected: FeatureBatch) -> None:
    assert rows(found) == rows(expected)
    assert found.hashes.shape == expected.hashes.shape
    assert (found.weights is None) == (expected.weights is None)
    if found.weights is not None and expected.weights is not None:
        assert found.weights.dtype == expected.weights.dtype
