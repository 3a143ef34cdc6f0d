"""Exact Jaccard similarities of many pairs of texts, so many at a time as memory allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash import fingerprinting, similarity
from es_simhash.arrays import Integers, offsets_from_counts, spread
from es_simhash.codes import Codes
from es_simhash.dedup.sorting import distinct
from es_simhash.dedup.spool import Strings
from es_simhash.features import FeatureBatch
from es_simhash.features import distinct as distinct_features
from es_simhash.settings import Settings
from es_simhash.verification import comparable_features

Similarities = npt.NDArray[np.float64]


# How much memory may be taken for each byte of a text that is compared, which becomes a hash in several arrays.
BYTES_A_BYTE = 512
# Of how many documents features are counted to tell which are common.
_SAMPLE = 2_000


def sample_of(documents: int) -> Integers:
    """The positions of some among so many documents, evenly spread, to tell by them which features are common."""
    return np.unique(np.linspace(0, documents - 1, _SAMPLE).astype(np.int64)) if documents else np.empty(0, np.int64)


def common_features(settings: Settings, texts: Sequence[str], share: float) -> Codes:
    """The features that more than a share of some texts have, in ascending order."""
    hashes, counts = np.unique(_distinct_features(settings, texts, None).hashes, return_counts=True)
    common: Codes = hashes[counts > share * len(texts)]
    return common


def exact_jaccards(
    settings: Settings, texts: Strings, first: Integers, second: Integers, limit: int, common: Codes | None = None
) -> Similarities:
    """The similarity of each pair that its signatures estimate: of the features, or for "weighted" of their weights.

    Features that are ``common`` do not count; two texts that have no others are not similar. The texts that are in
    memory at once have about ``limit`` bytes, or are those of a single pair.
    """
    is_weighted = settings.minhash and settings.minhash.is_weighted
    compare = partial(_weighted_jaccards if is_weighted else _jaccards, common=common)
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


def _weighted_jaccards(settings: Settings, texts: list[str], pairs: Integers, common: Codes | None) -> Similarities:
    features = list(comparable_features(settings, texts))
    if common is not None:
        features = [_without(common, each) for each in features]
    return np.array([similarity.weighted_jaccard(features[a], features[b]) for a, b in pairs.T.tolist()])


def _without(common: Codes, features: Any) -> Any:
    """The hashes of features, or these and their weights, without those that are common."""
    if isinstance(features, tuple):
        hashes, weights = features
        stays = ~np.isin(hashes, common)
        return hashes[stays], weights[stays]
    return features[~np.isin(features, common)]


def _jaccards(settings: Settings, texts: list[str], pairs: Integers, common: Codes | None) -> Similarities:
    """|A ∩ B| / |A ∪ B| with |A ∩ B| = |A| + |B| - |A ∪ B|; the union has the distinct ones of both sides' features."""
    features = _distinct_features(settings, texts, common)
    sides = pairs.T.reshape(-1)
    counts = np.diff(features.offsets)[sides]
    which, place = spread(counts)
    together = features.hashes[features.offsets[sides][which] + place]
    totals = counts.reshape(-1, 2).sum(axis=1)
    unions = np.diff(distinct_features(FeatureBatch(together, offsets_from_counts(totals))).offsets)
    similarities: Similarities = (totals - unions) / np.maximum(unions, 1)
    return similarities


def _distinct_features(settings: Settings, texts: Sequence[str], common: Codes | None) -> FeatureBatch:
    """The features of all texts, each once, without those that are common."""
    batches = [
        distinct_features(FeatureBatch(batch.first_words, batch.offsets))
        for batch in fingerprinting.in_batches(texts, lambda some: fingerprinting.features_of_texts(settings, some))
    ]
    if common is not None:
        batches = [_rare(batch, common) for batch in batches]
    counts = np.concatenate([np.diff(batch.offsets) for batch in batches])
    return FeatureBatch(np.concatenate([batch.hashes for batch in batches]), offsets_from_counts(counts))


def _rare(batch: FeatureBatch, common: Codes) -> FeatureBatch:
    stays = ~np.isin(batch.hashes, common)
    ends = np.concatenate([[0], np.cumsum(stays)])
    return FeatureBatch(batch.hashes[stays], ends[batch.offsets])
