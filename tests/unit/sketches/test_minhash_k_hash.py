"""Classic MinHash of k hash functions."""

from __future__ import annotations

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import HashError, SchemeError
from es_simhash.sketches.minhash import k_hash
from es_simhash.sketches.minhash.k_hash import signatures
from es_simhash.text.features import FeatureBatch
from tests.support.minhashes import GOLDEN, assert_mean, batch, documents, fmix64, hexes, pairs, shuffled

EMPTY = 0xFFFFFFFF


def by_definition(hashes: list[int], size: int) -> list[int]:
    multipliers = [fmix64(i + 1) % 2**32 | 1 for i in range(size)]
    return [min((a * (h % 2**32 | 1) % 2**32 >> 1 for h in hashes), default=EMPTY) for a in multipliers]


@given(documents, st.integers(1, 20))
def test_every_value_is_as_defined(texts: list[list[int]], size: int) -> None:
    assert signatures(batch(texts), size).tolist() == [by_definition(text, size) for text in texts]


@given(st.integers(0, 2**32 - 1), st.integers(0, 200))
def test_the_functions_are_linear(x: int, i: int) -> None:
    a = fmix64(i + 1) % 2**32 | 1
    assert by_definition([x], i + 1)[i] == (a * (x >> 1) + (a - 1) // 2) % 2**31


def test_values_never_change() -> None:
    assert hexes(signatures(batch(GOLDEN), 6)) == [
        "ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff",
        "15c8f436 7fa119d3 24eba947 5c50ebda 0fffaa5a 2fccc819",
        "002d7976 1e300193 110f6cb2 14659143 388f3277 0cb6aa24",
        "04ea8e81 04ad487b 0167413b 0031be7a 06c96e9d 0e98d20b",
    ]


@pytest.mark.parametrize("run", [1, 50, 10**6])
def test_neither_order_nor_neighbours_matter(run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    texts = [rng.integers(0, 2**64, length, dtype=np.uint64).tolist() for length in (0, 3, 90, 0, 12, 400, 1, 0)]
    alone = [signatures(batch([text]), 32)[0].tolist() for text in texts]
    monkeypatch.setattr(k_hash, "_RUN", run)
    mixed, order = shuffled(batch(texts), seed=3)
    assert signatures(mixed, 32).tolist() == [alone[i] for i in order]


def test_documents_without_features_have_the_empty_row() -> None:
    assert (signatures(batch([[], [5], []]), 4) == EMPTY).all(axis=1).tolist() == [True, False, True]
    assert (signatures(batch([[], []]), 4) == EMPTY).all()
    assert signatures(batch([]), 4).shape == (0, 4)


@pytest.mark.parametrize(
    ("shared", "only_a", "only_b"),
    [(1, 1, 0), (2, 1, 1), (5, 3, 2), (30, 10, 10), (60, 100, 140), (450, 20, 30)],
)
def test_the_share_of_equal_positions_estimates_the_jaccard_similarity(shared: int, only_a: int, only_b: int) -> None:
    """Without bias, and with the variance of independent positions."""
    union, size = shared + only_a + only_b, 64
    jaccard = shared / union
    a, b = pairs(union, 300_000 // (union + 100), shared, only_a, only_b)
    share = (signatures(a, size) == signatures(b, size)).mean(axis=1)
    assert_mean(share, jaccard)
    assert 0.8 <= share.var() / (jaccard * (1 - jaccard) / size) <= 1.2


@pytest.mark.parametrize(("shared", "only_a", "only_b"), [(3, 1, 0), (30, 10, 10), (300, 50, 50)])
def test_the_positions_of_a_band_agree_independently(shared: int, only_a: int, only_b: int) -> None:
    """All rows of a band agree with the probability j**r that `es_simhash.sketches.keys` counts on."""
    union = shared + only_a + only_b
    a, b = pairs(union, 300_000 // (union + 100), shared, only_a, only_b)
    equal = signatures(a, 64) == signatures(b, 64)
    assert_mean(equal.reshape(len(a), 16, 4).all(axis=2).mean(axis=1), (shared / union) ** 4)


def test_datasketch_finds_the_same_similarities() -> None:
    count, size = 150, 128
    a, b = pairs(1, count, 60, 30, 30)
    ours = (signatures(a, size) == signatures(b, size)).mean(axis=1)
    theirs = []
    for i in range(count):
        sketches = [MinHash(num_perm=size, hashfunc=int) for _ in range(2)]
        for sketch, features in zip(sketches, (a, b), strict=True):
            words = features.hashes[features.offsets[i] : features.offsets[i + 1]]
            sketch.update_batch((words & np.uint64(0xFFFFFFFF)).tolist())
        theirs.append(sketches[0].jaccard(sketches[1]))
    assert_mean(ours - np.array(theirs), 0)


@pytest.mark.parametrize("size", [0, 4097])
def test_impossible_sizes_are_refused(size: int) -> None:
    with pytest.raises(SchemeError, match="Choose a whole number from 1 to 4096"):
        signatures(batch([[1]]), size)


def test_hashes_of_two_words_are_refused() -> None:
    with pytest.raises(HashError, match="Hash the features to 64 bits"):
        signatures(FeatureBatch(np.zeros((3, 2), np.uint64), np.array([0, 3])), 8)
