"""The features of two texts in readable form: the shared ones and those of one text only, the heaviest first.

Fingerprints are made from hashes, which cannot be reversed. Here the texts are tokenised once more and each token is
hashed by itself, which links it to the features that the fingerprints are made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.verifier import comparable_features
from es_simhash.sketches import similarity
from es_simhash.text.idf import UNIT

# Number of features listed in each group.
_LISTED = 20


@dataclass(frozen=True)
class Feature:
    """A token, and its weight in each of the texts."""

    text: str
    weight_a: float
    weight_b: float

    @property
    def weight(self) -> float:
        """The weight that both texts share, or its weight in the only text that has it."""
        shared = min(self.weight_a, self.weight_b)
        return shared or max(self.weight_a, self.weight_b, key=abs)


@dataclass(frozen=True)
class FeatureGroup:
    """Features that both texts have, or only one of them: their number, total weight, and the heaviest."""

    count: int
    weight: float
    heaviest: tuple[Feature, ...]


@dataclass(frozen=True)
class Features:
    """The features of two texts; among features of equal weight, the first in their text are listed."""

    shared: FeatureGroup
    only_a: FeatureGroup
    only_b: FeatureGroup


def compare_features(settings: Settings, texts: tuple[str, str]) -> Features:
    """Return the features that two texts share, and those that they do not."""
    a, b = (_weighed(settings, features) for features in comparable_features(settings, texts))
    tokens_a, tokens_b = (readable_features(settings, text) for text in texts)
    shared = [Feature(token, a[code], b[code]) for code, token in tokens_a.items() if code in b]
    only_a = [Feature(token, a[code], 0.0) for code, token in tokens_a.items() if code not in b]
    only_b = [Feature(token, 0.0, b[code]) for code, token in tokens_b.items() if code not in a]
    return Features(_group(shared), _group(only_a), _group(only_b))


def readable_features(settings: Settings, text: str) -> dict[int, str]:
    """Return the token of each feature of a text, by the first 64 bits of the feature's hash, in text order."""
    spans, _ = settings.tokens.cut(fingerprinting.normalised(settings, [text]))
    tokens = list(dict.fromkeys(spans.strings()))
    hashed = fingerprinting.features_of_tokens(settings, [[token] for token in tokens])
    codes: dict[int, str] = {}
    for code, token in zip(hashed.first_words.tolist(), tokens, strict=True):
        codes.setdefault(code, token)
    return codes


def _weighed(settings: Settings, features: similarity.Features) -> dict[int, float]:
    """Return the weight of each feature by its hash."""
    assert isinstance(features, np.ndarray | tuple)
    hashes, weights = features if isinstance(features, tuple) else (features, np.ones(len(features)))
    unit = UNIT if settings.idf else 1
    return dict(zip(hashes.tolist(), (weights / unit).tolist(), strict=True))


def _group(features: Sequence[Feature]) -> FeatureGroup:
    heaviest = sorted(features, key=lambda feature: -feature.weight)[:_LISTED]
    return FeatureGroup(len(features), sum(feature.weight for feature in features), tuple(heaviest))
