"""The rule by which labelled documents are best told apart: features, a measure, its threshold, and conditions.

Each rule is tried by cross-validation (Stone, "Cross-validatory choice and assessment of statistical predictions",
1974): true clusters are dealt into parts, for each part the threshold of the highest F1 on all others is taken, and
what the part has from there on is counted. So a rule that suits these labels by chance alone gains little. What makes a
rule more complicated must raise its F1 by more than such chance does (`SIMPLER`). The threshold is the one in the
middle of those of all parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash.errors import InputError
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.quality.measures import MEASURES, MeasuredPairs
from es_simhash.quality.scores import Confusion, Many
from es_simhash.quality.truth import Truth
from es_simhash.scheme.settings import Measure, Settings, Verification
from es_simhash.scheme.verification import Similarities
from es_simhash.scheme.verification_conditions import CONDITIONS, condition_values

# What a condition must add to the F1; and another measure than Jaccard, of which estimates tell nothing, so that the
# texts of all candidates are read.
SIMPLER, UNESTIMATED = 0.005, 0.01
# Of equally good levels of a condition the first is taken.
LEVELS = (0.5, 0.7, 0.3, 0.9)
_MOST_CONDITIONS = 2
_PARTS = 5
_STEPS = 200
# No threshold is lower: keys would let all meet.
_LEAST = 0.2

Conditions = Mapping[str, Any]
Counts = npt.NDArray[np.int64]
# Of each condition, how far each pair of documents agrees.
Agreements = Mapping[str, npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Rule:
    """What is near, with its F1 on parts of the labels that the threshold was not chosen on."""

    verification: Verification
    f1: float

    @property
    def conditions(self) -> int:
        """How many conditions there are beside similarity."""
        return sum(getattr(self.verification, name) > 0 for name in CONDITIONS)

    @property
    def merit(self) -> float:
        """The F1 less what has to be gained by what is complicated."""
        return self.f1 - SIMPLER * self.conditions - UNESTIMATED * (self.verification.measure != "jaccard")


class RuleSearch:
    """Tries rules on labelled documents."""

    def __init__(self, truth: Truth, seed: int = 0) -> None:
        self._truth = truth
        clusters, sizes = np.unique(truth.units[positions(truth.positives)[0]], return_counts=True)
        if len(clusters) < _PARTS:
            raise InputError(
                f"The labels tell of {len(clusters)} clusters of duplicates, of which no rule can be learnt. "
                f"Label {_PARTS} clusters at least, better some hundreds."
            )
        if truth.negatives is not None and not len(truth.negatives):
            raise InputError(
                "The labels name no pair that is none of duplicates, so that any rule suits. Label some with 0."
            )
        # Clusters are dealt in turn, the larger ones first, so that parts have about as many pairs.
        dealt = np.random.default_rng(seed).permutation(int(truth.units.max()) + 1) % _PARTS
        dealt[clusters[np.argsort(-sizes, kind="stable")]] = np.arange(len(clusters)) % _PARTS
        self._part_of_document = dealt[truth.units]
        self._positives = np.bincount(self._parts(truth.positives), minlength=_PARTS)

    def best(self, measured: MeasuredPairs, agreements: Agreements) -> Rule:
        """The best rule by the features that pairs were measured by."""
        known = self._truth.are_known(measured.pairs)
        pairs = measured.pairs[known]
        outcomes = 2 * self._parts(pairs) + self._truth.are_positive(pairs)
        held = {name: each[known] for name, each in agreements.items()}
        rules = [
            rule for name in MEASURES for rule in self._rules(name, outcomes, measured.similarities[name][known], held)
        ]
        return max(rules, key=lambda rule: rule.merit)

    def _parts(self, pairs: Numbers) -> Counts:
        """The part of each pair, which is that of its first document."""
        parts: Counts = self._part_of_document[positions(pairs)[0]]
        return parts

    def _rules(
        self, measure: Measure, outcomes: Counts, similarities: Similarities, held: Agreements
    ) -> Iterator[Rule]:
        steps = np.floor(similarities * _STEPS + 1e-9).astype(np.int64)
        cells = outcomes * (_STEPS + 1) + steps
        for conditions in _choices():
            met = np.ones(len(cells), dtype=np.bool_)
            for name, least in conditions.items():
                met &= held[name] >= least
            counts = np.bincount(cells[met], minlength=2 * _PARTS * (_STEPS + 1)).reshape(_PARTS, 2, _STEPS + 1)
            threshold, f1 = self._tried(counts)
            yield Rule(replace(Verification(threshold, measure), **conditions), f1)

    def _tried(self, counts: Counts) -> tuple[float, float]:
        """The threshold of a rule, and its F1, by how many wrong and right pairs there are at each step."""
        # From each step on, in each part.
        wrong, right = np.cumsum(counts[:, :, ::-1], axis=2)[:, :, ::-1].transpose(1, 0, 2)
        f1 = _f1(_others(right), _others(wrong), _others(self._positives)[:, None])
        f1[:, : round(_LEAST * _STEPS)] = -1
        steps = np.array([_middle(each) for each in f1])
        parts = np.arange(_PARTS)
        held_out = _f1(right[parts, steps].sum(), wrong[parts, steps].sum(), self._positives.sum())
        return float(np.median(steps)) / _STEPS, float(held_out)


def _others(of_parts: Counts) -> Counts:
    """The sums of all other parts."""
    others: Counts = of_parts.sum(axis=0) - of_parts
    return others


def _f1(right: Counts, wrong: Counts, positives: Counts) -> Many:
    found = [np.asarray(each, dtype=np.float64) for each in (right, wrong, positives - right)]
    return np.nan_to_num(Confusion(*found).f1)


def _middle(f1: Many) -> int:
    """The step of the highest F1; of several the one in the middle."""
    highest = np.flatnonzero(f1 == f1.max())
    return int(highest[len(highest) // 2])


def _choices() -> Iterator[Conditions]:
    for count in range(_MOST_CONDITIONS + 1):
        for names in combinations(CONDITIONS, count):
            for levels in product(LEVELS, repeat=count):
                yield dict(zip(names, levels, strict=True))


def agreements_of(settings: Settings, texts: Sequence[str], pairs: Numbers) -> Agreements:
    """How far pairs agree in what each condition compares."""
    both = np.stack(positions(pairs))
    return {name: condition_values(settings, name, texts, both) for name in CONDITIONS}
