"""A scheme with a threshold for one's own texts: one that labels choose, or a given one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from es_simhash._core.stages import OnProgress
from es_simhash.documents.given import Documents, given
from es_simhash.documents.rejected import OnReject
from es_simhash.errors import InputError
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.quality.evaluation import LEAST
from es_simhash.quality.labels import Labels, truth_of
from es_simhash.quality.measures import measured_by
from es_simhash.quality.predictions import PredictedPairs, StoredDocuments, predict_pairs
from es_simhash.quality.scores import script_of
from es_simhash.quality.threshold_choice import ThresholdChoice, choose_threshold
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import MinHash
from es_simhash.scheme.verdict.levels import Level, similarity_of
from es_simhash.scheme.verdict.verification import Verification

# How many texts a preset is chosen by, if there is no scheme.
_TEXTS = 700
# Texts are short if half of them have fewer characters; an ideograph counts for more than a letter.
_SHORT, _SHORT_IDEOGRAPHS = 100, 40


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
    with ExitStack() as stack:
        if isinstance(documents, StoredDocuments):
            stored = documents
        else:
            stored = stack.enter_context(StoredDocuments.of(given(documents, fields, id_field)))
        return _by_labels(stored, labels, base, on_step, on_reject)


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


def _by_labels(
    documents: StoredDocuments, labels: Labels, base: Scheme | None, on_step: OnProgress[str], on_reject: OnReject
) -> Tuned:
    scopes = documents.scopes()
    truth = truth_of(labels, documents.ids, on_reject)
    truth = truth.within(scopes.are_in_scope) if scopes else truth
    base = base or Scheme.preset(preset_for(_some_texts(documents)))
    rule = _rule(base)
    on_step("Comparing all texts")
    found = _similar(documents, _with_rule(base, rule), min(LEAST, rule.similarity))
    on_step("Trying thresholds")
    threshold = choose_threshold(found, truth, rule)
    scheme = _with_rule(base, replace(rule, similarity=threshold.best.similarity))
    return Tuned(len(documents), scheme, _describe_threshold(threshold), threshold)


def _some_texts(documents: StoredDocuments) -> list[str]:
    """Return texts of documents that are evenly spread."""
    places = np.linspace(0, len(documents) - 1, min(len(documents), _TEXTS)).astype(np.int64)
    return documents.texts_at(places.tolist())


def _similar(documents: StoredDocuments, scheme: Scheme, least: float) -> PredictedPairs:
    """Find the pairs that reach the lowest threshold to try."""
    with group_texts(documents, scheme, GroupOptions(similarity=least, scope=documents.scope)) as groups:
        return predict_pairs(groups, documents.originals)


def _rule(base: Scheme) -> Verification:
    return measured_by(base) or Verification()


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
