"""The rule that best separates duplicates on labelled documents: features, a measure, its threshold, and conditions.

Rules are cross-validated (Stone, "Cross-validatory choice and assessment of statistical predictions", 1974): true
clusters, or labelled pairs where there are few clusters, are dealt into parts, and each part is scored at the threshold
with the highest F1 on the other parts. So a rule that fits these labels by chance gains little. A rule that is more
complicated than the default must raise the F1 by more than chance does (`SIMPLER`). The threshold is the median over
the parts. Labels of one kind, duplicates or others, fit many thresholds: of these it is the one next to the default.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.humanize import counted
from es_simhash.errors import InputError
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.quality.measures import ByMeasure
from es_simhash.quality.scores import Confusion, Many
from es_simhash.quality.truth import Truth
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.conditions import CONDITIONS, condition_values, traits_of
from es_simhash.scheme.verdict.measures import Similarities
from es_simhash.scheme.verdict.verification import LEVELS as NAMED
from es_simhash.scheme.verdict.verification import Measure, Verification
from es_simhash.text.hashing import poly64

# The F1 that a condition must add; and that a measure other than Jaccard must add, since no estimate exists for it.
SIMPLER, UNESTIMATED = 0.005, 0.01
# The first of equally good levels of a condition is chosen.
LEVELS = (0.5, 0.7, 0.3, 0.9)
MEASURES: tuple[Measure, ...] = ("jaccard", "overlap")
_MOST_CONDITIONS = 2
_PARTS = 5
_STEPS = 200
# The lowest threshold: below it, all pairs share keys.
_LEAST = 0.2
# Fewer clusters of duplicates choose a rule by chance.
_FEW = 20

Conditions = Mapping[str, Any]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


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
        """The F1 less the penalties for complexity; the default rule, at any similarity, has none."""
        is_unusual = self.verification.measure != "jaccard" and not is_default(self.verification)
        return self.f1 - SIMPLER * self.conditions - UNESTIMATED * is_unusual


def is_default(verification: Verification) -> bool:
    """Return whether this is the default rule, at whatever similarity and with whatever conditions."""
    return (verification.measure, verification.features) == ("balanced", "text")


@dataclass(frozen=True, eq=False)
class Way:
    """A rule but for its minimum similarity and conditions, and the ``similarities`` that it compares."""

    verification: Verification
    similarities: Similarities

    @classmethod
    def of_measure(cls, name: Measure, similarities: ByMeasure) -> Way:
        """Return the way by a measure alone."""
        return cls(Verification.of_fingerprints(NAMED[name]["near"], name, "rarity"), similarities[name])


class Agreements:
    """How far pairs agree in what each condition compares; texts are read once."""

    def __init__(self, settings: Settings, texts: Iterable[str]) -> None:
        self._traits = traits_of(settings, CONDITIONS, texts)

    def of(self, pairs: Numbers) -> Mapping[str, npt.NDArray[np.float64]]:
        """Return the agreement of each pair, by the names of conditions."""
        both = np.stack(positions(pairs))
        return {name: condition_values(name, self._traits[name], both) for name in CONDITIONS}


class RuleSearch:
    """Tries rules on labelled documents."""

    def __init__(self, truth: Truth, seed: int = 0) -> None:
        self._truth = truth
        clusters, sizes = np.unique(truth.units[positions(truth.positives)[0]], return_counts=True)
        others = 0 if truth.negatives is None else len(truth.negatives)
        if len(truth.positives) + others < _PARTS:
            raise InputError(
                f"The labels have {counted(len(truth.positives) + others, 'pair')}, too few to learn a rule from. "
                f"Label at least {_PARTS} pairs, better some hundreds."
            )
        self._is_one_sided = not len(truth.positives) or (truth.negatives is not None and not others)
        self._clusters = len(clusters)
        # Clusters are dealt in turn, the larger ones first, so that parts have about as many pairs.
        dealt = np.random.default_rng(seed).permutation(int(truth.units.max()) + 1) % _PARTS
        dealt[clusters[np.argsort(-sizes, kind="stable")]] = np.arange(len(clusters)) % _PARTS
        self._part_of_document = dealt[truth.units]
        self._positives = np.bincount(self._parts(truth.positives), minlength=_PARTS)

    @property
    def doubts(self) -> str:
        """The warning that a rule means little by these labels; empty if they are enough."""
        if self._clusters >= _FEW and not self._is_one_sided:
            return ""
        negatives = self._truth.negatives
        others = "" if negatives is None else f", and {counted(len(negatives), 'pair')} of others"
        near = f"{counted(len(self._truth.positives), 'pair')} of duplicates in {counted(self._clusters, 'cluster')}"
        return (
            f"The labels have {near}{others}: rules fit so few by chance."
            " Label some hundreds of both, and measure the scheme on labels kept aside."
        )

    def best(self, pairs: Numbers, ways: Sequence[Way], agreed: Mapping[str, Similarities]) -> tuple[Rule, Flags]:
        """Return the best rule on these pairs, and which of them are near by it."""
        known = self._truth.are_known(pairs)
        outcomes = 2 * self._parts(pairs[known]) + self._truth.are_positive(pairs[known])
        of_known = {name: each[known] for name, each in agreed.items()}
        rules = [(rule, way) for way in ways for rule in self._rules(way, way.similarities[known], outcomes, of_known)]
        rule, way = max(rules, key=lambda each: each[0].merit)
        near: Flags = way.similarities >= rule.verification.similarity
        for name, agreement in agreed.items():
            near &= agreement >= getattr(rule.verification, name)
        return rule, near

    def _parts(self, pairs: Numbers) -> Counts:
        """Return the part of each pair: that of its first document, or its own if there are few clusters."""
        if self._clusters >= _PARTS:
            parts: Counts = self._part_of_document[positions(pairs)[0]]
            return parts
        parts = (poly64.fmix64(pairs) % np.uint64(_PARTS)).astype(np.int64)
        positives = self._truth.are_positive(pairs)
        parts[positives] = np.searchsorted(self._truth.positives, pairs[positives]) % _PARTS
        return parts

    def _rules(
        self, way: Way, similarities: Similarities, outcomes: Integers, agreed: Mapping[str, Similarities]
    ) -> Iterator[Rule]:
        cells = outcomes * (_STEPS + 1) + np.floor(similarities * _STEPS + 1e-9).astype(np.int64)
        for conditions in _choices():
            met = np.ones(len(cells), dtype=np.bool_)
            for name, least in conditions.items():
                met &= agreed[name] >= least
            counts = np.bincount(cells[met], minlength=2 * _PARTS * (_STEPS + 1)).reshape(_PARTS, 2, _STEPS + 1)
            threshold, f1 = self._tried(counts, round(way.verification.similarity * _STEPS))
            yield Rule(replace(way.verification, similarity=threshold, **conditions), f1)

    def _tried(self, counts: Counts, usual: int) -> tuple[float, float]:
        """Return the threshold of a rule and its F1, from the numbers of wrong and right pairs at each step."""
        # At or above each step, in each part.
        wrong, right = np.cumsum(counts[:, :, ::-1], axis=2)[:, :, ::-1].transpose(1, 0, 2)
        f1 = _f1(_others(right), _others(wrong), _others(self._positives)[:, None])
        if not self._positives.any():
            f1 = -_others(wrong).astype(np.float64)
        f1[:, : round(_LEAST * _STEPS)] = -np.inf
        steps = np.array([_next_to(usual, each) if self._is_one_sided else _middle(each) for each in f1])
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


def _next_to(step: int, f1: Many) -> int:
    """Return the step of the highest F1; of several, the one next to this step."""
    highest = np.flatnonzero(f1 == f1.max())
    return int(highest[np.abs(highest - step).argmin()])


def _choices() -> Iterator[Conditions]:
    for count in range(_MOST_CONDITIONS + 1):
        for names in combinations(CONDITIONS, count):
            for levels in product(LEVELS, repeat=count):
                yield dict(zip(names, levels, strict=True))
