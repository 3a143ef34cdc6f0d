"""A scheme with a threshold for one's own texts: one that labels choose, or a given one.

The threshold that best separates labelled duplicates has the highest F1 of pairs, the middle one of several; the
scheme's own stays if none is better. Intervals say how far the scores may be off (see `es_simhash.quality.scores`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from es_simhash._core.batches import OnProgress
from es_simhash._core.humanize import counted
from es_simhash.documents.given import Documents
from es_simhash.documents.sources import OnReject
from es_simhash.errors import InputError
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import positions
from es_simhash.quality.evaluation import LEAST, PairOutcomes, PairScores, curve_of
from es_simhash.quality.labels import Labels, PredictedPairs, StoredDocuments, Truth, predict_pairs, stored, truth_of
from es_simhash.quality.scores import Bootstrap, one_bucket, script_of
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import MinHash
from es_simhash.scheme.verification import LEVELS, Level, Verification, similarity_of
from es_simhash.scheme.verifier import is_by_rarity

# How many texts a preset is chosen by, if there is no scheme.
_TEXTS = 700
# Texts are short if half of them have fewer characters; an ideograph counts for more than a letter.
_SHORT, _SHORT_IDEOGRAPHS = 100, 40
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


@dataclass(frozen=True)
class Tuned:
    """A scheme for ``documents`` texts; ``threshold`` is what labels chose, None without them."""

    JSON = ("documents", "why", "warning", "threshold", "scheme")

    documents: int
    scheme: Scheme
    why: str
    threshold: ThresholdChoice | None = None

    @property
    def warning(self) -> str:
        """The warning that the labels are too few; empty if they are enough, or if there are none."""
        return self.threshold.doubts if self.threshold else ""


def tune_by_labels(
    documents: Documents | StoredDocuments,
    labels: Labels,
    *,
    fields: str | Sequence[str] = (),
    id_field: str | None = None,
    base: Scheme | None = None,
    on_step: OnProgress[str] = lambda _: None,
    on_reject: OnReject = lambda _: None,
) -> Tuned:
    """Choose the minimum similarity that best fits the labels of documents, given as to `dedup`.

    All else is that of the ``base``, or else of a preset, `preset_for` the texts. Texts are compared by the rule of the
    base if it weighs by rarity, else by the default one.
    """
    with stored(documents, fields, id_field) as kept:
        scopes = kept.scopes()
        truth = truth_of(labels, kept.ids, on_reject)
        truth = truth.within(scopes.are_in_scope) if scopes else truth
        base = base or Scheme.preset(preset_for(_some_texts(kept)))
        rule = _rule(base)
        on_step("Comparing all texts")
        # The pairs that reach the lowest threshold to try.
        options = GroupOptions(similarity=min(LEAST, rule.similarity), scope=kept.scope)
        with group_texts(kept, _with_rule(base, rule), options) as groups:
            found = predict_pairs(groups, kept.originals)
        on_step("Trying thresholds")
        threshold = choose_threshold(found, truth, rule)
        scheme = _with_rule(base, replace(rule, similarity=threshold.best.similarity))
        return Tuned(len(kept), scheme, _describe_threshold(threshold), threshold)


def tune_by_similarity(texts: Sequence[str], *, similarity: float | Level, base: Scheme | None = None) -> Tuned:
    """Give the ``base`` a minimum similarity, or else a preset, `preset_for` the texts."""
    texts = [text for text in texts if text]
    if not texts:
        raise InputError("The documents have no texts. Name the text fields.")
    base = base or Scheme.preset(preset_for(texts))
    rule = _rule(base)
    rule = replace(rule, similarity=similarity_of(similarity, rule.measure))
    why = f"From the similarity {rule.similarity:g} on, texts are near-duplicates."
    return Tuned(len(texts), _with_rule(base, rule), why)


def preset_for(texts: Iterable[str]) -> str:
    """Choose a preset by the length of texts: ``short`` for titles, names and posts, else ``default``."""
    lengths, dense = [], 0
    for text in texts:
        lengths.append(len(text))
        dense += script_of(text[:1_000]) in ("Han", "Kana", "Hangul")
    short = _SHORT_IDEOGRAPHS if 2 * dense > len(lengths) else _SHORT
    return "short" if lengths and median(lengths) < short else "default"


def _some_texts(documents: StoredDocuments) -> list[str]:
    """Return texts of documents that are evenly spread."""
    places = np.linspace(0, len(documents) - 1, min(len(documents), _TEXTS)).astype(np.int64)
    return documents.texts_at(places.tolist())


def _rule(base: Scheme) -> Verification:
    """Return what the base verifies by, if that is with weights by rarity, or else the default."""
    found = base.verification
    return found if found and is_by_rarity(base, found) else Verification()


def _with_rule(base: Scheme, rule: Verification) -> Scheme:
    """Return the scheme with a rule, by which pairs are compared that MinHash finds."""
    return replace(base, name="tuned", minhash=base.minhash or MinHash(), verification=rule)


def _describe_threshold(threshold: ThresholdChoice) -> str:
    best, own, nearest = threshold.best, threshold.own, threshold.nearest
    scheme_score = f"that of the scheme's {own.similarity:g} is {own.scores.f1.value:.3f}"
    others = "it is the scheme's own" if best is own else scheme_score
    level = f"The level nearest to it is {nearest.level}, {nearest.similarity:g}."
    if nearest is best:
        level = f"It is the level {nearest.level}."
    return (
        f"The similarity {best.similarity:g} fits these labels best, with an F1 of {best.scores.f1.value:.3f}; "
        f"{others}. {level}"
    )


def choose_threshold(found: PredictedPairs, truth: Truth, rule: Verification) -> ThresholdChoice:
    """Choose a threshold of the rule by the pairs that reach the lowest one to try."""
    if not len(truth.positives) or (truth.negatives is not None and not len(truth.negatives)):
        raise InputError("All labelled pairs are of one kind, which fits many thresholds. Label duplicates and others.")
    known = found.some(truth.are_known(found.pairs))
    curve = curve_of(known, truth, LEAST)
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
