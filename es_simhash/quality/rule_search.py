"""The rule that best separates duplicates on labelled documents: features, a measure, its threshold, and conditions.

Rules are cross-validated (Stone, "Cross-validatory choice and assessment of statistical predictions", 1974): true
clusters are dealt into parts, and each part is scored at the threshold with the highest F1 on the other parts. So a
rule that fits these labels by chance gains little. A more complicated rule must raise the F1 by more than chance does
(`SIMPLER`). The threshold is the median over the parts.
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
from es_simhash.quality.measures import MeasuredPairs
from es_simhash.quality.scores import Confusion, Many
from es_simhash.quality.truth import Truth
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.conditions import CONDITIONS, condition_values
from es_simhash.scheme.verdict.measures import Similarities
from es_simhash.scheme.verdict.verification import Measure, Verification

# The F1 that a condition must add; and that a measure other than Jaccard must add, since no estimate exists for it and
# the texts of all candidates are read.
SIMPLER, UNESTIMATED = 0.005, 0.01
# The first of equally good levels of a condition is chosen.
LEVELS = (0.5, 0.7, 0.3, 0.9)
MEASURES: tuple[Measure, ...] = ("jaccard", "overlap")
_MOST_CONDITIONS = 2
_PARTS = 5
_STEPS = 200
# The lowest threshold: below it, all pairs share keys.
_LEAST = 0.2

Conditions = Mapping[str, Any]
Counts = npt.NDArray[np.int64]
# The agreement of each pair, by the names of conditions.
Agreements = Mapping[str, npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Rule:
    """A verification with its F1 on parts of the labels held out of the choice of its threshold."""

    verification: Verification
    f1: float

    @property
    def conditions(self) -> int:
        """The number of conditions on top of similarity."""
        return sum(getattr(self.verification, name) > 0 for name in CONDITIONS)

    @property
    def merit(self) -> float:
        """The F1 less the penalties for complexity."""
        return self.f1 - SIMPLER * self.conditions - UNESTIMATED * (self.verification.measure != "jaccard")


class RuleSearch:
    """Tries rules on labelled documents."""

    def __init__(self, truth: Truth, seed: int = 0) -> None:
        self._truth = truth
        clusters, sizes = np.unique(truth.units[positions(truth.positives)[0]], return_counts=True)
        if len(clusters) < _PARTS:
            raise InputError(
                f"The labels have {len(clusters)} clusters of duplicates, too few to learn a rule from. "
                f"Label at least {_PARTS} clusters, better some hundreds."
            )
        if truth.negatives is not None and not len(truth.negatives):
            raise InputError("The labels have no pair that is not of duplicates, so any rule fits. Label some with 0.")
        # Clusters are dealt in turn, the larger ones first, so that parts have about as many pairs.
        dealt = np.random.default_rng(seed).permutation(int(truth.units.max()) + 1) % _PARTS
        dealt[clusters[np.argsort(-sizes, kind="stable")]] = np.arange(len(clusters)) % _PARTS
        self._part_of_document = dealt[truth.units]
        self._positives = np.bincount(self._parts(truth.positives), minlength=_PARTS)

    def best(self, measured: MeasuredPairs, agreements: Agreements) -> Rule:
        """Return the best rule for the features that pairs were measured by."""
        known = self._truth.are_known(measured.pairs)
        pairs = measured.pairs[known]
        outcomes = 2 * self._parts(pairs) + self._truth.are_positive(pairs)
        agreed = {name: each[known] for name, each in agreements.items()}
        rules = [
            rule
            for name in MEASURES
            for rule in self._rules(name, outcomes, measured.similarities[name][known], agreed)
        ]
        return max(rules, key=lambda rule: rule.merit)

    def _parts(self, pairs: Numbers) -> Counts:
        """Return the part of each pair: that of its first document."""
        parts: Counts = self._part_of_document[positions(pairs)[0]]
        return parts

    def _rules(
        self, measure: Measure, outcomes: Counts, similarities: Similarities, agreed: Agreements
    ) -> Iterator[Rule]:
        steps = np.floor(similarities * _STEPS + 1e-9).astype(np.int64)
        cells = outcomes * (_STEPS + 1) + steps
        for conditions in _choices():
            met = np.ones(len(cells), dtype=np.bool_)
            for name, least in conditions.items():
                met &= agreed[name] >= least
            counts = np.bincount(cells[met], minlength=2 * _PARTS * (_STEPS + 1)).reshape(_PARTS, 2, _STEPS + 1)
            threshold, f1 = self._tried(counts)
            yield Rule(replace(Verification.of_fingerprints(threshold, measure, "rarity"), **conditions), f1)

    def _tried(self, counts: Counts) -> tuple[float, float]:
        """Return the threshold of a rule and its F1, from the numbers of wrong and right pairs at each step."""
        # At or above each step, in each part.
        wrong, right = np.cumsum(counts[:, :, ::-1], axis=2)[:, :, ::-1].transpose(1, 0, 2)
        f1 = _f1(_others(right), _others(wrong), _others(self._positives)[:, None])
        f1[:, : round(_LEAST * _STEPS)] = -1
        steps = np.array([_middle(each) for each in f1])
        parts = np.arange(_PARTS)
        held_out = _f1(right[parts, steps].sum(), wrong[parts, steps].sum(), self._positives.sum())
        return float(np.median(steps)) / _STEPS, float(held_out)


def _others(of_parts: Counts) -> Counts:
    """Return for each part the sum of all others."""
    others: Counts = of_parts.sum(axis=0) - of_parts
    return others


def _f1(right: Counts, wrong: Counts, positives: Counts) -> Many:
    found = [np.asarray(each, dtype=np.float64) for each in (right, wrong, positives - right)]
    return np.nan_to_num(Confusion(*found).f1)


def _middle(f1: Many) -> int:
    """Return the step of the highest F1, the middle one of several."""
    highest = np.flatnonzero(f1 == f1.max())
    return int(highest[len(highest) // 2])


def _choices() -> Iterator[Conditions]:
    for count in range(_MOST_CONDITIONS + 1):
        for names in combinations(CONDITIONS, count):
            for levels in product(LEVELS, repeat=count):
                yield dict(zip(names, levels, strict=True))


def agreements_of(settings: Settings, texts: Sequence[str], pairs: Numbers) -> Agreements:
    """Return how far pairs agree in what each condition compares."""
    both = np.stack(positions(pairs))
    return {name: condition_values(settings, name, texts, both) for name in CONDITIONS}
