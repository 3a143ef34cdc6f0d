"""A model of the candidates that bands meet in vain.

Two documents of Jaccard similarity j agree on a row of their signatures with the probability j, and where they do not,
the v bits of it that a key holds agree with ``2**-v``. A band of r rows agrees with ``(j + (1 - j) 2**-v)**r``.
Documents that have nothing in common, j = 0, give the result of `es_simhash.sketches.band_candidates`; real ones share
phrases, and meet more often.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from es_simhash.sketches.bands import Bands

# Similarities of pairs of documents that are not near-duplicates, each with its share of these pairs.
Similarities: TypeAlias = Sequence[tuple[float, float]]
UNLIKE: Similarities = ((0.0, 1.0),)
# The texts of the benchmarks (the table "Similarities of unrelated documents" of benchmarks/simulated.md), in short.
TYPICAL: Similarities = (
    (0.0185, 0.0248),
    (0.0261, 0.5450),
    (0.0335, 0.4080),
    (0.0421, 0.0205),
    (0.0862, 0.00059),
    (0.0957, 0.00056),
    (0.1044, 0.00053),
    (0.1164, 0.00029),
    (0.1350, 0.00003),
)


def agreeing(similarity: float, bands: Bands) -> float:
    """Return the probability that two documents have the same key in one band."""
    return (similarity + (1 - similarity) * 2.0**-bands.value_bits) ** bands.rows


def meeting(similarity: float, bands: Bands) -> float:
    """Return the probability that two documents have the same key in any band."""
    agree = agreeing(similarity, bands)
    return 1.0 if agree >= 1 else -math.expm1(bands.count * math.log1p(-agree))


def false_share(bands: Bands, similarities: Similarities) -> float:
    """Return the share of the documents that are candidates of a query but not near-duplicates."""
    return sum(share * meeting(similarity, bands) for similarity, share in similarities)
