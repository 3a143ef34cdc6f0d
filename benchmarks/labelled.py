"""Labelled documents, and scores of the pairs and groups that contenders find among them.

A set is a folder with ``docs.jsonl.gz`` ({"id", "text", …}) and ``clusters.jsonl`` ({"cluster", "ids"}) or
``pairs.jsonl`` ({"a", "b", "label"}).
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.corpora import CORPORA_VARIABLE
from es_simhash._core.arrays import Integers, UnionFind
from es_simhash.documents.sources import Rejected
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.evaluation import ClusterScores, PairOutcomes, cluster_scores
from es_simhash.quality.labels import Label, Labels, Member, Truth, first_positions, read_labels, truth_of
from es_simhash.quality.scores import Bootstrap, Confusion, Estimate, by_identity, one_bucket

UNEQUAL = "unequal texts"


@dataclass(frozen=True)
class LabelledSet:
    """A set by its name: (id, text) pairs, and their labels."""

    name: str
    documents: list[tuple[str, str]]
    labels: Labels

    @property
    def ids(self) -> list[str]:
        """Ids of the documents."""
        return [id_ for id_, _ in self.documents]

    @property
    def texts(self) -> list[str]:
        """Texts of the documents."""
        return [text for _, text in self.documents]

    @cached_property
    def truth(self) -> Truth:
        """Truth according to the labels."""
        return truth_of(self.labels, self.ids)

    @cached_property
    def apart(self) -> Integers:
        """First equal text of each text."""
        return first_positions(self.texts)

    @cached_property
    def units(self) -> Integers:
        """The true cluster of each document, numbered from 0."""
        return np.unique(self.truth.units, return_inverse=True)[1].reshape(-1)

    def part(self, share: float, seed: int = 0) -> tuple[LabelledSet, LabelledSet]:
        """Divide the true clusters, single documents included, into a share and the rest."""
        units = np.unique(self.truth.units)
        chosen = np.random.default_rng(seed).permutation(units)[: round(share * len(units))]
        is_chosen = np.isin(self.truth.units, chosen)
        return self._of(is_chosen), self._of(~is_chosen)

    def _of(self, are_wanted: npt.NDArray[np.bool_]) -> LabelledSet:
        documents = [each for each, wanted in zip(self.documents, are_wanted.tolist(), strict=True) if wanted]
        ids = {id_ for id_, _ in documents}
        labels = [label for label in self.labels.labels if ids.issuperset(_ids(label))]
        return LabelledSet(self.name, documents, Labels(self.labels.kind, labels))


def _ids(label: Label) -> tuple[str, ...]:
    return (label.id,) if isinstance(label, Member) else (label.a, label.b)


def labelled_sets() -> Iterator[LabelledSet]:
    """Read all sets in the folder that the variable ES_SIMHASH_CORPORA names, if any."""
    for docs in sorted(Path(os.environ.get(CORPORA_VARIABLE, "/dev/null")).glob("*/docs.jsonl.gz")):
        labels = [docs.parent / name for name in ("clusters.jsonl", "pairs.jsonl")]
        there = next((path for path in labels if path.exists()), None)
        if there:
            yield LabelledSet(docs.parent.name, list(_documents(docs)), read_labels(str(there), _refuse))


def _documents(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            yield str(document["id"]), document["text"]


def _refuse(rejected: Rejected) -> None:
    raise ValueError(f"{rejected.file}:{rejected.line}: {rejected.reason}")


@dataclass(frozen=True)
class Best:
    """The highest F1 of all thresholds, and the threshold."""

    f1: float
    at: float


@dataclass(frozen=True)
class Found:
    """What a contender finds: pairs as numbers in ascending order, and the first document of each one's group.

    ``candidates`` is the share of duplicates that are met at all, whatever their score, if that is known; ``best``, if
    other thresholds were tried.
    """

    pairs: Numbers
    groups: Integers
    candidates: float | None = None
    best: Best | None = None


@dataclass(frozen=True)
class Ranked:
    """Pairs as numbers in ascending order, with scores; duplicates have at least ``threshold``.

    ``candidates`` is as in `Found`.
    """

    pairs: Numbers
    scores: npt.NDArray[np.float64]
    threshold: float
    candidates: float | None = None

    @classmethod
    def of(cls, scores: dict[tuple[int, int], float], threshold: float, truth: Truth) -> Ranked:
        """Rank pairs by their scores; all of them are candidates."""
        rows = np.array([(*sorted(pair), score) for pair, score in scores.items()]).reshape(-1, 3)
        pairs = pair_codes(rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64))
        order = np.argsort(pairs)
        met = np.isin(truth.positives, pairs)
        return cls(pairs[order], rows[order, 2], threshold, float(met.mean()) if len(met) else None)

    def found(self, on: LabelledSet) -> Found:
        """Take the pairs from the threshold on, and the groups that they connect."""
        pairs = self.pairs[self.scores >= self.threshold]
        union = UnionFind(len(on.documents))
        union.union(*positions(pairs))
        return Found(pairs, union.groups().firsts, self.candidates, self.best(on.truth))

    def best(self, truth: Truth) -> Best:
        """Find the threshold with the highest F1, by the labels."""
        known = truth.are_known(self.pairs)
        scores, are_right = self.scores[known], truth.are_positive(self.pairs[known])
        order = np.argsort(-scores, kind="stable")
        if not len(order):
            return Best(0.0, 1.0)
        right = np.cumsum(are_right[order]).astype(np.float64)
        wrong = np.arange(1, len(order) + 1) - right
        f1 = Confusion(right, wrong, len(truth.positives) - right).f1
        # Pairs of the same score are found together.
        is_last = np.append(np.diff(scores[order]) != 0, True)
        place = int(np.argmax(np.where(is_last, f1, -1)))
        return Best(float(f1[place]), float(scores[order[place]]))


@dataclass(frozen=True)
class Result:
    """Scores of a contender on a set; ``groups`` only where clusters are labelled."""

    precision: Estimate
    recall: Estimate
    f1: Estimate
    f1_of_unequal: float | None
    groups: ClusterScores | None
    candidates: float | None
    best: Best | None


def judged(on: LabelledSet, found: Found) -> Result:
    """Score what a contender found."""
    outcomes = PairOutcomes.of(found.pairs, on.truth)
    kinds = {"overall": one_bucket(outcomes.pairs), "equality": by_identity(on.apart, outcomes.pairs)}
    scores = outcomes.scores(on.units, kinds, Bootstrap())
    nothing = Estimate(None)
    overall, unequal = scores["overall"].get("all"), scores["equality"].get(UNEQUAL)
    return Result(
        overall.precision if overall else nothing,
        overall.recall if overall else nothing,
        overall.f1 if overall else nothing,
        unequal.f1.value if unequal else None,
        cluster_scores(on.units, found.groups, Bootstrap()) if on.labels.kind == "clusters" else None,
        found.candidates,
        found.best,
    )
