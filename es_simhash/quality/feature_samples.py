"""Features of texts, all of them or samples whose size is bounded, to compare any two texts by.

The hashes of features are mixed to numbers that are as good as random. A sample of the level l has the features whose
number begins with l zero bits: about one in 2**l. If all features are too many, texts with the most of them get the
lowest level at which they have no more than a limit: 4,096, or half of that and so on, the largest that suffices
(Flajolet, "On adaptive sampling", 1990). Two texts are compared by their features of the higher level of both, which
both samples have: with j of k features shared, their Jaccard similarity is about j / k, with the standard error
sqrt(j / k * (1 - j / k) / k) (Broder, "On the resemblance and containment of documents", 1997).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from es_simhash._core.arrays import Codes, Integers, offsets_from_counts, rows_of
from es_simhash.scheme.verdict.rule import Similarities
from es_simhash.text.features import FeatureBatch
from es_simhash.text.hashing import registry

# The most features of all texts: of 10 MB of English, or of 20 million documents' worth of samples.
MOST = 1 << 21
# The limits to try; a sample has at least half as many features, unless the text has fewer.
_LEAST, _LARGEST, _NONE = 1 << 8, 1 << 12, 1 << 60
_BITS = 64


@dataclass(frozen=True, eq=False)
class FeatureSamples:
    """The distinct features of each text whose numbers begin with as many zero bits as its level says."""

    features: FeatureBatch
    levels: Integers

    @property
    def are_complete(self) -> bool:
        """Whether these are all features."""
        return not self.levels.any()

    @property
    def postings(self) -> int:
        """The number of pairs of texts that each feature makes, summed over all features."""
        _, documents = np.unique(self.features.hashes, return_counts=True)
        return int((documents * (documents - 1)).sum()) // 2

    def totals(self, weights: Integers | None = None) -> Integers:
        """Return for each text, in a row, the number or the weight of its features at each level."""
        width, rows = int(self.levels.max(initial=0)) + 1, rows_of(self.features.offsets)
        cells = rows * width + np.minimum(self._zeros, width - 1)
        counts = np.bincount(cells, weights, len(self.levels) * width).astype(np.int64).reshape(-1, width)
        totals: Integers = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
        return totals

    def totals_of(self, totals: Integers, first: Integers, second: Integers) -> tuple[Integers, Integers]:
        """Return the totals of both texts of each pair, at the higher level of both."""
        level = np.maximum(self.levels[first], self.levels[second])
        return totals[first, level], totals[second, level]

    @cached_property
    def _zeros(self) -> Integers:
        """The zero bits that the number of each feature begins with."""
        return _zeros(self.features.hashes)

    def halved(self) -> FeatureSamples | None:
        """Return samples of at most half as many features a text, or None if they would say too little."""
        limit = 1 << (int(np.diff(self.features.offsets).max(initial=1)) - 1).bit_length() - 1
        return _thinned(self, limit) if limit >= _LEAST else None


def standard_error(similarities: Similarities, features: Integers) -> float:
    """Return the greatest standard error of similarities that were estimated by these numbers of features."""
    errors = np.sqrt(similarities * (1 - similarities) / np.maximum(features, 1))
    return float(errors.max(initial=0.0))


def sampled(batches: Iterable[FeatureBatch], most: int = MOST) -> FeatureSamples | None:
    """Sample the distinct features of texts, ``most`` in all; None if there are too many texts for that."""
    made: list[FeatureSamples] = []
    count, limit = 0, _NONE
    for batch in batches:
        each = FeatureSamples(batch, np.zeros(len(batch.offsets) - 1, dtype=np.int64))
        made.append(_thinned(each, limit))
        count += len(made[-1].features.hashes)
        while count > most:
            limit = min(limit // 2, _LARGEST)
            if limit < _LEAST:
                return None
            made = [_thinned(some, limit) for some in made]
            count = sum(len(some.features.hashes) for some in made)
    counts = np.concatenate([np.empty(0, np.int64), *(np.diff(some.features.offsets) for some in made)])
    hashes = np.concatenate([np.empty(0, np.uint64), *(some.features.hashes for some in made)])
    levels = np.concatenate([np.empty(0, np.int64), *(some.levels for some in made)])
    return FeatureSamples(FeatureBatch(hashes, offsets_from_counts(counts)), levels)


def _thinned(samples: FeatureSamples, limit: int) -> FeatureSamples:
    """Raise the levels of texts until each has at most this number of features."""
    features, levels = samples.features, samples.levels
    while (many := np.diff(features.offsets) > limit).any():
        levels = levels + many
        stay = _zeros(features.hashes) >= levels[rows_of(features.offsets)]
        kept = np.diff(offsets_from_counts(stay.astype(np.int64))[features.offsets])
        features = FeatureBatch(features.hashes[stay], offsets_from_counts(kept))
    return FeatureSamples(features, levels)


def _zeros(hashes: Codes) -> Integers:
    # The exponent of a float of at most 53 bits is the number of its bits.
    lengths = np.frexp((registry.fmix64(hashes) >> np.uint64(11)).astype(np.float64))[1]
    zeros: Integers = (_BITS - 11 - lengths).astype(np.int64)
    return zeros
