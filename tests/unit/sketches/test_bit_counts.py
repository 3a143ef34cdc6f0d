from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.sketches import simhash as module
from es_simhash.sketches.simhash import bit_counts


def counts_one_by_one(hashes: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
    documents = [hashes[start:end].tolist() for start, end in pairwise(offsets)]
    return [[sum(value >> bit & 1 for value in document) for bit in range(64)] for document in documents]


# Around the sizes at which groups of 15 and runs of 17 groups end.
Sizes = st.lists(st.sampled_from([0, 0, 1, 2, 14, 15, 16, 31, 254, 255, 256, 271]), max_size=6)


@given(Sizes, st.integers(0, 2**32), st.booleans())
def test_bits_are_counted_as_one_by_one(sizes: list[int], seed: int, all_ones: bool) -> None:
    offsets = np.cumsum([0, *sizes])
    hashes = np.random.default_rng(seed).integers(0, 2**64, offsets[-1], dtype=np.uint64)
    if all_ones:
        hashes[:] = 2**64 - 1
    assert bit_counts(hashes, offsets).tolist() == counts_one_by_one(hashes, offsets)


@pytest.mark.parametrize("chunk", [1, 7, 100, 10_000])
def test_counts_do_not_depend_on_how_the_batch_is_divided(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    offsets = np.cumsum([0, *rng.integers(0, 60, 40), 0])
    hashes = rng.integers(0, 2**64, offsets[-1], dtype=np.uint64)
    whole = bit_counts(hashes, offsets)
    monkeypatch.setattr(module, "_CHUNK", chunk)
    assert np.array_equal(bit_counts(hashes, offsets), whole)


def test_a_very_long_document_is_counted_exactly() -> None:
    offsets = np.array([0, 0, 300_000, 300_001])
    hashes = np.full(300_001, 2**64 - 1, dtype=np.uint64)
    assert bit_counts(hashes, offsets).tolist() == [[0] * 64, [300_000] * 64, [1] * 64]
