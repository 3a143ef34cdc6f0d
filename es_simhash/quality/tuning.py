"""Tunes a scheme on documents, by labels or for a given similarity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash.documents.rejected import OnReject
from es_simhash.errors import InputError
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.deduplication_steps import Documents
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.quality.buckets import script_of
from es_simhash.quality.key_choice import KeyOption, Probe, choose, key_options
from es_simhash.quality.labels import Labels
from es_simhash.quality.measures import InScope, MeasuredPairs, RarityMeasure, jaccard_of, measure_pairs, measured_by
from es_simhash.quality.predictions import first_positions
from es_simhash.quality.rule_search import MEASURES, SIMPLER, Agreements, Rule, RuleSearch, Way
from es_simhash.quality.stored_documents import StoredDocuments
from es_simhash.quality.synthetic_pairs import synthetic_pairs
from es_simhash.quality.truth import Truth, truth_of
from es_simhash.quality.tuning_text import capitalized, describe_keys, describe_rule, describe_tokens
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, MinHash
from es_simhash.scheme.verdict.measures import Similarities
from es_simhash.scheme.verdict.verification import Level, Verification, similarity_of
from es_simhash.sketches.key_plans import Goal
from es_simhash.text.tokens.kinds import Chars, Tokens, Words

# The features to try on labels; the first of equally good ones is chosen.
FEATURES: tuple[Tokens, ...] = (Chars(5), Chars(4), Chars(3), Chars(8), Words(1), Words(2), Words(3))
# The features by whose keys the default rule is tried, too; it compares runs of characters.
_DEFAULT_FOR = (Chars(5), Chars(3))
# The numbers of random texts to measure candidates and costs on, and of pairs to measure recall on.
_TEXTS, _PAIRS = 700, 300
_UNSEEN = 3.0
# The most documents to compare, unless more are labelled.
_DOCUMENTS = 10_000
# The most pairs to try rules on, the nearest of all: by short n-grams any two long texts are similar.
_NEAREST = 300_000
# All near pairs but this share are at least as similar as the scheme's MinHash says.
_LEAST_SIMILAR = 0.01
# Fewer pairs are too few to estimate that share.
_FEW = 20
_LOWEST = 0.05
# Texts are short if half of them have fewer characters; an ideograph counts for more than a letter.
_SHORT, _SHORT_IDEOGRAPHS = 100, 40

OnStep = Callable[[str], object]


@dataclass(frozen=True)
class Tried:
    """Features with their best rule, and the minimum plain Jaccard similarity (``jaccard``) of near pairs.

    ``others`` is the number of other documents in the corpus that are at least as similar to a document.
    """

    tokens: Tokens
    rule: Rule
    jaccard: float
    others: float

    @property
    def merit(self) -> float:
        """The rule's merit, less a penalty for each tenfold increase of candidates."""
        return self.rule.merit - SIMPLER * math.log10(1 + self.others)


@dataclass(frozen=True)
class Tuned:
    """The options that no other beats (``front``), and the position of the ``choice``.

    ``tried`` has the rules by features, the best first; it is empty without labels. ``documents`` counts those
    compared, and ``doubts`` is the warning that labels are too few.
    """

    documents: int
    goal: Goal
    front: Sequence[KeyOption]
    choice: int
    why: str
    tried: Sequence[Tried] = ()
    doubts: str = ""

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
        if self.unseen <= self.goal.candidates:
            return self.doubts
        few = (
            f"False candidates were measured on {self.texts:,} texts: among {self.goal.documents:,} documents a query "
            f"may have up to {self.unseen:,.0f} more than shown. Expect that, or give more texts, up to {_TEXTS}."
        )
        return f"{self.doubts} {few}".lstrip()

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
    """Find the scheme that fits the labels of documents, (id, text) pairs that are read once, best.

    ``base`` defines how texts are read; the corpus is as large as the sample, unless the ``goal`` says otherwise. Of
    documents without a label, at most some thousands count.
    """
    with ExitStack() as stack:
        if isinstance(documents, StoredDocuments):
            stored = documents
        else:
            stored = stack.enter_context(StoredDocuments.of(documents))
        goal = goal or Goal(len(stored))
        some = stored.some(_chosen(stored, labels))
        if some is not stored:
            stack.enter_context(some)
        return _by_labels(some, labels, goal, _base(base), on_step, on_reject)


