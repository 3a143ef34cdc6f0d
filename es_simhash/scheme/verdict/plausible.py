"""Which candidates are compared by their texts: those whose signatures do not rule out that these are similar.

By the scheme's features, the weights of features seldom change a Jaccard similarity by more than `_BY_WEIGHTS`. But the
balanced measure, and similarities by runs of characters, which are shorter than most tokens, may be far higher than
what signatures estimate. Texts are then compared from the estimate on at which keys find one pair in twenty, .22 where
two of 36 bands of 3 are shared. What is similar all the same is hardly ever found anyway: on 24 labelled sets, no pair
was lost. Most of the texts that need not be read are those of candidates by chance.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache

import numpy as np
import numpy.typing as npt

from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import MinHash
from es_simhash.scheme.verdict.measures import Similarities
from es_simhash.sketches.minhash.common import Signatures
from es_simhash.sketches.minhash.estimate import estimates, standard_error
from es_simhash.sketches.tradeoffs import sharing

# Standard errors beyond which an estimate leaves no doubt, and how much the weights of features seldom change.
_DOUBT, _BY_WEIGHTS = 3.0, 0.15
# The probability with which keys find pairs that are not looked for.
_SELDOM = 0.05


def are_plausible(minhash: MinHash, criteria: Criteria, first: Signatures, second: Signatures) -> npt.NDArray[np.bool_]:
    """Return which pairs of signatures, cut to the values that band keys hold, are of texts that are compared."""
    return are_similar(minhash, criteria, estimates(first, second, minhash.layout.value_bits))


def are_similar(minhash: MinHash, criteria: Criteria, estimated: Similarities) -> npt.NDArray[np.bool_]:
    """Return which similarities, as estimated by the values that band keys hold, are those of texts to compare."""
    plausible: npt.NDArray[np.bool_] = estimated >= lowest_estimate(criteria, minhash, minhash.layout.value_bits)
    return plausible


def lowest_estimate(criteria: Criteria, minhash: MinHash, value_bits: int) -> float:
    """Return the lowest Jaccard similarity of texts that are compared, as estimated by the values that keys hold."""
    verification = criteria.verification
    if verification is None:
        return -1.0
    if verification.measure == "jaccard" and verification.features == "scheme":
        doubt = _DOUBT * standard_error(criteria.least, minhash.layout.size, value_bits)
        return criteria.least - _BY_WEIGHTS - doubt
    return min(criteria.least / 2, _seldom_found(minhash))


@cache
def _seldom_found(minhash: MinHash) -> float:
    """Return the similarity that keys seldom find, in hundredths."""
    return bisect_left(range(100), _SELDOM, key=lambda hundredths: _found(minhash, hundredths / 100)) / 100


def _found(minhash: MinHash, similarity: float) -> float:
    return sharing(similarity, minhash.layout, minhash.shared)
