"""Tunes a scheme on documents, by labels or for a given similarity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash.documents.rejected import OnReject
from es_simhash.errors import InputError
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.deduplication_steps import Documents
from es_simhash.groups.pairs.deduplicator import Deduplicator
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.quality.buckets import script_of
from es_simhash.quality.evaluation import LEAST
from es_simhash.quality.key_choice import KeyOption, Probe, choose, key_options
from es_simhash.quality.labels import Labels
from es_simhash.quality.measures import InScope, jaccard_of, measure_pairs, measured_by
from es_simhash.quality.predictions import PredictedPairs, first_positions, predict_pairs
from es_simhash.quality.stored_documents import StoredDocuments
from es_simhash.quality.synthetic_pairs import synthetic_pairs
from es_simhash.quality.threshold_choice import ThresholdChoice, choose_threshold
from es_simhash.quality.truth import truth_of
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, MinHash
from es_simhash.scheme.verdict.measures import Similarities
from es_simhash.scheme.verdict.verification import Level, Verification, similarity_of
from es_simhash.scheme.verdict.verifier import Verifier
from es_simhash.sketches.key_plans import Goal
from es_simhash.text.tokens.kinds import Chars, Tokens

# The numbers of random texts to measure candidates and costs on, and of pairs to measure recall on.
_TEXTS, _PAIRS = 700, 300
_UNSEEN = 3.0
# All near pairs but this share are at least as similar as the scheme's MinHash says.
_LEAST_SIMILAR = 0.01
# Fewer pairs are too few to estimate that share.
_FEW = 20
_LOWEST = 0.05
# Texts are short if half of them have fewer characters; an ideograph counts for more than a letter.
_SHORT, _SHORT_IDEOGRAPHS = 100, 40

OnStep = Callable[[str], object]


@dataclass(frozen=True)
class Tuned:
    """The options that no other beats (``front``), and the position of the ``choice``.

    ``documents`` counts those compared; ``threshold`` is what labels chose, None without them.
    """

    documents: int
    goal: Goal
    front: Sequence[KeyOption]
    choice: int
    why: str
    threshold: ThresholdChoice | None = None

    @property
    def texts(self) -> int:
        """The number of random texts that false candidates are measured on."""
        return min(self.documents, _TEXTS)

    @property
    def unseen(self) -> float:
        """How many false candidates a query may have that these texts do not show.

        If none of N pairs is one, up to 3 / N of all pairs may be, with a confidence of 95% (Hanley and Lippman-Hand,
        "If nothing goes wrong, is everything all right?", 1983).
        """
        pairs = self.texts * (self.texts - 1) / 2
        return (self.goal.documents - 1) * min(_UNSEEN / max(pairs, 1.0), 1.0)

    @property
    def warning(self) -> str:
        """The warnings that the labels are too few, or the texts to measure false candidates on; empty if neither."""
        doubts = self.threshold.doubts if self.threshold else ""
        if self.unseen <= self.goal.candidates:
            return doubts
        few = (
            f"False candidates were measured on {self.texts:,} texts: among {self.goal.documents:,} documents a query "
            f"may have up to {self.unseen:,.0f} more than shown. Expect that, or give more texts, up to {_TEXTS}."
        )
        return f"{doubts} {few}".lstrip()

    @property
    def scheme(self) -> Scheme:
        """The chosen scheme."""
        return self.front[self.choice].scheme

    def with_choice(self, place: int) -> Tuned:
        """Choose another option."""
        if not 0 <= place < len(self.front):
            raise InputError(f"There is no row {place + 1}. Choose one from 1 to {len(self.front)}.")
        return self if place == self.choice else replace(self, choice=place, why="The row was chosen by hand.")


def tune_by_labels(
    documents: Documents,
    labels: Labels,
    goal: Goal | None = None,
    base: Scheme | None = None,
    on_step: OnStep = lambda _: None,
    on_reject: OnReject = lambda _: None,
) -> Tuned:
    """Choose the minimum similarity that best fits the labels of documents, (id, text) pairs, and keys for it.

    Texts are compared by the rule of the ``base`` if it weighs by rarity, else by the default one; without a ``base``,
    features are chosen by the length of texts. The corpus is as large as the documents are, unless the ``goal`` says
    otherwise.
    """
    with ExitStack() as stack:
        if isinstance(documents, StoredDocuments):
            stored = documents
        else:
            stored = stack.enter_context(StoredDocuments.of(documents))
        return _by_labels(stored, labels, goal or Goal(len(stored)), base, on_step, on_reject)


def _by_labels(
    documents: StoredDocuments, labels: Labels, goal: Goal, base: Scheme | None, on_step: OnStep, on_reject: OnReject
) -> Tuned:
    scopes = documents.scopes()
    in_scope = scopes.are_in_scope if scopes else None
    truth = truth_of(labels, documents.ids, on_reject)
    truth = truth.within(in_scope) if in_scope else truth
    random = _spread(len(documents), _TEXTS)
    texts = documents.texts_at(random.tolist())
    settings, rule = _settings(base, texts)
    on_step("Comparing all texts")
    found = _similar(documents, settings, rule)
    on_step("Trying thresholds")
    threshold = choose_threshold(found, truth, rule)
    rule = replace(rule, similarity=threshold.best.similarity)
    near = found.pairs[found.similarities >= rule.similarity]
    on_step("Measuring keys")
    pairs = _unequal(near[truth.are_positive(near)], documents.originals)
    rows = np.unique(np.concatenate(positions(pairs)))
    wanted, places = documents.texts_at(rows.tolist()), np.searchsorted(rows, np.stack(positions(pairs)))
    jaccards = Verifier(settings, Verification.of_fingerprints(1.0)).similarities(wanted, places)
    probe = Probe(texts, _excused(near, random, in_scope), wanted, pair_codes(*places), jaccards)
    tuned = _tuned(settings, rule, _level(jaccards, rule), probe, len(documents), goal)
    return replace(tuned, why=f"{_describe_threshold(threshold)} {tuned.why}", threshold=threshold)


def _similar(documents: StoredDocuments, settings: Scheme, rule: Verification) -> PredictedPairs:
    """Find the pairs that reach the lowest threshold to try."""
    generous = replace(settings, minhash=settings.minhash or MinHash())
    least = min(LEAST, rule.similarity)
    with Deduplicator(generous, similarity=least, scope=documents.scope).run(documents) as duplicates:
        return predict_pairs(duplicates, documents.originals)


def _unequal(pairs: Numbers, originals: Integers) -> Numbers:
    """Choose some of the pairs, of unequal texts if there are any: any keys find copies, which say nothing of keys."""
    first, second = positions(pairs)
    unequal = pairs[originals[first] != originals[second]]
    pairs = unequal if len(unequal) else pairs
    return pairs[_spread(len(pairs), _PAIRS)]


def _describe_threshold(threshold: ThresholdChoice) -> str:
    best, own, nearest = threshold.best, threshold.own, threshold.nearest
    beside = f"that of the scheme's {own.similarity:g} is {own.scores.f1.value:.3f}"
    others = "it is the scheme's own" if best is own else beside
    level = f"The level nearest to it is {nearest.level}, {nearest.similarity:g}."
    if nearest is best:
        level = f"It is the level {nearest.level}."
    return (
        f"The similarity {best.similarity:g} fits these labels best, with an F1 of {best.scores.f1.value:.3f}; "
        f"{others}. {level}"
    )


def tune_by_similarity(
    texts: Sequence[str],
    similarity: float | Level,
    goal: Goal | None = None,
    base: Scheme | None = None,
    on_step: OnStep = lambda _: None,
    in_scope: InScope | None = None,
) -> Tuned:
    """Find a scheme for a minimum similarity by the default rule, or by that of the ``base`` if it weighs by rarity.

    Without a ``base``, features are chosen by the length of texts. ``in_scope`` says which pairs count, given two
    arrays with the positions of their texts.
    """
    places = np.flatnonzero([bool(text) for text in texts])
    texts = [texts[place] for place in places.tolist()]
    if not texts:
        raise InputError("There are no texts to tune by. Name the fields that hold them.")
    goal = goal or Goal(len(texts))
    settings, rule = _settings(base, texts)
    rule = replace(rule, similarity=similarity_of(similarity, rule.measure))
    on_step("Comparing all texts of the sample")
    scoped = (lambda first, second: in_scope(places[first], places[second])) if in_scope else None
    found = measure_pairs(settings, texts, first_positions(texts)).within(scoped)
    near = found.similarities[rule.measure] >= rule.similarity
    level = _level(found.jaccards[near], rule)
    on_step("Measuring keys")
    random = _spread(len(texts), _TEXTS)
    copies = synthetic_pairs(settings, [texts[place] for place in _spread(len(texts), _PAIRS).tolist()], level)
    if not len(copies.pairs):
        raise InputError("No text has any features. Name the fields that hold texts.")
    excused = _excused(found.pairs[near], random, scoped)
    probe = Probe([texts[place] for place in random.tolist()], excused, copies.features, copies.pairs, copies.jaccards)
    return _tuned(settings, rule, level, probe, len(texts), goal)


def features_for(texts: Iterable[str]) -> Tokens:
    """Choose character n-grams by the length of texts: shorter ones for titles, names and posts."""
    lengths, dense = [], 0
    for text in texts:
        lengths.append(len(text))
        dense += script_of(text[:1_000]) in ("Han", "Kana", "Hangul")
    short = _SHORT_IDEOGRAPHS if 2 * dense > len(lengths) else _SHORT
    return Chars(3) if median(lengths) < short else Chars(5)


def _settings(base: Scheme | None, texts: Sequence[str]) -> tuple[Scheme, Verification]:
    """Return how texts are read, and by which rule they are compared."""
    rule = (base and measured_by(base)) or Verification()
    tokens = base.tokens if base else features_for(texts)
    base = base or Scheme.preset("default")
    read = replace(base, name="tuned", tokens=tokens, weights="set", idf=None, layout=Layout(), verification=rule)
    return read, rule


def _tuned(settings: Scheme, rule: Verification, level: float, probe: Probe, documents: int, goal: Goal) -> Tuned:
    """Choose keys for pairs of at least the plain similarity ``level``."""
    scheme = replace(settings, simhash=None, minhash=MinHash(similarity=level), verification=rule)
    front = key_options(scheme, probe, goal)
    choice = choose(front, goal)
    return Tuned(documents, goal, front, front.index(choice), _describe_keys(choice, rule, goal))


def _describe_keys(option: KeyOption, rule: Verification, goal: Goal) -> str:
    """Say what keys find, their cost, and why they were chosen."""
    minhash = option.scheme.minhash
    assert minhash
    in_vain = "false candidates a query"
    cost = f"in the fewest bytes with at most {goal.candidates:,.0f} {in_vain}"
    if option.candidates > goal.candidates:
        cost = f"with the fewest {in_vain}, which are {option.candidates:,.0f}"
    return (
        f"{minhash.bands} bands of {minhash.rows} rows are the keys that find "
        f"{min(option.expected_recall, goal.recall):.1%} of the pairs of the similarity {rule.similarity:g} {cost}, "
        f"among {goal.documents:,} documents."
    )


def _level(jaccards: Similarities, rule: Verification) -> float:
    """Return the minimum plain similarity of nearly all near pairs; where these are few, what is usual by the rule."""
    if len(jaccards) < _FEW:
        return jaccard_of(rule.measure, rule.similarity)
    return max(math.floor(1_000 * float(np.quantile(jaccards, _LEAST_SIMILAR))) / 1_000, _LOWEST)


def _spread(count: int, most: int) -> Integers:
    """Choose up to ``most`` of ``count`` positions, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def _excused(near: Numbers, rows: Integers, in_scope: InScope | None) -> Numbers:
    """Return the pairs among these rows that are no false candidates, by their positions: near ones or out of scope."""
    first, second = np.triu_indices(len(rows), 1)
    excused = np.isin(pair_codes(rows[first], rows[second]), near)
    if in_scope:
        excused |= ~in_scope(rows[first], rows[second])
    return pair_codes(first[excused], second[excused])
