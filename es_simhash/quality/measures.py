"""Pairs of texts by several measures at once, with features weighted by rarity as in `scheme.verdict.verifier`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.stages import counted_each
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.ceiling import feature_batches, similar_among, similar_pairs
from es_simhash.quality.feature_samples import MOST, FeatureSamples, sampled
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.builtin import builtin
from es_simhash.scheme.verdict.levels import Measure
from es_simhash.scheme.verdict.rule import Similarities
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import compared, is_by_rarity
from es_simhash.sketches.weighted_sets import WeightedSet, shared_weights

MEASURES: tuple[Measure, ...] = ("jaccard", "balanced")
# The number of features of each text that are always held, however many texts there are.
_OF_EACH = 320

ByMeasure = Mapping[Measure, Similarities]
Flags: TypeAlias = npt.NDArray[np.bool_]
# Which pairs of texts count, by the positions of the first ones and of the second ones.
InScope: TypeAlias = Callable[[Integers, Integers], Flags]


@dataclass(frozen=True, eq=False)
class MeasuredPairs:
    """Pairs as numbers in ascending order, with a plain Jaccard similarity of at least 0.2.

    ``similarities`` are keyed by measure, with the weights "rarity", by the features that the scheme compares. They are
    estimates where all features of the texts are too many (see `es_simhash.quality.feature_samples`).
    """

    pairs: Numbers
    similarities: ByMeasure

    def within(self, in_scope: InScope | None) -> MeasuredPairs:
        """Return the pairs in scope."""
        if in_scope is None:
            return self
        count = in_scope(*positions(self.pairs))
        some = {name: each[count] for name, each in self.similarities.items()}
        return MeasuredPairs(self.pairs[count], some)


def measured_by(settings: Settings) -> Verification | None:
    """Return what a scheme verifies by, if pairs are measured by that: with weights by rarity."""
    verification = settings.verification
    return verification if is_by_rarity(settings, verification) else None


def measure_pairs(settings: Settings, texts: Iterable[str], originals: Integers) -> MeasuredPairs:
    """Measure the similar pairs of texts, which are read several times.

    ``originals`` are the `first_positions` of the texts.
    """
    compares = compared(settings, settings.verification)
    samples = _samples_of(settings, texts, originals)
    near = (similar_among(samples) or similar_pairs(settings, texts, originals, most_features=0)).predicted
    pairs = np.sort(near.pairs)
    measuring = RarityMeasure(compares, texts, originals, samples if compares is settings else None)
    return MeasuredPairs(pairs, measuring.similarities(pairs))


class RarityMeasure:
    """Measures pairs of texts by the features of some settings; ``samples`` if they are known.

    They weigh as the built-in table says, as where nothing was learnt.
    """

    def __init__(
        self, settings: Settings, texts: Iterable[str], originals: Integers, samples: FeatureSamples | None = None
    ) -> None:
        self._samples = samples = samples or _samples_of(settings, texts, originals)
        hashes, offsets = samples.features.hashes, samples.features.offsets
        weights = builtin().weights_of(hashes)
        self._totals = samples.totals(weights)
        self._sets = [
            WeightedSet(hashes[start:end], weights[start:end], end - start, int(weights[start:end].sum()))
            for start, end in pairwise(offsets.tolist())
        ]

    def similarities(self, pairs: Numbers) -> ByMeasure:
        """Measure pairs, given as numbers."""
        first, second = positions(pairs)
        if not len(pairs):
            return {name: np.empty(0, dtype=np.float64) for name in MEASURES}
        shared = shared_weights(self._sets, first, second)
        a, b = self._samples.totals_of(self._totals, first, second)
        jaccards, overlaps = _share(shared, a + b - shared), _share(shared, np.minimum(a, b))
        return {"jaccard": jaccards, "balanced": np.sqrt(jaccards * overlaps)}


def _samples_of(settings: Settings, texts: Iterable[str], originals: Integers) -> FeatureSamples:
    read = counted_each("Reading features", texts, len(originals))
    samples = sampled(feature_batches(settings, read), max(MOST, _OF_EACH * len(originals)))
    assert samples is not None  # the least samples have fewer features
    return samples


def _share(shared: Integers, whole: Integers) -> Similarities:
    found: Similarities = np.divide(shared, whole, out=np.zeros(len(shared)), where=whole > 0)
    return found
