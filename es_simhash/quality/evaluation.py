"""Evaluates a deduplication on labelled documents, and finds the worst errors.

These are the most similar wrong pairs, and the least similar missed pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Codes, Integers
from es_simhash._core.batches import OnProgress, counted_each
from es_simhash._core.humanize import counted, score_text, shortened
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import Rows, Shown, as_json
from es_simhash.documents.given import Documents, given_documents
from es_simhash.documents.sources import OnReject
from es_simhash.groups.groups import Counts
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions, options_of
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.ceiling import KeyMatcher, SimilarPairs, similar_pairs
from es_simhash.quality.labels import Labels, PredictedPairs, StoredDocuments, Truth, predict_pairs, stored, truth_of
from es_simhash.quality.scores import (
    Bootstrap,
    Bucketed,
    Confusion,
    Contingency,
    Curve,
    Estimate,
    Many,
    Point,
    adjusted_rand_index,
    by_identity,
    by_length,
    by_script,
    distance_curve,
    harmonic_mean,
    number,
    one_bucket,
    similarity_curve,
    times_of_pairs,
)
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme, scheme_of
from es_simhash.scheme.settings import Layout, Settings
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier, plain
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.common import standard_error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from es_simhash.groups.keywords import GroupKeywords

# The lowest threshold of similarity curves: below it, too many documents share keys for all to be compared.
LEAST = 0.3
# Characters of the texts of errors in JSON.
_EXCERPT = 300
EXAMPLES = 10
# The most missed pairs to compare, and the most bytes of their texts; of more, evenly spread ones are taken.
_MOST_MISSED, _MOST_BYTES = 20_000, 200_000_000


@dataclass(frozen=True)
class ClusterScores:
    """Scores of the groups (see `es_simhash.quality.scores`); ``closure`` scores are of all pairs within groups."""

    closure_precision: Estimate
    closure_recall: Estimate
    closure_f1: Estimate
    adjusted_rand_index: Estimate
    b_cubed_precision: Estimate
    b_cubed_recall: Estimate
    b_cubed_f1: Estimate


@dataclass(frozen=True)
class Ceiling:
    """The scores of the exact Jaccard similarity of the same features, by its threshold (``curve``).

    ``is_complete`` unless some pairs may be missing, as of very many texts. ``candidates`` is the share of pairs at or
    above the similarity ``threshold`` that meet by the scheme's keys, and ``true_candidates`` that of the duplicates:
    an index has no higher recall.
    """

    JSON = ("best", "is_complete", "threshold", "candidates", "true_candidates")

    curve: Curve
    is_complete: bool
    threshold: float | None
    candidates: float | None
    true_candidates: float | None

    @property
    def best(self) -> Point | None:
        """The point with the highest F1."""
        return self.curve.best


@dataclass(frozen=True)
class PairError:
    """A wrong or missed pair: its positions, and how near it is.

    ``similarity`` is the decisive one; None if it is below the lowest threshold, or does not count. An estimate has a
    ``standard_error``. ``distance`` is in bits, None if the scheme has no SimHash; ``jaccard`` is the exact Jaccard
    similarity of the features. ``keys_meet`` says whether an index would compare the pair.
    """

    first: int
    second: int
    similarity: float | None
    standard_error: float | None
    distance: int | None
    jaccard: float
    keys_meet: bool


@dataclass(frozen=True, eq=False)
class Evaluation(Rows):
    """The results; ``ids`` are those of all documents, by whose positions pairs are given.

    ``texts`` has those of the documents in errors, by position. ``buckets`` are keyed by kind and name. ``clusters`` is
    None if pairs were labelled. ``wrong`` and ``missed`` are the worst errors. ``out_of_scope`` counts the duplicates
    that were missed because they are not in scope.

    It is a table of Arrow, too (``to_arrow()``), with a row for each score.
    """

    JSON = (
        "counts",
        "truth",
        "out_of_scope",
        "criteria",
        "bootstrap",
        "pairs",
        "not_labelled",
        "clusters",
        "buckets",
        "curves",
        "ceiling",
        "false_positives",
        "false_negatives",
    )

    settings: Settings
    options: GroupOptions
    ids: Sequence[str]
    texts: Mapping[int, str]
    truth: Truth
    counts: Counts
    found: PredictedPairs
    judged: PairOutcomes
    bootstrap: Bootstrap
    pairs: PairScores
    clusters: ClusterScores | None
    buckets: Mapping[str, Mapping[str, PairScores]]
    curves: Sequence[Curve]
    ceiling: Ceiling
    wrong: Sequence[PairError]
    missed: Sequence[PairError]
    out_of_scope: int = 0

    @property
    def criteria(self) -> Criteria:
        """The criteria for near-duplicates."""
        return self.options.criteria(self.settings)

    @property
    def not_labelled(self) -> int:
        """The number of pairs that were found without a label."""
        return self.judged.not_labelled

    @property
    def false_positives(self) -> list[Json]:
        """The worst pairs that were found wrongly, with their ids and the beginnings of their texts."""
        return [self._described(error) for error in self.wrong]

    @property
    def false_negatives(self) -> list[Json]:
        """The worst pairs that were missed, with their ids and the beginnings of their texts."""
        return [self._described(error) for error in self.missed]

    def _described(self, error: PairError) -> Json:
        places = {"first": error.first, "second": error.second}
        ends = {name: {"id": self.ids[at], "text": self.texts[at][:_EXCERPT]} for name, at in places.items()}
        return {**as_json(error), **ends}

    def found_pairs(self) -> Iterator[Json]:
        """Yield each pair that was found; ``is_right`` is None if it was not labelled."""
        found, truth = self.found, self.truth
        known, right = truth.are_known(found.pairs), truth.are_positive(found.pairs)
        columns = (*positions(found.pairs), known, right, found.similarities, found.distances)
        for a, b, is_known, is_right, similarity, distance in zip(*(each.tolist() for each in columns), strict=True):
            yield {
                "first": self.ids[a],
                "second": self.ids[b],
                "is_right": is_right if is_known else None,
                "similarity": None if np.isnan(similarity) else similarity,
                "distance": distance if distance >= 0 else None,
            }

    @property
    def named_scores(self) -> dict[str, Estimate]:
        """The scores of all pairs, and of groups where clusters were labelled, by names for people."""
        pairs, clusters = self.pairs, self.clusters
        scores = {"precision of pairs": pairs.precision, "recall of pairs": pairs.recall, "F1 of pairs": pairs.f1}
        return scores | ({name: getattr(clusters, field) for field, name in _NAMES.items()} if clusters else {})

    @property
    def columns(self) -> Mapping[str, str]:
        """The columns of the table, and their types as Arrow calls them."""
        return {
            **dict.fromkeys(("kind", "name", "score"), "string"),
            **dict.fromkeys(("value", "low", "high"), "double"),
        }

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield each score, and each count, of all pairs, of groups, and of each kind of pairs."""
        yield from _score_rows("pairs", None, self.pairs)
        if self.clusters:
            yield from _score_rows("clusters", None, self.clusters)
        for kind, buckets in self.buckets.items():
            for name, scores in buckets.items():
                yield from _score_rows(kind, name, scores)

    def shown(self) -> Shown:
        """Return the scores, and the worst errors' ids, for people."""
        pairs = self.pairs
        found = f"{pairs.right:,} right, {pairs.wrong:,} wrong, {pairs.missed:,} missed"
        heading = f"{counted(len(self.ids), 'document')}; of their pairs {found}"
        rows = [[name, *map(score_text, (each.value, each.low, each.high))] for name, each in self.named_scores.items()]
        return Shown(heading, ["score", "value", "from", "to"], rows, len(rows), [*self._best(), *self._worst()])

    def _best(self) -> Iterator[str]:
        for curve in self.curves:
            if best := curve.best:
                yield f"By {curve.axis}, the F1 is highest at {best.threshold:g}: {score_text(best.f1)}."

    def _worst(self) -> Iterator[str]:
        for what, errors in (("Found wrongly", self.wrong), ("Missed", self.missed)):
            if errors:
                ids = (shortened(self.ids[place]) for place in (errors[0].first, errors[0].second))
                yield f"{what}, the worst first: {' and '.join(ids)}."


