"""Exact similarities of texts under a scheme: by the features that the fingerprints are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from es_simhash import fingerprinting, similarity
from es_simhash.errors import SchemeError
from es_simhash.features import FeatureBatch, distinct
from es_simhash.idf import IdfTable
from es_simhash.settings import Settings

Measure: TypeAlias = Literal["jaccard", "containment", "overlap", "cosine"]

# Each takes the query's features, then the other document's (see `es_simhash.similarity`).
MEASURES: dict[str, Callable[[similarity.Features, similarity.Features], float]] = {
    "jaccard": similarity.weighted_jaccard,
    "containment": similarity.containment,
    "overlap": similarity.overlap,
    "cosine": similarity.cosine,
}


def measure_named(name: str) -> Callable[[similarity.Features, similarity.Features], float]:
    """The measure of that name."""
    if name not in MEASURES:
        raise SchemeError(f"There is no measure {name!r}. Choose from: {', '.join(MEASURES)}.")
    return MEASURES[name]


def exact_similarities(
    settings: Settings, text: str, others: Sequence[str], measure: str = "jaccard", idf: IdfTable | None = None
) -> list[float]:
    """The exact similarity of a text and each of the others.

    Features weigh as the scheme says, or by an idf table.
    """
    compare = measure_named(measure)
    first, *rest = comparable_features(settings, [text, *others], idf)
    return [compare(first, other) for other in rest]


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
