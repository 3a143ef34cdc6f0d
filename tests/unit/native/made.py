"""Features by the compiled kernels, and by numpy, to compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
import pytest

from es_simhash._core.environment import NATIVE
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import Settings
from es_simhash.text.features import FeatureBatch

kernels = pytest.importorskip("es_simhash_native")
__all__ = ["assert_equal", "by_kernels", "by_numpy", "kernels", "rows", "without_kernels"]

Result = TypeVar("Result")


def by_kernels(settings: Settings, texts: list[str]) -> FeatureBatch:
    return FeatureBatch(*settings.fingerprinter.features(texts))


def by_numpy(settings: Settings, texts: list[str]) -> FeatureBatch:
    return without_kernels(lambda: fingerprinting.features_of_texts(settings, texts))


def without_kernels(make: Callable[[], Result]) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NATIVE, "0")
        return make()


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