def _chosen(documents: StoredDocuments, labels: Labels) -> Integers:
    """Choose all labelled documents, and as many of the others as there may be."""
    named = {id_ for label in labels.labels for id_ in label.ids}
    are_labelled = np.array([id_ in named for id_ in documents.ids], dtype=np.bool_)
    labelled, others = np.flatnonzero(are_labelled), np.flatnonzero(~are_labelled)
    few = others[_spread(len(others), max(_DOCUMENTS - len(labelled), 0))]
    return np.sort(np.concatenate([labelled, few]))


def _by_labels(
    documents: StoredDocuments, labels: Labels, goal: Goal, base: Scheme, on_step: OnStep, on_reject: OnReject
) -> Tuned:
    texts, originals, scopes = documents.texts, documents.originals, documents.scopes()
    in_scope = scopes.are_in_scope if scopes else None
    truth = truth_of(labels, documents.ids, on_reject)
    truth = truth.within(in_scope) if in_scope else truth
    search = RuleSearch(truth)
    on_step("Comparing all texts by runs and numbers")
    agreements, by_text = Agreements(base, texts), RarityMeasure(base.by_text, texts, originals)
    learnt = []
    for tokens in FEATURES:
        on_step(f"Comparing all texts by {describe_tokens(tokens)}")
        found, apart = measure_pairs(replace(base, tokens=tokens), texts, originals, _NEAREST).parted(in_scope)
        ways = [Way.of_measure(name, found.similarities) for name in MEASURES]
        if tokens in _DEFAULT_FOR:
            ways.insert(0, Way(Verification(), by_text.similarities(found.pairs)["balanced"]))
        rule = search.best(found.pairs, ways, agreements.of(found.pairs))
        learnt.append(_learnt(tokens, found, apart, rule, truth, goal))
    learnt.sort(key=lambda each: -each.tried.merit)
    best = learnt[0].tried
    on_step("Measuring keys")
    scheme = replace(
        base,
        name="tuned",
        tokens=best.tokens,
        simhash=None,
        minhash=MinHash(similarity=best.jaccard),
        verification=best.rule.verification,
    )
    front = key_options(scheme, learnt[0].probe(scheme, documents), goal)
    choice = choose(front, goal)
    why = (
        f"{capitalized(describe_tokens(best.tokens))} with {describe_rule(best.rule.verification)} fit these labels "
        f"best (F1 {best.rule.f1:.3f} on parts of them held out of the choice), and {describe_keys(choice, goal)}."
    )
    doubts = search.doubts
    if len(truth.positives) and not len(learnt[0].right):
        doubts = (
            "No labelled duplicates have similar texts. Name the fields that hold the texts, or check the labels. "
            f"{doubts}"
        ).rstrip()
    tried = [each.tried for each in learnt]
    return Tuned(len(documents), goal, front, front.index(choice), why, tried, doubts)


@dataclass(frozen=True, eq=False)
class _Learnt:
    """A rule with the pairs that it finds, the right ones among them, and their plain similarities.

    ``apart`` are similar pairs out of scope, which are no false candidates either.
    """

    tried: Tried
    near: Numbers
    apart: Numbers
    right: Numbers
    jaccards: Similarities

    def probe(self, scheme: Scheme, documents: StoredDocuments) -> Probe:
        """Choose the texts and pairs to measure keys on."""
        random = _spread(len(documents), _TEXTS)
        texts, alike = documents.texts_at(random.tolist()), _among(np.union1d(self.near, self.apart), random)
        if not len(self.right):
            return _synthetic(scheme, texts, alike, self.tried.jaccard)
        # Any keys find copies, so copies say nothing about keys.
        unequal = self.jaccards < 1 if (self.jaccards < 1).any() else self.jaccards <= 1
        pairs = self.right[unequal][_spread(int(unequal.sum()), _PAIRS)]
        rows = np.unique(np.concatenate(positions(pairs)))
        found = pair_codes(*(np.searchsorted(rows, side) for side in positions(pairs)))
        return Probe(texts, alike, documents.texts_at(rows.tolist()), found, self.jaccards[unequal])


