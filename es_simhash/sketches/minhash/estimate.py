"""Similarities estimated from signatures, and their standard errors.

Positions agree with a probability of the similarity J, so the share of equal positions estimates J. If only the lowest
b bits of each value are compared, unequal values look equal with a probability of C = 2**-b, and a share p of equal
positions gives the estimate (p - C) / (1 - C) (Li, König, "b-bit minwise hashing", WWW 2010, for a large universe).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from es_simhash.errors import FormatError
from es_simhash.sketches.minhash.common import EMPTY, VALUE_BITS, check_size, check_value_bits

if TYPE_CHECKING:
    import numpy.typing as npt

    from es_simhash.sketches.minhash.common import Signatures


def estimate(a: Signatures, b: Signatures, value_bits: int = VALUE_BITS) -> float:
    """Estimate the similarity of two documents by their signatures (see `estimates`)."""
    return float(estimates(a, b, value_bits))


def estimates(a: Signatures, b: Signatures, value_bits: int = VALUE_BITS) -> npt.NDArray[np.float64]:
    """Estimate the similarities of signatures; shapes broadcast, so one signature may meet many.

    Only the lowest ``value_bits`` bits of both sides count, so whole signatures can be compared with stored ones that
    were cut. There is no bias, except that an estimate below 0 becomes 0. A document without features has the
    similarity 1 to another such document and 0 to any other; if values are cut, it cannot be distinguished from others,
    and must be left out by its status.
    """
    check_value_bits(value_bits)
    if a.shape[-1:] != b.shape[-1:]:
        raise FormatError(
            f"Signatures of {a.shape[-1:]} and {b.shape[-1:]} values cannot be compared. "
            "Give signatures of the same kind and size."
        )
    mask = np.uint32((1 << value_bits) - 1)
    agreeing = np.add.reduce((a ^ b) & mask == 0, axis=-1, dtype=np.float64)
    similarities = similarities_of_shares(agreeing / a.shape[-1], value_bits)
    if value_bits < VALUE_BITS:
        return similarities
    return np.where((a == EMPTY).all(axis=-1) != (b == EMPTY).all(axis=-1), 0.0, similarities)


def similarities_of_shares(shares: npt.NDArray[np.float64], value_bits: int) -> npt.NDArray[np.float64]:
    """Estimate similarities from the shares of positions whose values agree in the lowest ``value_bits`` bits."""
    chance = _chance(value_bits)
    return np.maximum((shares - chance) / (1 - chance), 0.0)


def standard_error(similarity: float, size: int, value_bits: int = VALUE_BITS) -> float:
    """Return the standard deviation of an estimate of ``similarity`` by signatures of ``size`` values."""
    chance = _chance(value_bits)
    agreement = chance + (1 - chance) * similarity
    return math.sqrt(agreement * (1 - agreement) / check_size(size)) / (1 - chance)


def standard_errors(
    similarities: npt.NDArray[np.float64], size: int, value_bits: int = VALUE_BITS
) -> npt.NDArray[np.float64]:
    """Return the standard deviations of estimates of ``similarities`` by signatures of ``size`` values.

    This is for independent positions. Those of `es_simhash.sketches.minhash.one_permutation` do a little better on
    documents of more features than ``size``, and up to 1.4 times worse on shorter ones.
    """
    chance = _chance(value_bits)
    agreement = chance + (1 - chance) * similarities
    return np.asarray(np.sqrt(agreement * (1 - agreement) / check_size(size)) / (1 - chance))


def _chance(value_bits: int) -> float:
    """Return the probability that unequal values agree; whole ones do not."""
    return 0.0 if check_value_bits(value_bits) == VALUE_BITS else 2.0**-value_bits
