"""Schemes that are chosen by labels or for a similarity."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from es_simhash import MinHash, Scheme, Scope
from es_simhash._core.rows import as_json
from es_simhash.errors import InputError, SchemeError
from es_simhash.groups.options import GroupOptions
from es_simhash.quality.evaluation import EvaluationOptions, evaluation_of
from es_simhash.quality.labels import Labels, stored
from es_simhash.quality.scores import Bootstrap
from es_simhash.quality.tuning import Tuned, preset_for, tune_by_labels, tune_by_similarity
from es_simhash.scheme.verification import Verification
from es_simhash.text import Words
from tests.support.corpus import corpus, edited

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
        found = evaluation_of(documents, labels, scheme, GroupOptions(threads=1), EvaluationOptions(Bootstrap(0), 0))
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
    assert tuned.scheme.id == scheme.id


def test_the_threshold_is_the_best_one_of_an_evaluation(by_labels: Tuned) -> None:
    documents, labels = letters(1)
    found = evaluation_of(documents, labels, Scheme.preset("default"), GroupOptions(threads=1), EvaluationOptions())
    [curve] = found.curves
    assert by_labels.threshold
    best, own = by_labels.threshold.best, by_labels.threshold.own
    assert curve.best
    assert (best.similarity, best.scores.f1.value) == (curve.best.threshold, curve.best.f1)
    assert (own.similarity, own.scores) == (0.63, found.pairs)


def test_a_threshold_stands_next_to_the_levels_and_names_the_nearest(by_labels: Tuned) -> None:
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
    assert as_json(tuned)["warning"] == tuned.warning


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
    with stored(both, options=GroupOptions(scope=Scope(("tenant",)))) as kept:
        scoped = tune_by_labels(kept, labelled)
    unscoped = tune_by_labels([(id_, text) for id_, text, _ in both], labelled)
    scores = [each.threshold.best.scores.f1.value for each in (scoped, unscoped) if each.threshold]
    assert scores[0] is not None
    assert scores[0] > 0.95
    assert scores[1] is not None
    assert scores[1] < 0.85


# ---- for a similarity


TEXTS = [each["body"] for each in corpus(60)]


def test_a_similarity_becomes_the_threshold_of_a_scheme() -> None:
    tuned = tune_by_similarity([*TEXTS, ""], similarity=0.6)
    assert tuned.scheme.verification == Verification(0.6)
    assert tuned.scheme.id == Scheme().id
    assert (tuned.documents, tuned.threshold, tuned.warning) == (60, None, "")
    assert "0.6" in tuned.why


def test_a_similarity_to_tune_for_may_be_given_by_its_level() -> None:
    assert tune_by_similarity(TEXTS, similarity="versions").scheme.verification == Verification.at("versions")


def test_all_else_of_a_scheme_that_is_given_is_kept() -> None:
    rule = Verification(0.5, measure="jaccard", numbers=0.3, features="scheme")
    base = Scheme(tokens=Words(2), html=True, verification=rule)
    expected = replace(base, name="tuned", verification=replace(rule, similarity=0.8))
    assert tune_by_similarity(TEXTS, similarity=0.8, base=base) == Tuned(
        60, expected, "From the similarity 0.8 on, texts are near-duplicates."
    )


@pytest.mark.parametrize("name", ["strict", "chinese-keywords"])
def test_a_scheme_without_minhash_gets_one(name: str) -> None:
    base = Scheme.preset(name)
    scheme = tune_by_similarity(TEXTS, similarity=0.8, base=base).scheme
    assert (scheme.simhash, scheme.minhash) == (base.simhash, MinHash())


def test_short_texts_get_the_preset_for_them() -> None:
    assert preset_for(TEXTS) == "default"
    assert preset_for(["A title", "Another one of these"]) == "short"
    assert preset_for(["近似重复检测的一个标题"]) == "short"
    assert preset_for(["近似重复检测的一个标题" * 5]) == "default"


@pytest.mark.parametrize(
    ("texts", "similarity", "error"),
    [([], 0.5, InputError), ([""], 0.5, InputError), (TEXTS, 1.5, SchemeError), (TEXTS, 0.0, SchemeError)],
)
def test_invalid_options_are_refused(texts: list[str], similarity: float, error: type[Exception]) -> None:
    with pytest.raises(error):
        tune_by_similarity(texts, similarity=similarity)