def _learnt(
    tokens: Tokens,
    found: MeasuredPairs,
    apart: Numbers,
    best: tuple[Rule, npt.NDArray[np.bool_]],
    truth: Truth,
    goal: Goal,
) -> _Learnt:
    rule, near = best
    right = near & truth.are_positive(found.pairs)
    level = _level(found.jaccards[right], rule.verification.similarity)
    in_vain = int((found.jaccards[~near] >= level).sum())
    documents = len(truth.units)
    others = in_vain * 2 / max(documents * (documents - 1), 1) * goal.documents
    tried = Tried(tokens, rule, level, others)
    return _Learnt(tried, found.pairs[near], apart, found.pairs[right], found.jaccards[right])


def _synthetic(scheme: Scheme, texts: Sequence[str], alike: Numbers, level: float) -> Probe:
    """Return texts to measure keys on, with altered copies of some at exactly this similarity."""
    copies = synthetic_pairs(scheme, [texts[place] for place in _spread(len(texts), _PAIRS).tolist()], level)
    if not len(copies.pairs):
        raise InputError(f"No text has any {describe_tokens(scheme.tokens)}. Name the fields that hold texts.")
    return Probe(texts, alike, copies.features, copies.pairs, copies.jaccards)


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
    rule = (base and measured_by(base)) or Verification()
    similarity = similarity_of(similarity, rule.measure)
    places = np.flatnonzero([bool(text) for text in texts])
    texts = [texts[place] for place in places.tolist()]
    if not texts:
        raise InputError("There are no texts to tune by. Name the fields that hold them.")
    goal = goal or Goal(len(texts))
    tokens = base.tokens if base else features_for(texts)
    settings = replace(_base(base), tokens=tokens, verification=rule)
    on_step("Comparing all texts of the sample")
    scoped = (lambda first, second: in_scope(places[first], places[second])) if in_scope else None
    near, apart = measure_pairs(settings, texts, first_positions(texts)).parted(scoped)
    alike = near.similarities[rule.measure] >= similarity
    usual = jaccard_of(rule.measure, similarity)
    level = usual if alike.sum() < _FEW else _level(near.jaccards[alike], usual)
    on_step("Measuring keys")
    scheme = replace(
        settings,
        name="tuned",
        simhash=None,
        minhash=MinHash(similarity=level),
        verification=replace(rule, similarity=similarity),
    )
    random = _spread(len(texts), _TEXTS)
    copies = _synthetic(scheme, texts, _among(np.union1d(near.pairs[alike], apart), random), level)
    probe = replace(copies, texts=[texts[place] for place in random.tolist()])
    front = key_options(scheme, probe, goal)
    choice = choose(front, goal)
    why = f"{capitalized(describe_keys(choice, goal, f'the pairs of the similarity {similarity:g}'))}."
    return Tuned(len(texts), goal, front, front.index(choice), why)


def features_for(texts: Iterable[str]) -> Tokens:
    """Choose character n-grams by the length of texts: shorter ones for titles, names and posts."""
    lengths, dense = [], 0
    for text in texts:
        lengths.append(len(text))
        dense += script_of(text[:1_000]) in ("Han", "Kana", "Hangul")
    short = _SHORT_IDEOGRAPHS if 2 * dense > len(lengths) else _SHORT
    return Chars(3) if median(lengths) < short else Chars(5)


def _base(base: Scheme | None) -> Scheme:
    # Texts are compared by the tokens that are tried.
    return replace(base or Scheme.preset("default"), weights="set", idf=None, layout=Layout(), verification=None)


def _level(jaccards: Similarities, otherwise: float) -> float:
    """Return the minimum plain similarity of nearly all near pairs."""
    level = float(np.quantile(jaccards, _LEAST_SIMILAR)) if len(jaccards) else otherwise
    return max(math.floor(1_000 * level) / 1_000, _LOWEST)


def _spread(count: int, most: int) -> Integers:
    """Choose up to ``most`` of ``count`` positions, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def _among(pairs: Numbers, rows: Integers) -> Numbers:
    """Return the pairs among these rows, by the positions of the rows."""
    first, second = positions(pairs)
    both = np.isin(first, rows) & np.isin(second, rows)
    return pair_codes(np.searchsorted(rows, first[both]), np.searchsorted(rows, second[both]))
