"""Pairs of texts that share features, by several measures at once, where the rarer features weigh the more.

It gives what `es_simhash.verification` gives, for pairs by the million: the features of one text are marked, and those
of all texts that it is paired with are looked up there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from es_simhash.arrays import Integers, offsets_from_counts, spread
from es_simhash.dedup.candidates import positions
from es_simhash.dedup.exact import sample_of
from es_simhash.dedup.sorting import Numbers
from es_simhash.features import FeatureBatch
from es_simhash.quality.ceiling import plain_features, similar_pairs
from es_simhash.settings import Measure, Settings
from es_simhash.verification import Similarities, rarity_of

MEASURES: tuple[Measure, ...] = ("jaccard", "overlap")

# So many features are looked up at a time.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class Measured:
    """Pairs as numbers in ascending order, from a plain Jaccard similarity of 0.2 on.

    ``jaccards`` are plain, every feature weighing the same, which is what keys find pairs by; ``similarities`` are by
    the names of measures, with the weights "rarity".
    """

    pairs: Numbers
    jaccards: Similarities
    similarities: Mapping[Measure, Similarities]


def measured(settings: Settings, texts: Sequence[str], apart: Integers) -> Measured:
    """What is similar among texts; ``apart`` tells the first of equal ones."""
    near = similar_pairs(settings, texts, apart).predicted
    similarities = _by_rarity(settings, texts, near.pairs)
    order = np.argsort(near.pairs)
    return Measured(
        near.pairs[order], near.similarities[order], {name: each[order] for name, each in similarities.items()}
    )


def _by_rarity(settings: Settings, texts: Sequence[str], pairs: Numbers) -> dict[Measure, Similarities]:
    if not len(pairs):
        return {name: np.empty(0, dtype=np.float64) for name in MEASURES}
    features = plain_features(settings, texts)
    table = rarity_of(settings, [texts[place] for place in sample_of(len(texts)).tolist()])
    known, numbers = np.unique(features.hashes, return_inverse=True)
    weights = table.weights_of(known)
    numbered = FeatureBatch(numbers.reshape(-1).astype(np.uint64), features.offsets)
    totals = np.diff(np.concatenate([[0], np.cumsum(weights[numbered.hashes])])[features.offsets])
    first, second = positions(pairs)
    shared = _shared(numbered, weights, first, second)
    a, b = totals[first], totals[second]
    return {"jaccard": _share(shared, a + b - shared), "overlap": _share(shared, np.minimum(a, b))}


def _shared(features: FeatureBatch, weights: Integers, first: Integers, second: Integers) -> Integers:
    """The weight of the features, which are given as numbers, that both texts of each pair have."""
    counts, found = np.diff(features.offsets), np.zeros(len(first), dtype=np.int64)
    marked = np.zeros(len(weights), dtype=np.int64)
    order = np.argsort(first, kind="stable")
    texts, starts = np.unique(first[order], return_index=True)
    for text, rows in zip(texts.tolist(), np.split(order, starts[1:]), strict=True):
        own = features.hashes[features.offsets[text] : features.offsets[text + 1]]
        marked[own] = weights[own]
        for some in _in_parts(rows, counts[second[rows]]):
            sizes = counts[second[some]]
            which, place = spread(sizes)
            looked_up = marked[features.hashes[features.offsets[second[some]][which] + place]]
            found[some] = np.diff(np.concatenate([[0], np.cumsum(looked_up)])[offsets_from_counts(sizes)])
        marked[own] = 0
    return found


def _in_parts(rows: Integers, sizes: Integers) -> list[Integers]:
    """The rows, cut so that none but a single one has more than so many features."""
    ends = np.cumsum(sizes)
    cuts = np.flatnonzero(np.diff(ends // _AT_ONCE)) + 1
    return np.split(rows, cuts)


def _share(shared: Integers, whole: Integers) -> Similarities:
    found: Similarities = np.divide(shared, whole, out=np.zeros(len(shared)), where=whole > 0)
    return found
