"""The threshold that best separates duplicates on labelled documents, with the scheme's own and the levels.

It has the highest F1 of pairs, the middle one of several; the scheme's own stays if none is better. Intervals say how
far the scores may be off (see `es_simhash.quality.scores`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from es_simhash._core.humanize import counted
from es_simhash.errors import InputError
from es_simhash.groups.pairs.candidates import positions
from es_simhash.quality.evaluation import LEAST, PairOutcomes, PairScores, one_bucket
from es_simhash.quality.labels import Truth
from es_simhash.quality.predictions import PredictedPairs
from es_simhash.quality.scores import Bootstrap, similarity_curve
from es_simhash.scheme.verdict.levels import LEVELS, Level
from es_simhash.scheme.verdict.verification import Verification

# Fewer clusters of duplicates, or pairs of others, choose a threshold by chance.
_FEW = 20


@dataclass(frozen=True)
class Threshold:
    """A minimum similarity with its scores on the labels; ``level`` if it has a name."""

    similarity: float
    level: Level | None
    scores: PairScores


@dataclass(frozen=True)
class ThresholdChoice:
    """The ``best`` threshold, the scheme's ``own``, and these with the levels (``tried``), in ascending order.

    ``doubts`` is the warning that the labels are few; empty if they are enough.
    """

    JSON = ("best", "own", "nearest", "tried")

    best: Threshold
    own: Threshold
    tried: Sequence[Threshold]
    doubts: str

    @property
    def nearest(self) -> Threshold:
        """The level that is nearest to the best threshold."""
        levels = (each for each in self.tried if each.level)
        return min(levels, key=lambda each: abs(each.similarity - self.best.similarity))


def choose_threshold(found: PredictedPairs, truth: Truth, rule: Verification) -> ThresholdChoice:
    """Choose a threshold of the rule by the pairs that reach the lowest one to try."""
    if not len(truth.positives) or (truth.negatives is not None and not len(truth.negatives)):
        raise InputError("All labelled pairs are of one kind, which fits many thresholds. Label duplicates and others.")
    known = found.some(truth.are_known(found.pairs))
    curve = similarity_curve(known.similarities, truth.are_positive(known.pairs), len(truth.positives), LEAST)
    if curve.best is None or not curve.best.f1:
        raise InputError(
            "No labelled duplicates have similar texts. Name the fields that hold the texts, or check the labels."
        )
    names = {similarity: level for level, similarity in LEVELS[rule.measure].items()}
    units = np.unique(truth.units, return_inverse=True)[1].reshape(-1)

    def scored(similarity: float) -> Threshold:
        judged = PairOutcomes.of(known.pairs[known.similarities >= similarity], truth)
        [scores] = judged.scores(units, {"overall": one_bucket(judged.pairs)}, Bootstrap())["overall"].values()
        return Threshold(similarity, names.get(similarity), scores)

    own = scored(rule.similarity)
    best = own if (own.scores.f1.value or 0.0) >= curve.best.f1 else scored(curve.best.threshold)
    others = [scored(each) for each in names if each not in (own.similarity, best.similarity)]
    tried = {each.similarity: each for each in (own, best, *others)}
    return ThresholdChoice(best, own, [tried[each] for each in sorted(tried)], _doubts(truth))


def _doubts(truth: Truth) -> str:
    clusters = len(np.unique(truth.units[positions(truth.positives)[0]]))
    others = "" if truth.negatives is None else f", and {counted(len(truth.negatives), 'pair')} of others"
    if clusters >= _FEW and (truth.negatives is None or len(truth.negatives) >= _FEW):
        return ""
    near = f"{counted(len(truth.positives), 'pair')} of duplicates in {counted(clusters, 'cluster')}"
    return (
        f"The labels have {near}{others}: too few to choose a threshold by."
        " Label some hundreds, and measure the scheme on labels kept aside."
    )
