"""Schemes that are chosen by labels or for a similarity."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from es_simhash import Chars, Scheme, Scope, Words
from es_simhash._core.arrays import Integers
from es_simhash.errors import InputError, SchemeError
from es_simhash.groups.pairs.deduplicator import Deduplicator
from es_simhash.quality.bootstrap import Bootstrap
from es_simhash.quality.evaluation import EvaluationOptions, evaluate
from es_simhash.quality.labels import Labels
from es_simhash.quality.measures import Flags, jaccard_of
from es_simhash.quality.stored_documents import StoredDocuments
from es_simhash.quality.tuning import Tuned, features_for, tune_by_labels, tune_by_similarity
from es_simhash.quality.tuning_json import tuning_json
from es_simhash.scheme.verdict.verification import Measure, Verification
from es_simhash.sketches.key_plans import Goal
from es_simhash.testing.corpus import corpus, edited

WORDS = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in "nrst"]


def letters(seed: int, count: int = 40) -> tuple[list[tuple[str, str]], Labels]:
    """Letters, each with a copy in which a third of the words are others."""
    rng = random.Random(seed)
    documents, clusters = [], []
    for number in range(count):
        words = rng.choices(WORDS, k=60)
        retyped = words[:20] + rng.choices(WORDS, k=20) + words[40:]
        documents += [(f"{number}", " ".join(words)), (f"{number} retyped", " ".join(retyped))]
        clusters.append([f"{number}", f"{number} retyped"])
    return documents, Labels.of_clusters(clusters)


@pytest.fixture(scope="module")
def by_labels() -> Tuned:
    return tune_by_labels(*letters(1))


def test_a_threshold_that_labels_choose_holds_on_other_documents(by_labels: Tuned) -> None:
    documents, labels = letters(2)

    def f1(scheme: Scheme) -> float:
        found = evaluate(documents, labels, Deduplicator(scheme, threads=1), EvaluationOptions(Bootstrap(0), 0))
        assert found.pairs.f1.value is not None
        return found.pairs.f1.value

    assert f1(by_labels.scheme) > 0.97
    assert f1(Scheme.preset("default")) < 0.8


def test_labels_choose_the_threshold_and_nothing_else_of_the_rule(by_labels: Tuned) -> None:
    assert by_labels.threshold
    assert by_labels.scheme.verification == Verification(by_labels.threshold.best.similarity)
    own = Verification(0.9, measure="jaccard", numbers=0.5, features="scheme")
    scheme = Scheme(tokens=Words(2), html=True, verification=own)
    tuned = tune_by_labels(*letters(1), base=scheme)
    assert tuned.threshold
    assert tuned.threshold.best.similarity < tuned.threshold.own.similarity == 0.9
    assert tuned.scheme.verification == replace(own, similarity=tuned.threshold.best.similarity)
    assert (tuned.scheme.tokens, tuned.scheme.html) == (Words(2), True)


def test_the_threshold_is_the_best_one_of_an_evaluation(by_labels: Tuned) -> None:
    documents, labels = letters(1)
    found = evaluate(documents, labels, Deduplicator(Scheme.preset("default"), threads=1), EvaluationOptions())
    [curve] = found.curves
    assert by_labels.threshold
    best, own = by_labels.threshold.best, by_labels.threshold.own
    assert curve.best
    assert (best.similarity, best.scores.f1.value) == (curve.best.threshold, curve.best.f1)
    assert (own.similarity, own.scores) == (0.63, found.pairs)


def test_a_threshold_stands_beside_the_levels_and_names_the_nearest(by_labels: Tuned) -> None:
    threshold = by_labels.threshold
    assert threshold
    assert {each.level for each in threshold.tried if each.level} == {"copies", "near", "versions"}
    similarities = [each.similarity for each in threshold.tried]
    assert similarities == sorted({threshold.best.similarity, 0.5, 0.63, 0.85})
    assert threshold.nearest.level == "versions"
    assert "The level nearest to it is versions, 0.5." in by_labels.why
    for each in threshold.tried:
        f1 = each.scores.f1
        assert f1.low is not None
        assert f1.value is not None
        assert f1.high is not None
        assert f1.low <= f1.value <= f1.high


def test_the_schemes_own_threshold_stays_where_none_is_better() -> None:
    texts = [each["body"] for each in corpus(20)]
    documents = [(f"{number}{side}", text) for number, text in enumerate(texts) for side in "ab"]
    clusters = [[f"{number}a", f"{number}b"] for number in range(20)]
    tuned = tune_by_labels(documents, Labels.of_clusters(clusters))
    assert tuned.scheme.verification == Verification()
    assert tuned.threshold
    assert tuned.threshold.best is tuned.threshold.own
    assert tuned.threshold.best.scores.f1.value == 1
    assert "it is the scheme's own. It is the level near." in tuned.why


def test_a_tuned_scheme_is_read_back_from_its_file(by_labels: Tuned) -> None:
    assert Scheme.from_json(by_labels.scheme.to_json()) == by_labels.scheme


def test_no_option_is_beaten_by_another(by_labels: Tuned) -> None:
    front = by_labels.front
    assert len(front) > 1
    assert not any(a.is_beaten_by(b) for a in front for b in front)


def test_another_row_may_be_chosen(by_labels: Tuned) -> None:
    other = by_labels.with_choice(0 if by_labels.choice else 1)
    assert other.scheme == other.front[other.choice].scheme != by_labels.scheme
    assert by_labels.with_choice(by_labels.choice) is by_labels
    with pytest.raises(InputError, match=r"no row 99\. Choose one from 1"):
        by_labels.with_choice(98)


def some_copies() -> list[tuple[str, str]]:
    """Twelve texts, each with a copy in which words are changed."""
    return [
        (f"{number}{side}", text)
        for number, each in enumerate(corpus(12))
        for side, text in (("a", each["body"]), ("b", edited(each, 3)["body"]))
    ]


COPIES = {(f"{number}a", f"{number}b"): True for number in range(5)}
OTHERS = {(f"{number}a", f"{number + 1}a"): False for number in range(5)}


@pytest.mark.parametrize(
    ("labels", "warning"),
    [
        (Labels.of_pairs(COPIES | OTHERS), "5 pairs of duplicates in 5 clusters, and 5 pairs of others"),
        (Labels.of_clusters([["0a", "0b"]]), "1 pair of duplicates in 1 cluster:"),
        (Labels.of_clusters([["0a", "0b", "1a", "1b"]]), "6 pairs of duplicates in 1 cluster:"),
    ],
    ids=["pairs", "clusters", "a cluster"],
)
def test_few_labels_make_a_scheme_and_a_warning(labels: Labels, warning: str) -> None:
    tuned = tune_by_labels(some_copies(), labels)
    assert warning in tuned.warning
    assert "Label some hundreds" in tuned.warning
    assert tuning_json(tuned)["warning"] == tuned.warning


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        (Labels.of_pairs(COPIES), "of one kind"),
        (Labels.of_pairs(OTHERS), "of one kind"),
        (Labels.of_clusters([[f"{n}a", f"{n + 1}a"] for n in range(0, 12, 2)]), "No labelled duplicates have similar"),
    ],
    ids=["duplicates", "others", "unlike"],
)
def test_labels_that_choose_no_threshold_are_refused(labels: Labels, error: str) -> None:
    with pytest.raises(InputError, match=error):
        tune_by_labels(some_copies(), labels)


def test_enough_labels_raise_no_doubts(by_labels: Tuned) -> None:
    assert by_labels.warning == ""


def test_labelled_pairs_tune_as_clusters_do(by_labels: Tuned) -> None:
    documents, _ = letters(1)
    near = {(f"{number}", f"{number} retyped"): True for number in range(40)}
    others = {(f"{number}", f"{number + 1}"): False for number in range(0, 40, 2)}
    tuned = tune_by_labels(documents, Labels.of_pairs(near | others))
    assert tuned.scheme.verification == by_labels.scheme.verification
    assert tuned.warning == ""


@pytest.mark.parametrize("kind", ["clusters", "pairs"])
def test_pairs_out_of_scope_are_neither_right_nor_wrong(kind: str) -> None:
    """Both tenants have the same letters, so without the scope most pairs that are alike would be wrong, or missed."""
    documents, _ = letters(1)
    both = [(f"{tenant} {id_}", text, {"tenant": tenant}) for tenant in "ab" for id_, text in documents]
    if kind == "clusters":
        labelled = Labels.of_clusters([[f"{t} {n}", f"{t} {n} retyped"] for t in "ab" for n in range(40)])
    else:
        near = {(f"{t} {n}", f"{t} {n} retyped"): True for t in "ab" for n in range(40)}
        others = {(f"{t} {n}", f"{t} {n + 1}"): False for t in "ab" for n in range(39)}
        labelled = Labels.of_pairs(near | others | {(f"a {n}", f"b {n}"): False for n in range(40)})
    with StoredDocuments.of(both, scope=Scope(("tenant",))) as stored:
        scoped = tune_by_labels(stored, labelled)
    unscoped = tune_by_labels([(id_, text) for id_, text, _ in both], labelled)
    scores = [each.threshold.best.scores.f1.value for each in (scoped, unscoped) if each.threshold]
    assert scores[0] is not None
    assert scores[0] > 0.95
    assert scores[1] is not None
    assert scores[1] < 0.85
    # Equal texts of the other tenant are no false candidates.
    assert min(each.candidates for each in scoped.front) == 0


# ---- for a similarity


def test_copies_out_of_scope_say_nothing_about_a_similarity() -> None:
    texts = [TEXTS[0], "", *TEXTS[1:]]
    copies = [edited({"title": "", "body": text}, 9, seed=place)["body"] for place, text in enumerate(TEXTS)]
    tenants = np.array([0] * len(texts) + [1] * len(copies))

    def in_scope(first: Integers, second: Integers) -> Flags:
        same: Flags = tenants[first] == tenants[second]
        return same

    goal = Goal(1_000_000)
    alone, unscoped = tune_by_similarity(TEXTS, 0.6, goal), tune_by_similarity([*texts, *copies], 0.6, goal)
    scoped = tune_by_similarity([*texts, *copies], 0.6, goal, in_scope=in_scope)
    levels = [each.scheme.minhash.similarity for each in (alone, scoped, unscoped) if each.scheme.minhash]
    assert levels[0] == levels[1] != levels[2]

    def fewest(tuned: Tuned) -> float:
        return min(each.candidates for each in tuned.front)

    # Copies that are less similar than is asked for are false candidates, unless a search leaves them out.
    unscoped = tune_by_similarity([*texts, *copies], 0.95, goal)
    scoped = tune_by_similarity([*texts, *copies], 0.95, goal, in_scope=in_scope)
    assert 5 * fewest(scoped) < fewest(unscoped)


TEXTS = [each["body"] for each in corpus(60)]


def test_keys_for_a_similarity_find_as_much_as_is_asked_for() -> None:
    tuned = tune_by_similarity(TEXTS, 0.6, Goal(10_000_000))
    choice = tuned.front[tuned.choice]
    assert choice.expected_recall >= 0.99
    assert choice.recall >= 0.95
    assert choice.candidates == 0
    assert tuned.scheme.verification == Verification(0.6)
    assert "0.6" in tuned.why
    assert "10,000,000 documents" in tuned.why
    assert tuned.threshold is None


def test_a_similarity_to_tune_for_may_be_given_by_its_level() -> None:
    assert tune_by_similarity(TEXTS, "versions").scheme.verification == Verification.at("versions")


def test_blocks_stand_beside_bands_where_texts_are_to_be_almost_equal() -> None:
    front = tune_by_similarity(TEXTS, 0.97, Goal(1_000_000)).front
    blocks = [each for each in front if each.scheme.simhash]
    assert blocks
    assert all(each.scheme.verification is None for each in blocks)
    assert all(abs(each.recall - each.expected_recall) < 0.1 for each in blocks)


def test_the_expected_recall_is_what_is_measured() -> None:
    for option in tune_by_similarity(TEXTS, 0.5, Goal(1_000)).front:
        error = 3 * (option.expected_recall * (1 - option.expected_recall) / 60) ** 0.5 + 0.02
        assert abs(option.recall - option.expected_recall) < error


def test_shared_phrases_make_candidates() -> None:
    rng = random.Random(1)
    boilerplate = " ".join(rng.choices(WORDS, k=60))
    texts = [f"{boilerplate} {' '.join(rng.choices(WORDS, k=40))}" for _ in range(60)]
    tuned = tune_by_similarity(texts, 0.7, Goal(60_000))
    assert tuned.front[tuned.choice].candidates > 100
    assert tuned.front[tuned.choice].random_candidates < 1


@pytest.mark.parametrize(
    ("texts", "documents", "expected"),
    [
        (4, 4, ""),
        (60, 6_000_000, "measured on 60 texts"),
        (700, 7_000_000, ""),
        (5_000, 1_000_000_000, "measured on 700 texts"),
    ],
)
def test_few_texts_are_too_few_for_many_documents(texts: int, documents: int, expected: str) -> None:
    warning = Tuned(texts, Goal(documents), [], 0, "").warning
    assert expected in warning
    assert bool(expected) == bool(warning)


def test_the_number_of_unseen_candidates_is_an_upper_bound() -> None:
    """The chance to see none of them in a hundred pairs is 5% then."""
    tuned = Tuned(15, Goal(1_000_001), [], 0, "")
    assert (1 - tuned.unseen / 1_000_000) ** 105 == pytest.approx(0.05, rel=0.1)


def test_the_features_of_a_scheme_that_is_given_are_kept() -> None:
    scheme = tune_by_similarity(TEXTS, 0.8, base=Scheme(tokens=Words(2), html=True)).scheme
    assert (scheme.tokens, scheme.html) == (Words(2), True)
    rule = Verification(0.5, measure="jaccard", numbers=0.3, features="scheme")
    assert tune_by_similarity(TEXTS, 0.8, base=Scheme(verification=rule)).scheme.verification == replace(
        rule, similarity=0.8
    )


@pytest.mark.parametrize("measure", ["jaccard", "balanced"])
def test_keys_are_chosen_for_the_jaccard_similarity_of_texts_of_one_length(measure: Measure) -> None:
    """Two sets of 100 features share 80 of them."""
    similarity = {"jaccard": 80 / 120, "balanced": (80 / 120 * 0.8) ** 0.5}[measure]
    assert jaccard_of(measure, similarity) == pytest.approx(80 / 120)


def test_short_texts_get_shorter_features() -> None:
    assert features_for(TEXTS) == Chars(5)
    assert features_for(["A title", "Another one of these"]) == Chars(3)
    assert features_for(["近似重复检测的一个标题"]) == Chars(3)
    assert features_for(["近似重复检测的一个标题" * 5]) == Chars(5)


@pytest.mark.parametrize(
    ("texts", "similarity", "goal", "error"),
    [
        ([], 0.5, None, InputError),
        ([""], 0.5, None, InputError),
        (TEXTS, 1.5, None, SchemeError),
        (TEXTS, 0.001, None, SchemeError),
    ],
)
def test_invalid_options_are_refused(
    texts: list[str], similarity: float, goal: Goal | None, error: type[Exception]
) -> None:
    with pytest.raises(error):
        tune_by_similarity(texts, similarity, goal)


@pytest.mark.parametrize("given", [{"recall": 1.0}, {"recall": 0.0}, {"documents": 0}])
def test_wishes_that_no_keys_fulfil_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(SchemeError, match=r"Choose|Say"):
        Goal(**{"documents": 10, **given})  # type: ignore[arg-type]
