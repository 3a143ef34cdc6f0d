"""Estimates of the similarity, and their errors."""

from __future__ import annotations

import numpy as np
import pytest

from es_simhash.errors import FormatError, SchemeError
from es_simhash.sketches.minhash import k_hash, one_permutation
from es_simhash.sketches.minhash.common import estimate, estimates, standard_error
from tests.support.minhashes import Kernel, assert_mean, pairs

EMPTY = np.full(64, 0xFFFFFFFF, dtype=np.uint32)
SOME = np.arange(64, dtype=np.uint32)


def test_the_estimate_is_the_share_of_equal_positions() -> None:
    assert estimate(SOME, SOME) == 1.0
    assert estimate(SOME, SOME + np.uint32(1)) == 0.0
    assert estimate(SOME, np.where(SOME < 16, SOME, SOME + np.uint32(100))) == 0.25


def test_one_signature_meets_many() -> None:
    many = np.stack([SOME, SOME[::-1], SOME // np.uint32(2)])
    assert estimates(SOME, many).tolist() == [estimate(SOME, other) for other in many]
    assert estimates(many[:, np.newaxis], many).shape == (3, 3)


@pytest.mark.parametrize("value_bits", [1, 8, 32])
def test_documents_without_features_are_like_each_other_only(value_bits: int) -> None:
    assert estimate(EMPTY, EMPTY, value_bits) == 1.0
    assert estimate(EMPTY, SOME, value_bits) == 0.0
    assert estimate(SOME | np.uint32(0xFFFF0000), EMPTY, value_bits) == 0.0


@pytest.mark.parametrize("value_bits", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("kernel", [k_hash.signatures, one_permutation.signatures])
@pytest.mark.parametrize(("shared", "only_a", "only_b"), [(40, 30, 10), (90, 5, 5)])
def test_the_estimate_of_few_bits_is_corrected_for_chance(
    shared: int, only_a: int, only_b: int, kernel: Kernel, value_bits: int
) -> None:
    """Without bias, and with the standard error that is foretold."""
    size, jaccard = 32, shared / (shared + only_a + only_b)
    a, b = pairs(shared, 1500, shared, only_a, only_b)
    found = estimates(kernel(a, size), kernel(b, size), value_bits)
    assert_mean(found, jaccard)
    assert 0.8 <= found.std() / standard_error(jaccard, size, value_bits) <= 1.2


def test_cut_signatures_and_whole_ones_are_comparable() -> None:
    whole = np.array([0x12345678, 0x9ABCDEF0, 0x0F0F0F0F], dtype=np.uint32)
    assert estimate(whole & np.uint32(0xFF), whole, value_bits=8) == 1.0


def test_an_estimate_is_never_negative() -> None:
    assert estimate(SOME * np.uint32(2), SOME * np.uint32(2) + np.uint32(1), value_bits=1) == 0.0


def test_the_standard_error_is_that_of_a_binomial_share() -> None:
    assert standard_error(0.5, 100) == pytest.approx(0.05)
    assert standard_error(1.0, 100) == 0.0
    assert standard_error(0.5, 100, value_bits=1) == pytest.approx((0.75 * 0.25 / 100) ** 0.5 * 2)


def test_signatures_of_different_sizes_are_refused() -> None:
    for other in (SOME[:1], SOME[:63]):
        with pytest.raises(FormatError, match="cannot be compared"):
            estimate(SOME, other)


@pytest.mark.parametrize("value_bits", [0, 33, 1.5, True])
def test_impossible_bits_are_refused(value_bits: int) -> None:
    with pytest.raises(SchemeError, match="Choose a whole number from 1 to 32"):
        estimate(SOME, SOME, value_bits)
