"""A histogram of similarities in a sample, with examples of each level, for choosing a threshold by eye."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.compare import valley_of
from es_simhash.plans.text_differences import Piece, excerpt, marked_changes
from es_simhash.quality.ceiling import LEAST, similar_pairs
from es_simhash.quality.labels import InScope, first_positions
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier, is_by_rarity, plain

EXAMPLES = 2
_LEVELS = 10
_EXCERPT = 200


@dataclass(frozen=True)
class Example:
    """Two documents by their ids, their similarity, the beginning of the first, and the difference.

    ``difference`` is empty if the scheme sees none.
    """

    first: str
    second: str
    similarity: float
    beginning: tuple[Piece, ...]
    difference: tuple[Piece, ...]


@dataclass(frozen=True)
class Level:
    """The number of pairs from ``least`` to ``below``, with examples; the last level has those of exactly 1."""

    least: float
    below: float | None
    pairs: int
    examples: Sequence[Example]


@dataclass(frozen=True)
class Histogram:
    """The pairs among ``documents`` by their similarity: the scheme's, or Jaccard's if it does not weigh by rarity.

    ``threshold`` is the scheme's, None if it does not; ``near`` counts the pairs at or above it, whatever numbers they
    share. The similarities of unequal texts part at ``valley``, if they clearly do.
    """

    documents: int
    levels: Sequence[Level]
    threshold: float | None
    near: int | None
    valley: float | None


def histogram(
    settings: Settings,
    documents: Sequence[tuple[str, str]],
    examples: int = EXAMPLES,
    in_scope: InScope | None = None,
) -> Histogram:
    """Count the pairs of documents, given as (id, text), by similarity; with ``in_scope``, only those in it.

    Features weigh as the built-in table says, as where nothing was learnt.
    """
    ids, texts = [id_ for id_, _ in documents], [text for _, text in documents]
    originals, features = first_positions(texts), plain(settings)
    first, second = positions(similar_pairs(features, texts, originals).predicted.pairs)
    if in_scope:
        count = in_scope(first, second)
        first, second = first[count], second[count]
    verification = settings.verification if is_by_rarity(settings, settings.verification) else None
    rule = settings.verification or Verification.of_fingerprints(1.0)
    rule = replace(rule, measure=verification.measure if verification else "jaccard", numbers=0.0)
    similarities = Verifier(features, rule, builtin()).similarities(texts, np.stack([first, second]))
    steps = np.floor(similarities * _LEVELS + 1e-9).astype(np.int64)
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
    threshold = verification.similarity if verification else None
    near = None if threshold is None else int((similarities >= threshold).sum())
    valley = valley_of(similarities[originals[first] != originals[second]])
    return Histogram(len(documents), levels, threshold, near, valley)


def _example(
    settings: Settings, ids: Sequence[str], texts: Sequence[str], first: int, second: int, similarity: float
) -> Example:
    return Example(
        ids[first],
        ids[second],
        similarity,
        excerpt(settings, texts[first], _EXCERPT),
        marked_changes(settings, texts[first], texts[second]),
    )


def _spread(count: int, most: int) -> list[int]:
    """Choose up to ``most`` of ``count`` places, each from the middle of an equal part."""
    chosen = min(count, most)
    return [(2 * place + 1) * count // (2 * chosen) for place in range(chosen)]
