"""Exact Jaccard similarities of many pairs of texts, so many at a time as memory allows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from es_simhash import fingerprinting, similarity
from es_simhash.arrays import Integers, offsets_from_counts, spread
from es_simhash.dedup.sorting import distinct
from es_simhash.dedup.spool import Strings
from es_simhash.features import FeatureBatch
from es_simhash.features import distinct as distinct_features
from es_simhash.settings import Settings
from es_simhash.verification import comparable_features

Similarities = npt.NDArray[np.float64]


def exact_jaccards(settings: Settings, texts: Strings, first: Integers, second: Integers, limit: int) -> Similarities:
    """The similarity of each pair that its signatures estimate: of the features, or for "weighted" of their weights.

    The texts that are in memory at once have about ``limit`` bytes, or are those of a single pair.
    """
    compare = _weighted_jaccards if settings.minhash and settings.minhash.is_weighted else _jaccards
    found = np.empty(len(first), dtype=np.float64)
    for pairs in _in_parts(texts, first, second, limit):
        both = np.stack([first[pairs], second[pairs]])
        rows = distinct(np.sort(both, axis=None))
        found[pairs] = compare(settings, list(texts.take(rows)), np.searchsorted(rows, both))
    return found


def _in_parts(texts: Strings, first: Integers, second: Integers, limit: int) -> Iterator[slice]:
    """The pairs, cut where their texts exceed the limit."""
    both = np.stack([first, second])
    rows = distinct(np.sort(both, axis=None))
    ends = np.cumsum(texts.sizes(rows)[np.searchsorted(rows, both)].sum(axis=0))
    start = 0
    while start < len(first):
        read = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, read + limit, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def _weighted_jaccards(settings: Settings, texts: list[str], pairs: Integers) -> Similarities:
    features = list(comparable_features(settings, texts))
    return np.array([similarity.weighted_jaccard(features[a], features[b]) for a, b in pairs.T.tolist()])


def _jaccards(settings: Settings, texts: list[str], pairs: Integers) -> Similarities:
    """|A ∩ B| / |A ∪ B| with |A ∩ B| = |A| + |B| - |A ∪ B|; the union has the distinct ones of both sides' features."""
    features = _distinct_features(settings, texts)
    sides = pairs.T.reshape(-1)
    counts = np.diff(features.offsets)[sides]
    which, place = spread(counts)
    together = features.hashes[features.offsets[sides][which] + place]
    totals = counts.reshape(-1, 2).sum(axis=1)
    unions = np.diff(distinct_features(FeatureBatch(together, offsets_from_counts(totals))).offsets)
    similarities: Similarities = (totals - unions) / unions
    return similarities


def _distinct_features(settings: Settings, texts: list[str]) -> FeatureBatch:
    """The features of all texts, each once."""
    batches = [
        distinct_features(FeatureBatch(batch.first_words, batch.offsets))
        for batch in fingerprinting.in_batches(texts, lambda some: fingerprinting.features_of_texts(settings, some))
    ]
    counts = np.concatenate([np.diff(batch.offsets) for batch in batches])
    return FeatureBatch(np.concatenate([batch.hashes for batch in batches]), offsets_from_counts(counts))
