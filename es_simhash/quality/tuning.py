"""The way in: a scheme for one's own documents, by labels or for a wanted similarity, measured on these documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash.documents.rejected import OnReject
from es_simhash.errors import InputError
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.quality.buckets import script_of
from es_simhash.quality.key_options import Goal, KeyOption, Probe, choose, key_options
from es_simhash.quality.labels import Labels
from es_simhash.quality.measures import MeasuredPairs, measure_pairs
from es_simhash.quality.predictions import first_positions
from es_simhash.quality.rules import SIMPLER, Agreements, Rule, RuleSearch, agreements_of
from es_simhash.quality.synthetic_pairs import synthetic_pairs
from es_simhash.quality.truth import Truth, truth_of
from es_simhash.quality.tuning_text import capitalized, describe_keys, describe_rule, describe_tokens
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, MinHash, Verification, check_similarity
from es_simhash.scheme.verification import Similarities
from es_simhash.text.tokens.kinds import Chars, Tokens, Words

# The features that are tried on labels; of equally good ones the first.
FEATURES: tuple[Tokens, ...] = (Chars(5), Chars(4), Chars(3), Chars(8), Words(1), Words(2), Words(3))
# Candidates and costs are measured on so many random texts, and recall on so many pairs.
_TEXTS, _PAIRS = 700, 300
_UNSEEN = 3.0
# Of the pairs that are near, all but this share are at least as similar as a scheme's MinHash says.
_LEAST_SIMILAR = 0.01
# So few pairs tell no such share.
_FEW = 20
_LOWEST = 0.05
# Texts are short if half of them have fewer characters than this; ideographs tell more.
_SHORT, _SHORT_IDEOGRAPHS = 100, 40

OnStep = Callable[[str], object]


@dataclass(frozen=True)
class Tried:
    """Features with the best rule for them: pairs that are near have the plain Jaccard similarity ``jaccard`` or more.

    So similar as that are also so many other documents to each one, by the size of the corpus: ``others``.
    """

    tokens: Tokens
    rule: Rule
    jaccard: float
    others: float

    @property
    def merit(self) -> float:
        """The rule's, less what has to be gained by ten times the candidates."""
        return self.rule.merit - SIMPLER * math.log10(1 + self.others)


@dataclass(frozen=True)
class Tuned:
    """What came of it: the options of which none is beaten, and the place of the one that is chosen.

    ``tried`` are the rules by features, the best first; none without labels. ``documents`` were looked at.
    """

    documents: int
    goal: Goal
    front: Sequence[KeyOption]
    choice: int
    why: str
    tried: Sequence[Tried] = ()

    @property
    def texts(self) -> int:
        """How many random texts tell what is compared in vain."""
        return min(self.documents, _TEXTS)

    @property
    def unseen(self) -> float:
        """How many documents a query may compare in vain although no pair of these texts tells of it.

        Of N pairs that show nothing, up to 3 / N of all may be otherwise, with a confidence of 95% (Hanley and
        Lippman-Hand, "If nothing goes wrong, is everything all right?", 1983).
        """
        pairs = self.texts * (self.texts - 1) / 2
        return (self.goal.documents - 1) * min(_UNSEEN / max(pairs, 1.0), 1.0)

    @property
    def warning(self) -> str:
        """What is wrong with the numbers of candidates in vain; empty where they rest on texts enough."""
        if self.unseen <= self.goal.candidates:
            return ""
        return (
            f"What is compared in vain rests on {self.texts:,} texts: among {self.goal.documents:,} documents it may "
            f"be up to {self.unseen:,.0f} a query more than is told. Expect that, or give more texts: {_TEXTS} count."
        )

    @property
    def scheme(self) -> Scheme:
        """The scheme that is chosen."""
        return self.front[self.choice].scheme

    def with_choice(self, place: int) -> Tuned:
        """The same with another option."""
        if not 0 <= place < len(self.front):
            raise InputError(f"There is no row {place + 1}. Choose one from 1 to {len(self.front)}.")
        return self if place == self.choice else replace(self, choice=place, why="The row was chosen by hand.")


def tune_by_labels(
    documents: Sequence[tuple[str, str]],
    labels: Labels,
    goal: Goal | None = None,
    base: Scheme | None = None,
    on_step: OnStep = lambda _: None,
    on_reject: OnReject = lambda _: None,
) -> Tuned:
    """The scheme that tells documents, (id, text) pairs, apart as their labels do.

    ``base`` says how texts are read; the corpus is as large as the sample, unless the ``goal`` says otherwise.
    """
    texts = [text for _, text in documents]
    goal, base = goal or Goal(len(texts)), _base(base)
    truth = truth_of(labels, [id_ for id_, _ in documents], on_reject)
    judge, apart = RuleSearch(truth), first_positions(texts)
    found: list[tuple[Tokens, MeasuredPairs]] = []
    for tokens in FEATURES:
        on_step(f"Comparing all texts by {describe_tokens(tokens)}")
        found.append((tokens, measure_pairs(replace(base, tokens=tokens), texts, apart)))
    on_step("Trying rules")
    pairs = np.unique(np.concatenate([each.pairs for _, each in found]))
    agreements = agreements_of(base, texts, pairs)
    learnt = []
    for tokens, each in found:
        there = np.searchsorted(pairs, each.pairs)
        held = {name: values[there] for name, values in agreements.items()}
        learnt.append(_learnt(tokens, each, held, judge.best(each, held), truth, goal))
    learnt.sort(key=lambda each: -each.tried.merit)
    best = learnt[0].tried
    if not len(learnt[0].right):
        raise InputError(
            "None of the labelled duplicates are alike in their texts. Name the fields that hold them, or look at the "
            "labels."
        )
    on_step("Measuring keys")
    scheme = replace(
        base,
        name="tuned",
        tokens=best.tokens,
        simhash=None,
        minhash=MinHash(similarity=best.jaccard),
        verification=best.rule.verification,
    )
    front = key_options(scheme, learnt[0].probe(texts), goal)
    choice = choose(front, goal)
    why = (
        f"{capitalized(describe_tokens(best.tokens))} with {describe_rule(best.rule.verification)} fit these labels "
        f"best (F1 {best.rule.f1:.3f} on parts of them held out of the choice), and {describe_keys(choice, goal)}."
    )
    return Tuned(len(texts), goal, front, front.index(choice), why, [each.tried for each in learnt])


