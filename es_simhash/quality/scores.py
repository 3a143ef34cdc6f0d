"""Scores of pairs and clusterings against the truth.

For pairs, with TP right, FP wrong and FN missed::

    precision = TP / (TP + FP)    recall = TP / (TP + FN)    F1 = 2 TP / (2 TP + FP + FN)

For a found and a true clustering of n documents, with N = n (n - 1) / 2 pairs:

closure               precision, recall and F1 of all pairs within groups, also those that only others connect
adjusted Rand index   (TP - E) / ((A + B) / 2 - E) with A = TP + FN true pairs, B = TP + FP found ones and E = A B / N,
                      so that chance scores 0 (Hubert, Arabie, "Comparing partitions", 1985)
B-cubed               the mean over documents of the share of a document's found cluster that is in its true one
                      (precision), and of its true cluster that is in its found one (recall); F1 is their harmonic mean
                      (Bagga, Baldwin, "Entity-based cross-document coreferencing", 1998)

Undefined scores are NaN: a precision if nothing was found, a recall if there was nothing to find.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.batches import counted_each
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.stored_rows import Numbers

# A number for each of several samples, or one.
Many = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Confusion:
    """The numbers of right, wrong and missed pairs, in one sample or in several."""

    right: Many
    wrong: Many
    missed: Many

    @property
    def precision(self) -> Many:
        """The share of found pairs that are right."""
        return _share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> Many:
        """The share of true pairs that were found."""
        return _share(self.right, self.right + self.missed)

    @property
    def f1(self) -> Many:
        """The harmonic mean of both."""
        return _share(2 * self.right, 2 * self.right + self.wrong + self.missed)


def adjusted_rand_index(found: Confusion, documents: Many) -> Many:
    """Return the adjusted Rand index from the pairs within clusters; 1 if all clusters have one document."""
    all_pairs = documents * (documents - 1) / 2
    true, predicted = found.right + found.missed, found.right + found.wrong
    expected = np.nan_to_num(_share(true * predicted, all_pairs))  # a document alone makes no pairs
    highest = (true + predicted) / 2
    with np.errstate(invalid="ignore"):
        return np.where(highest == expected, 1.0, _share(found.right - expected, highest - expected))


@dataclass(frozen=True, eq=False)
class Contingency:
    """The number of documents that each true cluster has in each found one; only cells that have any."""

    true: Integers
    found: Integers
    counts: Integers

    @classmethod
    def of(cls, true: Integers, found: Integers) -> Contingency:
        """Count two clusterings, given as each document's cluster number, counted from 0."""
        columns = int(found.max(initial=-1)) + 1
        cells, counts = np.unique(true * columns + found, return_counts=True)
        return cls(cells // columns, cells % columns, counts)

    def pairs(self, times: Many) -> Confusion:
        """Count pairs within clusters, where each true cluster occurs as that many separate clusters."""
        counts = self.counts.astype(np.float64)
        own = times[self.true]
        right = (own * counts * (counts - 1) / 2).sum()
        sizes = np.bincount(self.true, counts, len(times))
        true = (times * sizes * (sizes - 1) / 2).sum()
        # Pairs of unequal true clusters in a found one: half of the square of the sum less the sum of squares.
        together = np.bincount(self.found, own * counts)
        apart = np.bincount(self.found, (own * counts) ** 2)
        wrong = ((together**2 - apart) / 2).sum()
        return Confusion(*map(np.asarray, (right, wrong, true - right)))

    def b_cubed(self) -> tuple[Many, Many]:
        """Return for each true cluster the sums of its documents' precision and recall."""
        counts = self.counts.astype(np.float64)
        true_sizes = np.bincount(self.true, counts)
        found_sizes = np.bincount(self.found, counts)
        precision = np.bincount(self.true, counts * counts / found_sizes[self.found])
        recall = np.bincount(self.true, counts * counts / true_sizes[self.true])
        return precision.astype(np.float64), recall.astype(np.float64)


def harmonic_mean(a: Many, b: Many) -> Many:
    """Return the harmonic mean of two numbers."""
    return _share(2 * a * b, a + b)


def _share(part: Many, whole: Many) -> Many:
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Many = np.asarray(part / whole)
    return share


ROUNDS = 200
_BETWEEN = (2.5, 97.5)

# The name of a score.
Name = TypeVar("Name")


@dataclass(frozen=True)
class Estimate:
    """A score on all documents, and the ends of its interval; None if undefined or not requested."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Bootstrap:
    """The number of samples (``rounds``) and their ``seed``; no intervals for 0 rounds."""

    rounds: int = ROUNDS
    seed: int = 0

    def samples(self, clusters: int) -> Iterator[Many]:
        """Draw the samples: how often each cluster occurs in each."""
        chosen = np.random.default_rng(self.seed)
        for _ in range(self.rounds):
            drawn = chosen.integers(0, clusters, clusters)
            yield np.bincount(drawn, minlength=clusters).astype(np.float64)

    def estimates(self, clusters: int, score: Callable[[Many], Mapping[Name, float]]) -> dict[Name, Estimate]:
        """Estimate scores with their intervals; ``score`` computes them for given numbers of each cluster."""
        values = score(np.ones(clusters))
        samples = [score(times) for times in counted_each("Sampling", self.samples(clusters), self.rounds, "samples")]
        return {name: _estimate(value, [sample[name] for sample in samples]) for name, value in values.items()}


def _estimate(value: float, samples: list[float]) -> Estimate:
    defined = [sample for sample in samples if not np.isnan(sample)]
    if np.isnan(value) or not defined:
        return Estimate(None if np.isnan(value) else value)
    low, high = np.percentile(defined, _BETWEEN).tolist()
    return Estimate(value, low, high)


def times_of_pairs(times: Many, first: Integers, second: Integers) -> Many:
    """Return how often pairs count whose documents are in these clusters."""
    return np.where(first == second, times[first], times[first] * times[second])


Axis: TypeAlias = Literal["similarity", "distance"]

_STEP = 0.005
_DIGITS = 3


@dataclass(frozen=True)
class Point:
    """The scores of a threshold; None where a score is undefined."""

    threshold: float
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class Curve:
    """Points in ascending order of their thresholds: minimum similarities, or maximum distances."""

    JSON = ("axis", "best", "points")

    axis: Axis
    points: Sequence[Point]

    @property
    def best(self) -> Point | None:
        """The point with the highest F1, the middle one of several; None if no point has an F1."""
        highest = max((point.f1 for point in self.points if point.f1 is not None), default=None)
        same = [point for point in self.points if highest is not None and point.f1 == highest]
        return same[len(same) // 2] if same else None

    def at(self, threshold: float) -> Point | None:
        """Return the point at a threshold, or None if none is within half a step."""
        near = min(self.points, key=lambda point: abs(point.threshold - threshold), default=None)
        return near if near and abs(near.threshold - threshold) <= _STEP / 2 else None


def similarity_curve(
    similarities: npt.NDArray[np.float64], are_right: npt.NDArray[np.bool_], positives: int, least: float
) -> Curve:
    """Return the curve of pairs with these similarities, from the ``least`` threshold in steps of 0.005."""
    steps = np.arange(round(least / _STEP), round(1 / _STEP) + 1) * _STEP
    thresholds = np.round(steps, _DIGITS)
    return Curve("similarity", _points(thresholds, similarities, are_right, positives))


def distance_curve(
    distances: npt.NDArray[np.int64], are_right: npt.NDArray[np.bool_], positives: int, most: int
) -> Curve:
    """Return the curve of pairs with these distances, for each number of bits up to ``most``."""
    bits = np.arange(most, -1, -1)
    points = _points(-bits.astype(np.float64), -distances.astype(np.float64), are_right, positives)
    bits_of = [Point(-point.threshold, point.precision, point.recall, point.f1) for point in reversed(points)]
    return Curve("distance", bits_of)


def _points(
    thresholds: npt.NDArray[np.float64],
    values: npt.NDArray[np.float64],
    are_right: npt.NDArray[np.bool_],
    positives: int,
) -> list[Point]:
    """Score each of ascending thresholds."""
    found = [_from(thresholds, values[chosen]) for chosen in (are_right, ~are_right)]
    right, wrong = (each.astype(np.float64) for each in found)
    scores = Confusion(right, wrong, positives - right)
    rows = (thresholds, scores.precision, scores.recall, scores.f1)
    return [Point(point[0], *map(number, point[1:])) for point in zip(*(row.tolist() for row in rows), strict=True)]


def _from(thresholds: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Count the values at or above each threshold."""
    counts: npt.NDArray[np.int64] = len(values) - np.searchsorted(np.sort(values), thresholds, side="left")
    return counts


def number(value: float) -> float | None:
    """Return the number, or None for NaN."""
    return None if np.isnan(value) else value


# The bucket number of each pair, and the names of the buckets.
Bucketed: TypeAlias = tuple[npt.NDArray[np.int64], Sequence[str]]

_LENGTHS = (100, 300, 1_000, 3_000)
LENGTH_NAMES = ("0–100", "100–300", "300–1k", "1k–3k", "3k+")

_SCRIPTS = {"CJK UNIFIED": "Han", "CJK COMPATIBILITY": "Han", "IDEOGRAPHIC": "Han", "HIRAGANA": "Kana"}
_SCRIPTS |= {"KATAKANA": "Kana", "HALFWIDTH KATAKANA": "Kana", "HANGUL": "Hangul", "LATIN": "Latin"}
SCRIPT_NAMES = ("Han", "Kana", "Hangul", "Latin", "other", "mixed", "none")


# A letter of these scripts counts as five others: it says about as much as a short word.
_DENSE, _LETTERS_OF_A_WORD = {"Han", "Kana", "Hangul"}, 5


def script_of(text: str) -> str:
    """Return the script of more than half of a text's letters; ``mixed`` for no such script, ``none`` for no letters.

    Letters of Han, Kana and Hangul count five times: so a Chinese text with some code or names in it stays Chinese.
    """
    scripts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            script = _script(character)
            scripts[script] += count * (_LETTERS_OF_A_WORD if script in _DENSE else 1)
    if not scripts:
        return "none"
    [(script, count)] = scripts.most_common(1)
    return script if 2 * count > scripts.total() else "mixed"


@cache
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").removeprefix("FULLWIDTH ")
    return next((script for prefix, script in _SCRIPTS.items() if name.startswith(prefix)), "other")


def by_length(texts: Iterable[str], pairs: Numbers) -> Bucketed:
    """Bucket pairs by the number of characters in the shorter text."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    shorter = np.minimum(*(lengths[side] for side in positions(pairs)))
    return np.searchsorted(_LENGTHS, shorter, side="right"), LENGTH_NAMES


def by_script(texts: Iterable[str], pairs: Numbers) -> Bucketed:
    """Bucket pairs by the script of both texts; pairs of two scripts are ``mixed``."""
    numbers = {name: number for number, name in enumerate(SCRIPT_NAMES)}
    scripts = np.array([numbers[script_of(text)] for text in texts], dtype=np.int64)
    first, second = (scripts[side] for side in positions(pairs))
    return np.where(first == second, first, numbers["mixed"]), SCRIPT_NAMES


def by_identity(originals: Integers, pairs: Numbers) -> Bucketed:
    """Bucket pairs by whether their texts are equal, by the `first_positions` of the texts."""
    first, second = (originals[side] for side in positions(pairs))
    return (first == second).astype(np.int64), ("unequal texts", "equal texts")


def one_bucket(pairs: Numbers) -> Bucketed:
    """Put all pairs into one bucket."""
    return np.zeros(len(pairs), dtype=np.int64), ("all",)
