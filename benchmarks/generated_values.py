"""Signatures of texts that are as little alike as unrelated ones are, each made by its number alone.

Real texts share phrases, and more of them if they share a topic, so that they share keys by chance. Here a value is its
topic's own with a probability, and otherwise one of few that all documents have: two documents agree in 5% of their
values, and in 11% if they are about the same of 500 topics. So they share two keys of the default about as often as
English film reviews do (`es_simhash.sketches.shared_bands.REVIEWS`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from es_simhash.sketches.minhash.common import Signatures
from es_simhash.sketches.shared_bands import Similarities
from es_simhash.text.hashing import poly64

Numbers = npt.NDArray[np.uint64]

_TOPICS = 500
# The number of values, in 65,536, that are the topic's own: .245, so that .06 of pairs within a topic agree by it.
_OF_TOPIC = 16_056
# The number of values that all documents draw from.
_COMMON = 11
_BY_COMMON, _BY_TOPIC = (1 - _OF_TOPIC / 65_536) ** 2 / _COMMON, (_OF_TOPIC / 65_536) ** 2
UNRELATED: Similarities = ((_BY_COMMON, 1 - 1 / _TOPICS), (_BY_COMMON + _BY_TOPIC, 1 / _TOPICS))
"""How similar two documents are, and the shares of these pairs."""


def signatures(documents: Numbers, size: int) -> Signatures:
    """Return the values of documents, given by their numbers."""
    rows = np.arange(size, dtype=np.uint64)
    drawn = _mixed(documents[:, np.newaxis], rows)
    topics = _mixed(documents, np.uint64(1 << 40)) % np.uint64(_TOPICS)
    is_of_topic = (drawn & np.uint64(0xFFFF)) < _OF_TOPIC
    symbols = np.where(is_of_topic, topics[:, np.newaxis] + np.uint64(_COMMON), (drawn >> np.uint64(16)) % _COMMON)
    return _mixed(symbols, rows).astype(np.uint32)


def copies(originals: Numbers, size: int, similarity: float) -> Signatures:
    """Return values that agree with those of the originals with this probability."""
    numbers = originals + np.uint64(1 << 50)
    drawn = _mixed(numbers[:, np.newaxis], np.arange(size, dtype=np.uint64) + np.uint64(1 << 41))
    keeps = drawn.astype(np.float64) / 2.0**64 < similarity
    return np.where(keeps, signatures(originals, size), signatures(numbers, size))


def words(documents: Numbers) -> Numbers:
    """Return a random number for each document."""
    return _mixed(documents, np.uint64(1 << 42))


def _mixed(numbers: Numbers, others: Numbers | np.uint64) -> Numbers:
    with np.errstate(over="ignore"):
        return poly64.fmix64(numbers * np.uint64(0x9E3779B97F4A7C15) + others * np.uint64(0xD1342543DE82EF95))