def _score_rows(kind: str, name: str | None, scores: PairScores | ClusterScores) -> Iterator[tuple[Any, ...]]:
    for score, value in vars(scores).items():
        ends = (value.value, value.low, value.high) if isinstance(value, Estimate) else (float(value), None, None)
        yield kind, name, score, *ends


# Scores of groups, by names for people.
_NAMES = {
    "closure_precision": "precision of pairs in groups",
    "closure_recall": "recall of pairs in groups",
    "closure_f1": "F1 of pairs in groups",
    "adjusted_rand_index": "adjusted Rand index",
    "b_cubed_precision": "B-cubed precision",
    "b_cubed_recall": "B-cubed recall",
    "b_cubed_f1": "B-cubed F1",
}


@dataclass(frozen=True)
class EvaluationOptions:
    """Options: the samples for the intervals, the number of ``examples`` of errors, and callbacks."""

    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    examples: int = EXAMPLES
    on_reject: OnReject = lambda _: None
    on_step: OnProgress[str] = lambda _: None


def evaluate(
    documents: Documents,
    labels: Labels,
    *,
    fields: str | Sequence[str] = (),
    id_field: str | None = None,
    scheme: Scheme | str = "default",
    examples: int = EXAMPLES,
    on_reject: OnReject = lambda _: None,
    on_step: OnProgress[str] = lambda _: None,
    **options: Unpack[GroupKeywords],
) -> Evaluation:
    """Group documents, given as to `dedup`, and compare the result with their labels.

    Duplicates out of scope are missed. ``examples`` is the number of errors that the result names. ``on_reject`` gets
    the labels of unknown documents, and contradictory ones; ``on_step`` is called with what is done next. For the other
    keywords see `GroupOptions`.

    >>> from es_simhash.quality import Labels, evaluate
    >>> pairs = [("1", "It rains on the old town."), ("2", "It rains on the old town!"), ("3", "The fair opens.")]
    >>> evaluate(pairs, Labels.of_clusters([["1", "2"]]), similarity="versions").pairs.recall.value
    1.0
    """
    how = EvaluationOptions(examples=examples, on_reject=on_reject, on_step=on_step)
    wanted = given_documents(documents, fields, id_field)
    return evaluation_of(wanted, labels, scheme_of(scheme), options_of(options, fields), how)