@dataclass(frozen=True, eq=False)
class _Learnt:
    """A rule with the pairs that it finds, and those of them that are right, with their plain similarities."""

    tried: Tried
    near: Numbers
    right: Numbers
    jaccards: Similarities

    def probe(self, texts: Sequence[str]) -> Probe:
        """What keys for the rule are measured on."""
        random = _spread(len(texts), _TEXTS)
        # Copies are found by any keys, and tell nothing of them.
        unequal = self.jaccards < 1 if (self.jaccards < 1).any() else self.jaccards <= 1
        pairs = self.right[unequal][_spread(int(unequal.sum()), _PAIRS)]
        rows = np.unique(np.concatenate(positions(pairs)))
        return Probe(
            [texts[place] for place in random.tolist()],
            _among(self.near, random),
            [texts[place] for place in rows.tolist()],
            pair_codes(*(np.searchsorted(rows, side) for side in positions(pairs))),
            self.jaccards[unequal],
        )


def _learnt(tokens: Tokens, found: MeasuredPairs, held: Agreements, rule: Rule, truth: Truth, goal: Goal) -> _Learnt:
    near = found.similarities[rule.verification.measure] >= rule.verification.similarity
    for name, agreements in held.items():
        near &= agreements >= getattr(rule.verification, name)
    right = near & truth.are_positive(found.pairs)
    level = _level(found.jaccards[right], rule.verification.similarity)
    in_vain = int((found.jaccards[~near] >= level).sum())
    documents = len(truth.units)
    others = in_vain * 2 / max(documents * (documents - 1), 1) * goal.documents
    return _Learnt(Tried(tokens, rule, level, others), found.pairs[near], found.pairs[right], found.jaccards[right])


def tune_by_similarity(
    texts: Sequence[str],
    similarity: float,
    goal: Goal | None = None,
    base: Scheme | None = None,
    on_step: OnStep = lambda _: None,
) -> Tuned:
    """The scheme that finds pairs from a similarity on: the Jaccard similarity of features that weigh by their rarity.

    Without a ``base`` features are chosen by the length of texts.
    """
    check_similarity(similarity)
    texts = [text for text in texts if text]
    if not texts:
        raise InputError("There are no texts to tune by. Name the fields that hold them.")
    goal = goal or Goal(len(texts))
    tokens = base.tokens if base else features_for(texts)
    settings = replace(_base(base), tokens=tokens)
    on_step("Comparing all texts of the sample")
    near = measure_pairs(settings, texts, first_positions(texts))
    alike = near.similarities["jaccard"] >= similarity
    level = _level(near.jaccards[alike], similarity)
    if alike.sum() < _FEW:
        level = similarity
    on_step("Measuring keys")
    scheme = replace(
        settings,
        name="tuned",
        simhash=None,
        minhash=MinHash(similarity=level),
        verification=Verification(similarity),
    )
    random = _spread(len(texts), _TEXTS)
    copies = synthetic_pairs(scheme, [texts[place] for place in _spread(len(texts), _PAIRS).tolist()], level)
    if not len(copies.pairs):
        raise InputError(
            f"No text has a single feature, as {describe_tokens(tokens)}. Name the fields that hold texts."
        )
    probe = Probe(
        [texts[place] for place in random.tolist()],
        _among(near.pairs[alike], random),
        copies.features,
        copies.pairs,
        copies.jaccards,
    )
    front = key_options(scheme, probe, goal)
    choice = choose(front, goal)
    why = f"{capitalized(describe_keys(choice, goal, f'the pairs of the similarity {similarity:g}'))}."
    return Tuned(len(texts), goal, front, front.index(choice), why)


def features_for(texts: Iterable[str]) -> Tokens:
    """Character n-grams that suit the length of texts: shorter ones for titles, names and posts."""
    lengths, dense = [], 0
    for text in texts:
        lengths.append(len(text))
        dense += script_of(text[:1_000]) in ("Han", "Kana", "Hangul")
    short = _SHORT_IDEOGRAPHS if 2 * dense > len(lengths) else _SHORT
    return Chars(3) if median(lengths) < short else Chars(5)


def _base(base: Scheme | None) -> Scheme:
    return replace(base or Scheme.preset("default"), weights="set", idf=None, layout=Layout())


def _level(jaccards: Similarities, otherwise: float) -> float:
    """The plain similarity of nearly all pairs that are near."""
    level = float(np.quantile(jaccards, _LEAST_SIMILAR)) if len(jaccards) else otherwise
    return max(math.floor(1_000 * level) / 1_000, _LOWEST)


def _spread(count: int, most: int) -> Integers:
    """The positions of up to ``most`` among so many, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def _among(pairs: Numbers, rows: Integers) -> Numbers:
    """Those of the pairs that are of these rows, by the places of the rows."""
    first, second = positions(pairs)
    both = np.isin(first, rows) & np.isin(second, rows)
    return pair_codes(np.searchsorted(rows, first[both]), np.searchsorted(rows, second[both]))
