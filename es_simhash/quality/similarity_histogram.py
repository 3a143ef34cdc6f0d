"""How similar the pairs of a sample are, with examples of each level, so that a threshold can be chosen by eye."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from es_simhash.groups.pairs.candidates import positions
from es_simhash.plans.explain.excerpts import Piece, changes, excerpt
from es_simhash.quality.ceiling import LEAST
from es_simhash.quality.measures import measure_pairs
from es_simhash.quality.predictions import first_positions
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verification import is_by_rarity, plain

EXAMPLES = 2
_LEVELS = 10
_EXCERPT = 200


@dataclass(frozen=True)
class Example:
    """Two documents by their ids, how similar they are, and what differs; nothing where the scheme sees no difference.

    ``beginning`` is that of the first one.
    """

    first: str
    second: str
    similarity: float
    beginning: tuple[Piece, ...]
    difference: tuple[Piece, ...]


@dataclass(frozen=True)
class Level:
    """The pairs from a similarity on and below another, with some of them; those of the last level have just 1."""

    least: float
    below: float | None
    pairs: int
    examples: Sequence[Example]


@dataclass(frozen=True)
class Histogram:
    """All pairs of so many documents by the Jaccard similarity of their features, which weigh by their rarity.

    ``threshold`` is the scheme's, None if it goes by something else, and so many pairs are near by it; without what it
    asks for beside similarity.
    """

    documents: int
    levels: Sequence[Level]
    threshold: float | None
    near: int | None


def histogram(settings: Settings, documents: Sequence[tuple[str, str]], examples: int = EXAMPLES) -> Histogram:
    """The similarities of documents, (id, text) pairs."""
    ids, texts = [id_ for id_, _ in documents], [text for _, text in documents]
    found = measure_pairs(plain(settings), texts, first_positions(texts))
    similarities = found.similarities["jaccard"]
    steps = np.floor(similarities * _LEVELS + 1e-9).astype(np.int64)
    first, second = positions(found.pairs)
    levels = []
    for step in range(_LEVELS, round(LEAST * _LEVELS) - 1, -1):
        there = np.flatnonzero(steps == step)
        there = there[np.argsort(-similarities[there], kind="stable")]
        shown = [
            _example(settings, ids, texts, int(first[place]), int(second[place]), float(similarities[place]))
            for place in there[_spread(len(there), examples)].tolist()
        ]
        below = (step + 1) / _LEVELS if step < _LEVELS else None
        levels.append(Level(step / _LEVELS, below, len(there), shown))
    threshold = _threshold(settings)
    near = None if threshold is None else int((similarities >= threshold).sum())
    return Histogram(len(documents), levels, threshold, near)


def _threshold(settings: Settings) -> float | None:
    verification = settings.verification
    if verification is None or verification.measure != "jaccard" or not is_by_rarity(settings, verification):
        return None
    return verification.similarity


def _example(
    settings: Settings, ids: Sequence[str], texts: Sequence[str], first: int, second: int, similarity: float
) -> Example:
    return Example(
        ids[first],
        ids[second],
        similarity,
        excerpt(settings, texts[first], _EXCERPT),
        changes(settings, texts[first], texts[second]),
    )


def _spread(count: int, most: int) -> list[int]:
    """The places of up to ``most`` among so many, from the middle of as many parts."""
    chosen = min(count, most)
    return [(2 * place + 1) * count // (2 * chosen) for place in range(chosen)]
