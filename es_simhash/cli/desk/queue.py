"""Which pairs people look at, in which order, and what their answers say of the threshold.

A pair is a duplicate and the document that stands for it. First come the most doubtful pairs, those nearest to the
threshold; then one of each group, the least similar; then pairs drawn at random. Of these alone, as far as all were
judged from the first on, the precision follows: doubtful pairs are wrong more often than others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.humanize import counted
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups

_DOUBTFUL, _OF_GROUPS, _DRAWN = 200, 500, 200
_SEED = 7
# Fewer answers say nothing about all pairs, nor about the threshold.
_LEAST_DRAWN = 20
# The probability of 95% in standard deviations.
_Z = 1.96


@dataclass(frozen=True)
class Queue:
    """The ``duplicates`` to look at, by their positions, with the ``drawn`` ones among them, and their similarities."""

    duplicates: Integers
    drawn: Integers
    similarities: dict[int, float]
    threshold: float | None

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.duplicates)

    def next_after(self, place: int, judged: set[int]) -> int | None:
        """Return the place of the first pair from one on that nobody has judged; the search begins again at the end."""
        left = [each for each, duplicate in enumerate(self.duplicates.tolist()) if duplicate not in judged]
        return next((each for each in left if each >= place), left[0] if left else None)


def queue_of(groups: Groups[Corpus]) -> Queue:
    """Return the pairs of groups to look at."""
    duplicates, known = groups.known_similarities()
    threshold = groups.criteria.similarity
    chosen = np.random.default_rng(_SEED)
    drawn = chosen.permutation(len(duplicates))[:_DRAWN]
    doubt = np.zeros(len(duplicates)) if threshold is None else np.nan_to_num(np.abs(known - threshold), nan=np.inf)
    order = np.argsort(doubt, kind="stable")
    firsts = groups.firsts[duplicates[order]]
    _, least_alike = np.unique(firsts, return_index=True)
    of_groups = order[np.sort(least_alike)[:_OF_GROUPS]]
    every = np.concatenate([order[:_DOUBTFUL], of_groups, drawn]).astype(np.int64)
    _, first = np.unique(every, return_index=True)
    every = every[np.sort(first)]
    similarities = dict(zip(duplicates[every].tolist(), known[every].tolist(), strict=True))
    return Queue(duplicates[every].astype(np.int64), duplicates[drawn].astype(np.int64), similarities, threshold)


@dataclass(frozen=True)
class Answers:
    """What people have said of the pairs of a queue: of each duplicate whether it is one."""

    queue: Queue
    are_right: dict[int, bool]

    @property
    def wrong(self) -> list[int]:
        """The duplicates that are none."""
        return [duplicate for duplicate, is_right in self.are_right.items() if not is_right]

    @property
    def sentence(self) -> str:
        """What the answers come to, for people."""
        if not self.are_right:
            return "Nothing judged yet."
        said = f"Of {counted(len(self.are_right), 'judged pair')}, {len(self.wrong):,} {self._were} wrong"
        return f"{said}: {self._precision}. {self._advice}".strip()

    @property
    def _were(self) -> str:
        return "was" if len(self.wrong) == 1 else "were"

    @property
    def _precision(self) -> str:
        drawn = self._drawn
        if len(drawn) < _LEAST_DRAWN:
            return (
                f"what that says of all pairs is known when {_LEAST_DRAWN} random ones are judged ({len(drawn)} so far)"
            )
        low, high = wilson(sum(drawn), len(drawn))
        return f"precision {sum(drawn) / len(drawn):.2f} ({low:.2f}–{high:.2f}), by {len(drawn)} drawn at random"

    @property
    def _drawn(self) -> list[bool]:
        """The answers on drawn pairs, up to the first that was not judged: a sample that is free of doubt's order."""
        found = []
        for duplicate in self.queue.drawn.tolist():
            if duplicate not in self.are_right:
                break
            found.append(self.are_right[duplicate])
        return found

    @property
    def _advice(self) -> str:
        threshold, wrong = self.queue.threshold, len(self.wrong)
        if threshold is None or not wrong or len(self.are_right) < _LEAST_DRAWN:
            return ""
        known = [(self.queue.similarities[each], is_right) for each, is_right in self.are_right.items()]
        best = _best_threshold([pair for pair in known if not np.isnan(pair[0])], threshold)
        if best is None:
            return ""
        gone = sum(similarity < best and not is_right for similarity, is_right in known)
        lost = sum(similarity < best and is_right for similarity, is_right in known)
        costs = f", and {lost} right" if lost else ""
        return f"--similarity {best:.2f} would fit your answers: {gone} of {wrong} wrong ones{costs} go away."


def _best_threshold(known: Sequence[tuple[float, bool]], threshold: float) -> float | None:
    """Return the lowest threshold, in hundredths above the present one, at which the fewest answers are missed."""

    def missed(at: float) -> int:
        return sum((similarity >= at) != is_right for similarity, is_right in known)

    present = missed(threshold)
    candidates = (hundredths / 100 for hundredths in range(int(threshold * 100) + 1, 101))
    best = min(candidates, key=lambda at: (missed(at), at), default=None)
    return best if best is not None and missed(best) < present else None


def wilson(right: int, count: int) -> tuple[float, float]:
    """Return the interval in which a share lies with a probability of 95%.

    >>> wilson(95, 100)
    (0.8882, 0.9785)
    """
    share, spread = right / count, _Z**2 / count
    middle = share + spread / 2
    half = _Z * sqrt(share * (1 - share) / count + spread / (4 * count))
    return round((middle - half) / (1 + spread), 4), round((middle + half) / (1 + spread), 4)
