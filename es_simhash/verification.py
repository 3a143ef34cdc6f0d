"""Exact similarities of texts under a scheme: by the features that the fingerprints are made of.

Where texts are verified with the weights "rarity", a feature weighs ln((N + 101) / (n + 1)) if n of N documents of a
sample have it: as an idf would (Spärck Jones, "A statistical interpretation of term specificity", 1972), but as if a
hundred more documents were without it. So in a small collection, where a pair of near-duplicates is a good part of all
documents, what these two share still counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt

from es_simhash import conditions, fingerprinting, similarity
from es_simhash.arrays import Integers, offsets_from_counts, spread
from es_simhash.codes import Codes
from es_simhash.errors import SchemeError
from es_simhash.features import FeatureBatch, distinct
from es_simhash.idf import UNIT, IdfTable
from es_simhash.settings import Measure, Settings, Verification

Similarities = npt.NDArray[np.float64]

# Each takes the query's features, then the other document's (see `es_simhash.similarity`).
MEASURES: dict[str, Callable[[similarity.Features, similarity.Features], float]] = {
    "jaccard": similarity.weighted_jaccard,
    "containment": similarity.containment,
    "overlap": similarity.overlap,
    "cosine": similarity.cosine,
}
_OTHERS = 100  # documents that are taken to have none of the features of a sample


def measure_named(name: str) -> Callable[[similarity.Features, similarity.Features], float]:
    """The measure of that name."""
    if name not in MEASURES:
        raise SchemeError(f"There is no measure {name!r}. Choose from: {', '.join(MEASURES)}.")
    return MEASURES[name]


def rarity_of(settings: Settings, texts: Iterable[str]) -> IdfTable:
    """How rare features are in some documents, by these texts of theirs."""
    features = fingerprinting.in_batches(texts, lambda some: fingerprinting.features_of_texts(plain(settings), some))
    return IdfTable.learn(features, weight=_rarity)


def is_by_rarity(settings: Settings, verification: Verification | None) -> bool:
    """Whether features weigh the more the rarer they are; those of a scheme with weights have these."""
    return verification is not None and verification.weights == "rarity" and settings.weights == "set"


def estimates_below(verification: Verification) -> float:
    """By how much, beside its error, the estimate of a Jaccard similarity may fall short of what texts tell.

    That of weighed features seldom differs by more; those of other measures may by any amount.
    """
    return 0.15 if verification.measure == "jaccard" else 1.0


def _rarity(documents: int, frequency: int) -> int:
    return round(UNIT * math.log((documents + _OTHERS + 1) / (frequency + 1)))


def plain(settings: Settings) -> Settings:
    """The settings with features that all weigh the same."""
    return replace(settings, weights="set", idf=None)


@dataclass(frozen=True)
class Verifier:
    """Compares pairs of texts as a scheme verifies them; by default its features, weighed as in the fingerprint.

    ``weights`` are those of features, if not the scheme's. Features that are ``common`` (in ascending order) do not
    count: texts that have no others are not similar.
    """

    settings: Settings
    verification: Verification
    weights: IdfTable | None = None
    common: Codes | None = None

    def similarities(self, texts: Sequence[str], pairs: Integers) -> Similarities:
        """The similarity of each pair of texts, given as two rows of positions; 0 where a condition is not met."""
        found = self._of_features(texts, pairs)
        if self.verification.has_conditions:
            found[~conditions.are_met(self.settings, self.verification, texts, pairs)] = 0.0
        return found

    def to_others(self, text: str, others: Sequence[str]) -> list[float]:
        """The similarity of a text and each of some others."""
        rows = np.arange(1, len(others) + 1)
        return self.similarities([text, *others], np.stack([np.zeros_like(rows), rows])).tolist()

    def _of_features(self, texts: Sequence[str], pairs: Integers) -> Similarities:
        if self.weights is None and self.settings.weights not in ("set", "idf"):
            return self._one_by_one(texts, pairs)
        batches = list(fingerprinting.in_batches(texts, self._features))
        counts = np.concatenate([np.empty(0, dtype=np.int64), *(np.diff(batch.offsets) for batch in batches)])
        hashes = np.concatenate([np.empty(0, dtype=np.uint64), *(batch.hashes for batch in batches)])
        # Numbers stand for features from here on, so that each is weighed once.
        known, places = np.unique(hashes, return_inverse=True)
        features = FeatureBatch(places.astype(np.uint64), offsets_from_counts(counts))
        weights = self._weights(known)
        totals = _totals(features, weights)
        first, second = totals[pairs]
        shared = first + second - _totals(distinct(_joined(features, pairs)), weights)
        found = _OF_SHARED[self.verification.measure](shared, first, second)
        if self.common is None:
            found[(first == 0) & (second == 0)] = 1.0
        return found

    def _features(self, texts: Sequence[str]) -> FeatureBatch:
        """The features of texts, each once."""
        batch = fingerprinting.features_of_texts(plain(self.settings), texts)
        return distinct(FeatureBatch(batch.first_words, batch.offsets))

    def _weights(self, hashes: Codes) -> Integers:
        """The weight of each feature; squared, for the cosine."""
        table = self.weights or self.settings.idf
        weights = np.ones(len(hashes), dtype=np.int64) if table is None else table.weights_of(hashes)
        if self.common is not None:
            weights[np.isin(hashes, self.common)] = 0
        return weights**2 if self.verification.measure == "cosine" else weights

    def _one_by_one(self, texts: Sequence[str], pairs: Integers) -> Similarities:
        """The same of features whose weights depend on the text."""
        compare = measure_named(self.verification.measure)
        features = [self._counted(each) for each in comparable_features(self.settings, texts)]
        return np.array([compare(features[a], features[b]) for a, b in pairs.T.tolist()], dtype=np.float64)

    def _counted(self, features: similarity.Features) -> similarity.Features:
        if self.common is None or not isinstance(features, tuple):
            return features
        hashes, weights = features
        stays = ~np.isin(hashes, self.common)
        return hashes[stays], weights[stays]


def _totals(features: FeatureBatch, weights: Integers) -> Integers:
    """The weight of all features of each document, which are given as numbers."""
    ends = np.concatenate([[0], np.cumsum(weights[features.hashes])])
    totals: Integers = np.diff(ends[features.offsets])
    return totals


def _joined(features: FeatureBatch, pairs: Integers) -> FeatureBatch:
    """The features of both documents of each pair: the distinct ones of these are |A ∪ B| = |A| + |B| - |A ∩ B|."""
    sides = pairs.T.reshape(-1)
    counts = np.diff(features.offsets)[sides]
    which, place = spread(counts)
    hashes = features.hashes[features.offsets[sides][which] + place]
    return FeatureBatch(hashes, offsets_from_counts(counts.reshape(-1, 2).sum(axis=1)))


def _share(shared: Integers, whole: Integers | Similarities) -> Similarities:
    found: Similarities = np.divide(shared, whole, out=np.zeros(len(shared)), where=whole > 0)
    return found


# Each of the weights that are shared, those of the first text, and those of the second.
_OF_SHARED: dict[str, Callable[[Integers, Integers, Integers], Similarities]] = {
    "jaccard": lambda shared, first, second: _share(shared, first + second - shared),
    "containment": lambda shared, first, second: _share(shared, first),
    "overlap": lambda shared, first, second: _share(shared, np.minimum(first, second)),
    "cosine": lambda shared, first, second: _share(shared, np.sqrt(first.astype(np.float64) * second)),
}


def exact_similarities(
    settings: Settings, text: str, others: Sequence[str], measure: str = "jaccard", idf: IdfTable | None = None
) -> list[float]:
    """The exact similarity of a text and each of the others.

    Features weigh as the scheme says, or by an idf table.
    """
    measure_named(measure)
    return Verifier(settings, Verification(measure=cast("Measure", measure)), idf).to_others(text, others)


def comparable_features(
    settings: Settings, texts: Sequence[str], idf: IdfTable | None = None
) -> Iterator[similarity.Features]:
    """The features of each text, each once and in order, with their weights if they have any."""
    for features in fingerprinting.in_batches(texts, lambda batch: fingerprinting.features_of_texts(settings, batch)):
        yield from _by_document(_weighted(settings, features, idf))


def _weighted(settings: Settings, features: FeatureBatch, idf: IdfTable | None) -> FeatureBatch:
    if idf is not None:
        features = distinct(replace(features, weights=None))
        return replace(features, weights=idf.weights_of(features.first_words))
    if settings.weights == "tf":
        features = replace(features, weights=np.ones(len(features.hashes), dtype=np.int64))
    return distinct(features)


def _by_document(features: FeatureBatch) -> Iterator[similarity.Features]:
    hashes = features.first_words
    for start, end in zip(features.offsets[:-1].tolist(), features.offsets[1:].tolist(), strict=True):
        own = hashes[start:end]
        order = np.argsort(own)
        yield own[order] if features.weights is None else (own[order], features.weights[start:end][order])
