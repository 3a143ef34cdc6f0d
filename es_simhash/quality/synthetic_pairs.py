"""Synthetic pairs of a given similarity, for samples that have too few: features of texts, some of them replaced.

The copy of a text with m features keeps c and gets m - c new ones, so the Jaccard similarity is c / (2 m - c), as
little above the wanted one as whole numbers allow. Fingerprints depend on nothing but features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from es_simhash._core.arrays import offsets_from_counts
from es_simhash._core.bit_codes import Codes
from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.quality.ceiling import plain_features
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.measures import Similarities
from es_simhash.text.features import FeatureBatch


@dataclass(frozen=True, eq=False)
class SyntheticPairs:
    """The features of texts and then of their copies, the pairs as numbers, and their similarities."""

    features: FeatureBatch
    pairs: Numbers
    jaccards: Similarities


def synthetic_pairs(settings: Settings, texts: Sequence[str], similarity: float, seed: int = 0) -> SyntheticPairs:
    """Copy the features of texts; texts without features have no copy."""
    features = plain_features(settings, texts)
    ends = features.offsets.tolist()
    sizes = np.diff(features.offsets)
    kept = np.ceil(2 * similarity * sizes / (1 + similarity) - 1e-9).astype(np.int64)
    random = np.random.default_rng(seed)
    copies = [
        _copy(random, features.hashes[start:end], count)
        for start, end, count in zip(ends[:-1], ends[1:], kept.tolist(), strict=True)
    ]
    both = FeatureBatch(np.concatenate([features.hashes, *copies]), offsets_from_counts(np.tile(sizes, 2)))
    rows = np.flatnonzero(sizes)
    return SyntheticPairs(both, pair_codes(rows, rows + len(texts)), kept[rows] / (2 * sizes[rows] - kept[rows]))


def _copy(random: np.random.Generator, own: Codes, kept: int) -> Codes:
    chosen: Codes = random.permutation(own)
    chosen[kept:] = random.integers(0, 2**64 - 1, len(own) - kept, dtype=np.uint64, endpoint=True)
    return chosen