def evaluation_of(
    documents: Documents | StoredDocuments,
    labels: Labels,
    settings: Settings,
    grouping: GroupOptions | None = None,
    options: EvaluationOptions | None = None,
) -> Evaluation:
    """Evaluate by options that are kept."""
    grouping = grouping or GroupOptions()
    with stored(documents, options=grouping) as kept:
        return _Evaluating(kept, labels, settings, grouping, options or EvaluationOptions()).evaluation()


class _Evaluating:
    """The state of one evaluation."""

    def __init__(
        self,
        documents: StoredDocuments,
        labels: Labels,
        settings: Settings,
        grouping: GroupOptions,
        options: EvaluationOptions,
    ) -> None:
        self._documents = documents
        self._settings = settings
        self._grouping = grouping
        self._criteria = grouping.criteria(settings)
        self._options = options
        self._ids, self._originals = documents.ids, documents.originals
        self._scopes = documents.scopes()
        self._truth = truth_of(labels, self._ids, options.on_reject)
        self._units = np.unique(self._truth.units, return_inverse=True)[1].reshape(-1)

    def evaluation(self) -> Evaluation:
        """Run all steps."""
        options, truth = self._options, self._truth
        options.on_step("Finding near-duplicates")
        with group_texts(self._documents, self._settings, self._grouping) as found_groups:
            found = predict_pairs(found_groups, self._originals)
            groups, counts = found_groups.firsts, found_groups.counts
        judged = PairOutcomes.of(found.pairs, truth)
        options.on_step("Trying other thresholds")
        near, curves = self._curves()
        options.on_step("Comparing all pairs exactly")
        read = counted_each("Making keys", self._documents.texts, len(self._documents))
        keys = KeyMatcher(self._settings, self._criteria, read)
        similar = self._similar()
        ceiling = self._ceiling(similar, keys)
        options.on_step("Drawing samples")
        buckets = judged.scores(self._units, self._kinds(judged.pairs), options.bootstrap)
        pairs = buckets.pop("overall").get("all")
        errors = ErrorFinder(self._settings, self._documents, keys, similar.predicted)
        wrong = errors.wrong(judged.wrong, found, options.examples)
        missed = errors.missed(judged.missed, near, options.examples)
        shown = sorted({place for error in (*wrong, *missed) for place in (error.first, error.second)})
        return Evaluation(
            settings=self._settings,
            options=self._grouping,
            ids=self._ids,
            texts=dict(zip(shown, self._documents.texts_at(shown), strict=True)),
            truth=truth,
            counts=counts,
            found=found,
            judged=judged,
            bootstrap=options.bootstrap,
            pairs=pairs or PairScores(0, 0, 0, Estimate(None), Estimate(None), Estimate(None)),
            clusters=cluster_scores(self._units, groups, options.bootstrap) if truth.kind == "clusters" else None,
            buckets=buckets,
            curves=curves,
            ceiling=ceiling,
            wrong=wrong,
            missed=missed,
            out_of_scope=int((~self._are_in_scope(truth.positives)).sum()),
        )

    def _similar(self) -> SimilarPairs:
        """Return the pairs with similar texts, in scope."""
        found = similar_pairs(self._settings, self._documents.texts, self._originals)
        return replace(found, predicted=found.predicted.some(self._are_in_scope(found.predicted.pairs)))

    def _are_in_scope(self, pairs: Numbers) -> npt.NDArray[np.bool_]:
        return self._scopes.are_in_scope(*positions(pairs)) if self._scopes else np.ones(len(pairs), dtype=np.bool_)

    def _kinds(self, pairs: Numbers) -> Kinds:
        return {
            "overall": one_bucket(pairs),
            "length": by_length(self._documents.texts, pairs),
            "script": by_script(self._documents.texts, pairs),
            "equality": by_identity(self._originals, pairs),
        }

    # ---- other thresholds

    def _curves(self) -> tuple[PredictedPairs, list[Curve]]:
        """Return the pairs above the lowest threshold, and the curves."""
        criteria, settings = self._criteria, self._settings
        near, curves = PredictedPairs.unknown(np.empty(0, dtype=np.uint64)), list[Curve]()
        if criteria.similarity is not None:
            least = min(LEAST, criteria.similarity)
            near = self._run(by="minhash", similarity=least, distance=None)
            curves.append(curve_of(near, self._truth, least))
        if criteria.distance is not None and settings.simhash:
            most = max(settings.simhash.blocks - 1, criteria.distance)
            found = self._run(by="simhash", similarity=None, numbers=None, distance=most)
            known = found.some(self._truth.are_known(found.pairs))
            right = self._truth.are_positive(known.pairs)
            curves.append(distance_curve(known.distances, right, len(self._truth.positives), most))
        return near, curves

    def _run(self, **threshold: Any) -> PredictedPairs:
        """Group by another threshold, so that all pairs above it keep their similarity or distance."""
        with group_texts(self._documents, self._settings, replace(self._grouping, **threshold)) as groups:
            return predict_pairs(groups, self._originals)

    def _ceiling(self, similar: SimilarPairs, keys: KeyMatcher) -> Ceiling:
        found, threshold = similar.predicted, self._criteria.similarity
        positives = self._truth.positives
        curve = curve_of(found, self._truth, similar.least)
        above = None if threshold is None else found.pairs[found.similarities >= threshold]
        return Ceiling(
            curve,
            similar.is_complete,
            threshold,
            None if above is None else _share(keys.meet(above)),
            _share(keys.meet(positives)),
        )


