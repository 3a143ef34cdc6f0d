"""Pairs of texts by several measures at once, with features weighted by rarity as in `scheme.verdict.verifier`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.condense import sample_of_texts
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.quality.ceiling import similar_pairs
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.measures import Similarities
from es_simhash.scheme.verdict.verification import Measure, Verification
from es_simhash.scheme.verdict.verifier import Verifier, compared, rarity_of
from es_simhash.sketches.weighted_sets import shared_weights

MEASURES: tuple[Measure, ...] = ("jaccard", "overlap", "balanced")


@dataclass(frozen=True, eq=False)
class MeasuredPairs:
    """Pairs as numbers in ascending order, with a plain Jaccard similarity of at least 0.2.

    ``jaccards`` are plain, with equal weights: keys find pairs by these. ``similarities`` are keyed by measure, with
    the weights "rarity", by the features that the scheme compares.
    """

    pairs: Numbers
    jaccards: Similarities
    similarities: Mapping[Measure, Similarities]


def measure_pairs(settings: Settings, texts: Sequence[str], originals: Integers) -> MeasuredPairs:
    """Measure the similar pairs of texts; ``originals`` are the `first_positions` of the texts."""
    near = similar_pairs(settings, texts, originals).predicted
    similarities = _by_rarity(settings, texts, near.pairs)
    order = np.argsort(near.pairs)
    return MeasuredPairs(
        near.pairs[order], near.similarities[order], {name: each[order] for name, each in similarities.items()}
    )


def _by_rarity(settings: Settings, texts: Sequence[str], pairs: Numbers) -> dict[Measure, Similarities]:
    if not len(pairs):
        return {name: np.empty(0, dtype=np.float64) for name in MEASURES}
    settings = compared(settings, settings.verification)
    table = rarity_of(settings, sample_of_texts(texts))
    features = list(Verifier(settings, Verification.of_fingerprints(1.0, weights="rarity"), table).prepared(texts))
    first, second = positions(pairs)
    shared = shared_weights(features, first, second)
    a, b = np.array([each.total for each in features])[np.stack([first, second])]
    jaccards, overlaps = _share(shared, a + b - shared), _share(shared, np.minimum(a, b))
    return {"jaccard": jaccards, "overlap": overlaps, "balanced": np.sqrt(jaccards * overlaps)}


def _share(shared: Integers, whole: Integers) -> Similarities:
    found: Similarities = np.divide(shared, whole, out=np.zeros(len(shared)), where=whole > 0)
    return found
