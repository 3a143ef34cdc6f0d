"""One-permutation MinHash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import HashError, SchemeError
from es_simhash.sketches.minhash import one_permutation
from es_simhash.sketches.minhash.one_permutation import signatures
from es_simhash.text.features import FeatureBatch
from tests.support.minhashes import GOLDEN, assert_mean, batch, documents, fmix64, hexes, pairs, shuffled, table

EMPTY = 0xFFFFFFFF


def by_definition(hashes: list[int], size: int) -> list[int]:
    bins = [EMPTY] * size
    for h in hashes:
        place = (h >> 32) * size >> 32
        bins[place] = min(bins[place], h % 2**32)
    filled = [s for s in range(size) if bins[s] != EMPTY]
    if not filled:
        return bins
    return [
        bins[i] if bins[i] != EMPTY else bins[min(filled, key=lambda s: fmix64(i * 2**32 + s))] for i in range(size)
    ]


@given(documents, st.integers(1, 40))
def test_every_value_is_as_defined(texts: list[list[int]], size: int) -> None:
    assert signatures(batch(texts), size).tolist() == [by_definition(text, size) for text in texts]


@pytest.mark.parametrize("size", [1, 2, 128, 200, 512])
@pytest.mark.parametrize("length", [1, 3, 20, 100, 700])
def test_documents_of_all_lengths_fill_all_bins_as_defined(length: int, size: int) -> None:
    hashes = np.random.default_rng(length).integers(0, 2**64, (2, length), dtype=np.uint64)
    assert signatures(table(hashes), size).tolist() == [by_definition(row, size) for row in hashes.tolist()]


def test_values_never_change() -> None:
    assert hexes(signatures(batch(GOLDEN), 6)) == [
        "ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff",
        "4878da41 4878da41 4878da41 4878da41 4878da41 4878da41",
        "7f1df052 28c29ec1 28c29ec1 28c29ec1 28c29ec1 28c29ec1",
        "0069b39b 20550aef 29954281 062146b9 2757a86c 643e5851",
    ]


def test_values_of_a_size_that_is_a_power_of_two_never_change() -> None:
    assert hexes(signatures(batch(GOLDEN[2:]), 8)) == [
        "7f1df052 28c29ec1 51230f8a 51230f8a 28c29ec1 28c29ec1 7f1df052 28c29ec1",
        "0069b39b 20550aef 2f577207 29954281 062146b9 152e9239 93efe2ce 643e5851",
    ]


@pytest.mark.parametrize("run", [1, 50, 10**6])
@pytest.mark.parametrize("sparse", [0, 3, 10**6])
def test_neither_order_nor_neighbours_nor_the_way_of_filling_matter(
    run: int, sparse: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    texts = [rng.integers(0, 2**64, length, dtype=np.uint64).tolist() for length in (0, 3, 90, 0, 12, 400, 1, 0)]
    alone = [signatures(batch([text]), 32)[0].tolist() for text in texts]
    monkeypatch.setattr(one_permutation, "_RUN", run)
    monkeypatch.setattr(one_permutation, "_SPARSE", sparse)
    mixed, order = shuffled(batch(texts), seed=3)
    assert signatures(mixed, 32).tolist() == [alone[i] for i in order]


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_repeated_features_do_not_matter(text: list[int]) -> None:
    once, thrice = signatures(batch([text, text * 3]), 16)
    assert (once == thrice).all()


def test_documents_without_features_have_the_empty_row() -> None:
    assert (signatures(batch([[], [5], []]), 4) == EMPTY).all(axis=1).tolist() == [True, False, True]
    assert signatures(batch([]), 4).shape == (0, 4)


def agreement(size: int, union: int, jaccard: float, jaccard_less_one: float) -> float:
    """The mean square of the share of equal positions (Shrivastava 2017, theorem 3), by simulated occupancies."""
    bins = np.random.default_rng(0).integers(0, size, (20_000, union))
    bins.sort(axis=1)
    filled = 1 + np.count_nonzero(np.diff(bins, axis=1), axis=1)
    empty = size - filled
    same = size + 2 * empty + empty * (empty - 1) / filled
    return float(np.mean(same * jaccard + (size**2 - same) * jaccard * jaccard_less_one)) / size**2


@pytest.mark.parametrize(
    ("shared", "only_a", "only_b"),
    [(1, 1, 0), (2, 1, 1), (5, 3, 2), (30, 10, 10), (60, 100, 140), (200, 20, 30), (900, 50, 50)],
)
def test_the_share_of_equal_positions_estimates_the_jaccard_similarity(shared: int, only_a: int, only_b: int) -> None:
    """Without bias, and with the variance that theory has for it, for documents of any length."""
    union, size = shared + only_a + only_b, 64
    jaccard = shared / union
    a, b = pairs(union, 400_000 // (union + 100), shared, only_a, only_b)
    share = (signatures(a, size) == signatures(b, size)).mean(axis=1)
    assert_mean(share, jaccard)
    expected = agreement(size, union, jaccard, (shared - 1) / (union - 1)) - jaccard**2
    assert 0.8 <= share.var() / expected <= 1.2


def test_every_position_is_as_likely_to_agree() -> None:
    a, b = pairs(5, 4000, 6, 3, 3)
    agree = (signatures(a, 64) == signatures(b, 64)).mean(axis=0)
    assert abs(agree - 0.5).max() <= 5 * (0.25 / 4000) ** 0.5


@pytest.mark.parametrize("size", [0, -1, 4097, 1.5, True])
def test_impossible_sizes_are_refused(size: int) -> None:
    with pytest.raises(SchemeError, match="Choose a whole number from 1 to 4096"):
        signatures(batch([[1]]), size)


@pytest.mark.parametrize("hashes", [np.zeros((3, 2), np.uint64), np.zeros(3, np.int64), np.zeros(3, np.uint32)])
def test_hashes_that_are_not_words_of_64_bits_are_refused(hashes: Any) -> None:
    with pytest.raises(HashError, match="Hash the features to 64 bits"):
        signatures(FeatureBatch(hashes, np.array([0, 3])), 8)