class ErrorFinder:
    """Finds the worst errors among pairs of texts."""

    def __init__(
        self, settings: Settings, documents: StoredDocuments, keys: KeyMatcher, similar: PredictedPairs
    ) -> None:
        self._verifier = Verifier(plain(settings), Verification.of_fingerprints(1.0))
        self._features = documents.features(self._verifier.prepared)
        self._settings = settings
        self._documents = documents
        self._originals = documents.originals
        self._keys = keys
        self._similar = similar

    def wrong(self, pairs: Numbers, predicted: PredictedPairs, count: int) -> list[PairError]:
        """Return wrong pairs, the most similar or nearest first, each pair of texts once."""
        found = predicted.of(pairs)
        order = np.lexsort((pairs, found.distances, -np.nan_to_num(found.similarities)))
        return self._errors(pairs, order, predicted, count)

    def missed(self, pairs: Numbers, known: PredictedPairs, count: int) -> list[PairError]:
        """Return missed pairs, the least similar first; ``known`` has pairs below the threshold, too."""
        most = self._most(pairs)
        if len(pairs) > most:
            pairs = pairs[np.linspace(0, len(pairs) - 1, most).astype(np.int64)]
        order = np.lexsort((pairs, self.jaccards(pairs)))
        return self._errors(pairs, order, known, count)

    def _most(self, pairs: Numbers) -> int:
        """Return how many of these pairs may be compared."""
        sizes = self._documents.sizes()[np.stack(positions(pairs))].sum(axis=0)
        return int(min(_MOST_MISSED, _MOST_BYTES // max(sizes.mean(), 1))) if len(pairs) else 0

    def jaccards(self, pairs: Numbers) -> npt.NDArray[np.float64]:
        """Return the exact Jaccard similarity of each pair."""
        found = self._similar.of(pairs)
        unknown = np.isnan(found.similarities) | ~found.are_exact
        both = self._originals[np.stack(positions(pairs[unknown]))]
        found.similarities[unknown] = self._verifier.of_cached(self._features, both).similarities
        return found.similarities

    def _errors(self, pairs: Numbers, order: Integers, known: PredictedPairs, count: int) -> list[PairError]:
        chosen = pairs[self._unequal(pairs, order)[:count]]
        rows = zip(
            *(side.tolist() for side in positions(chosen)),
            *self._similarities(known.of(chosen)),
            self._distances(chosen),
            self.jaccards(chosen).tolist(),
            self._keys.meet(chosen).tolist(),
            strict=True,
        )
        return [PairError(*row) for row in rows]

    def _similarities(self, known: PredictedPairs) -> tuple[list[float | None], list[float | None]]:
        """Return the known similarities, and the standard errors of estimates."""
        similarities = [number(similarity) for similarity in known.similarities.tolist()]
        size = self._settings.minhash.size if self._settings.minhash else 0
        errors = [
            standard_error(similarity, size) if size and not is_exact and similarity is not None else None
            for similarity, is_exact in zip(similarities, known.are_exact.tolist(), strict=True)
        ]
        return similarities, errors

    def _distances(self, pairs: Numbers) -> list[int] | list[None]:
        if self._settings.simhash is None or not len(pairs):
            return [None] * len(pairs)
        texts = self._documents.texts_at([place for side in positions(pairs) for place in side.tolist()])
        first, second = np.split(np.concatenate(list(fingerprinting.in_batches(texts, self._simhashes))), 2)
        distances: list[int] = hamming.distances(first, second).tolist()
        return distances

    def _simhashes(self, texts: Sequence[str]) -> Codes:
        settings = replace(self._settings, minhash=None, layout=Layout())
        made = fingerprinting.fingerprints_of_texts(settings, texts)
        assert made.simhashes is not None
        return made.simhashes

    def _unequal(self, pairs: Numbers, order: Integers) -> Integers:
        """Drop pairs with the same texts as an earlier pair from the order."""
        texts = self._originals[np.stack(positions(pairs[order]))]
        _, places = np.unique(pair_codes(texts.min(axis=0), texts.max(axis=0)), return_index=True)
        unequal: Integers = order[np.sort(places)]
        return unequal


def curve_of(found: PredictedPairs, truth: Truth, least: float) -> Curve:
    """Return the curve of the labelled pairs by their similarity."""
    known = found.some(truth.are_known(found.pairs))
    return similarity_curve(known.similarities, truth.are_positive(known.pairs), len(truth.positives), least)


def cluster_scores(units: Integers, groups: Integers, bootstrap: Bootstrap) -> ClusterScores:
    """Score groups, given by a number for each document, against the true clusters, numbered from 0."""
    found = np.unique(groups, return_inverse=True)[1].reshape(-1)
    table = Contingency.of(units, found)
    sizes = np.bincount(units).astype(np.float64)
    precisions, recalls = table.b_cubed()

    def score(times: Many) -> dict[str, float]:
        documents = (times * sizes).sum()
        precision, recall = (times * precisions).sum() / documents, (times * recalls).sum() / documents
        within = table.pairs(times)
        scores = {
            "closure_precision": within.precision,
            "closure_recall": within.recall,
            "closure_f1": within.f1,
            "adjusted_rand_index": adjusted_rand_index(within, documents),
            "b_cubed_precision": precision,
            "b_cubed_recall": recall,
            "b_cubed_f1": harmonic_mean(precision, recall),
        }
        return {name: float(value) for name, value in scores.items()}

    return ClusterScores(**bootstrap.estimates(len(sizes), score))


def _share(met: npt.NDArray[np.bool_]) -> float | None:
    return float(met.mean()) if len(met) else None


# A pair is right, wrong or missed.
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
