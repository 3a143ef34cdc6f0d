"""The outcomes of pairs (right, wrong or missed), and their scores, over all pairs and by buckets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.quality.bootstrap import Bootstrap, Estimate, times_of_pairs
from es_simhash.quality.buckets import Bucketed
from es_simhash.quality.scores import Confusion, Many
from es_simhash.quality.truth import Truth

_RIGHT, _WRONG, _MISSED = range(3)
_OUTCOMES = 3
_SCORES = ("precision", "recall", "f1")

# The bucket of each pair, by the kinds of buckets.
Kinds: TypeAlias = Mapping[str, Bucketed]
# A kind of buckets, a bucket number, and the name of a score.
_Name: TypeAlias = tuple[str, int, str]


@dataclass(frozen=True)
class PairScores:
    """The numbers of pairs that were right, wrong and missed, and their scores."""

    right: int
    wrong: int
    missed: int
    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True, eq=False)
class PairOutcomes:
    """Labelled pairs by their outcome; ``not_labelled`` counts pairs that were found without a label."""

    right: Numbers
    wrong: Numbers
    missed: Numbers
    not_labelled: int

    @classmethod
    def of(cls, found: Numbers, truth: Truth) -> PairOutcomes:
        """Sort the pairs that were found, and the duplicates that were not, by their outcomes."""
        are_known, are_positive = truth.are_known(found), truth.are_positive(found)
        missed = np.setdiff1d(truth.positives, found, assume_unique=True)
        return cls(found[are_positive], found[are_known & ~are_positive], missed, int((~are_known).sum()))

    @property
    def pairs(self) -> Numbers:
        """All labelled pairs."""
        return np.concatenate([self.right, self.wrong, self.missed])

    def scores(self, units: Integers, kinds: Kinds, bootstrap: Bootstrap) -> dict[str, dict[str, PairScores]]:
        """Score the buckets of each kind that have any pair, by their names.

        ``units`` are the true clusters of the documents, numbered from 0, from which samples are drawn.
        """
        outcomes = np.repeat(np.arange(_OUTCOMES), [len(self.right), len(self.wrong), len(self.missed)])
        counting = {kind: _Counting(bucketed, outcomes) for kind, bucketed in kinds.items()}
        first, second = (units[side] for side in positions(self.pairs))

        def score(times: Many) -> dict[_Name, float]:
            weights = times_of_pairs(times, first, second)
            return {
                (kind, bucket, name): value
                for kind, each in counting.items()
                for name, values in each.scores(weights)
                for bucket, value in enumerate(values)
            }

        estimates = bootstrap.estimates(int(units.max(initial=-1)) + 1, score)
        return {kind: dict(each.named(kind, estimates)) for kind, each in counting.items()}


class _Counting:
    """Counts the outcomes of pairs in each bucket of a kind."""

    def __init__(self, bucketed: Bucketed, outcomes: npt.NDArray[np.int64]) -> None:
        buckets, self._names = bucketed
        self._cells = buckets * _OUTCOMES + outcomes

    def _confusion(self, weights: Many) -> Confusion:
        cells = np.bincount(self._cells, weights, minlength=len(self._names) * _OUTCOMES)
        return Confusion(*cells.reshape(-1, _OUTCOMES).astype(np.float64).T)

    def scores(self, weights: Many) -> Iterator[tuple[str, list[float]]]:
        """Yield each score of all buckets."""
        found = self._confusion(weights)
        return ((name, getattr(found, name).tolist()) for name in _SCORES)

    def named(self, kind: str, estimates: Mapping[_Name, Estimate]) -> Iterator[tuple[str, PairScores]]:
        """Yield the scores of buckets that have pairs."""
        found = self._confusion(np.ones(len(self._cells)))
        counts = np.stack([found.right, found.wrong, found.missed], axis=1).astype(np.int64)
        for bucket, (name, outcomes) in enumerate(zip(self._names, counts.tolist(), strict=True)):
            if any(outcomes):
                yield name, PairScores(*outcomes, *(estimates[kind, bucket, score] for score in _SCORES))


def one_bucket(pairs: Sequence[int] | Numbers) -> Bucketed:
    """Put all pairs into one bucket."""
    return np.zeros(len(pairs), dtype=np.int64), ("all",)
