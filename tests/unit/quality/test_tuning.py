"""Schemes that are chosen by labels or for a similarity."""

from __future__ import annotations

import random

import pytest

from es_simhash import Chars, Scheme, Words
from es_simhash.errors import InputError, SchemeError
from es_simhash.groups.pairs.deduplicator import Deduplicator
from es_simhash.quality.bootstrap import Bootstrap
from es_simhash.quality.evaluation import EvaluationOptions, evaluate
from es_simhash.quality.key_choice import Goal
from es_simhash.quality.labels import Labels
from es_simhash.quality.tuning import Tuned, features_for, tune_by_labels, tune_by_similarity
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.testing.corpus import corpus

WORDS = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in "nrst"]


def forms(seed: int, count: int = 40) -> tuple[list[tuple[str, str]], Labels]:
    """Letters that are alike but for their numbers, each with a copy that somebody typed anew."""
    rng = random.Random(seed)
    documents, clusters = [], []
    common: list[str] = []
    for number in range(count):
        common = common if number % 2 else rng.choices(WORDS, k=40)
        letter = f"{' '.join(common)} number {rng.randrange(10**4)}"
        typed = letter.split()
        for place in rng.sample(range(40), 10):
            typed[place] = rng.choice(WORDS)
        documents += [(f"{number}", letter), (f"{number} typed", " ".join(typed))]
        clusters.append([f"{number}", f"{number} typed"])
    return documents, Labels.of_clusters(clusters)


@pytest.fixture(scope="module")
def by_labels() -> Tuned:
    return tune_by_labels(*forms(1))


def test_a_rule_learnt_from_labels_holds_on_other_documents(by_labels: Tuned) -> None:
    """Copies are as similar as letters with other numbers: they differ only in the numbers."""
    verification = by_labels.scheme.verification
    assert verification
    assert verification.numbers > 0
    assert (verification.lengths, verification.first_lines) == (0, 0)
    documents, labels = forms(2)

    def f1(scheme: Scheme) -> float:
        found = evaluate(documents, labels, Deduplicator(scheme, threads=1), EvaluationOptions(Bootstrap(0), 0))
        assert found.pairs.f1.value is not None
        return found.pairs.f1.value

    assert f1(by_labels.scheme) > 0.97
    assert f1(Scheme.preset("default")) < 0.8


def test_rules_come_in_the_order_of_their_merit_and_the_best_is_taken(by_labels: Tuned) -> None:
    merits = [each.merit for each in by_labels.tried]
    assert merits == sorted(merits, reverse=True)
    assert len(merits) == 7
    best = by_labels.tried[0]
    assert (by_labels.scheme.tokens, by_labels.scheme.verification) == (best.tokens, best.rule.verification)
    assert by_labels.scheme.minhash
    assert by_labels.scheme.minhash.similarity == best.jaccard


def test_where_any_rule_is_right_there_is_no_condition() -> None:
    texts = [each["body"] for each in corpus(20)]
    documents = [(f"{number}{side}", text) for number, text in enumerate(texts) for side in "ab"]
    clusters = [[f"{number}a", f"{number}b"] for number in range(20)]
    tuned = tune_by_labels(documents, Labels.of_clusters(clusters))
    verification = tuned.scheme.verification
    assert verification
    assert not verification.has_conditions
    assert verification.measure == "jaccard"
    assert tuned.scheme.tokens == Chars(5)
    assert tuned.tried[0].rule.f1 == 1


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


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        (Labels.of_clusters([["0", "1"], ["2", "3"]]), "2 clusters of duplicates.*Label at least 5"),
        (Labels.of_clusters([[f"{2 * n}", f"{2 * n + 1}"] for n in range(6)]), "duplicates have similar texts"),
        (Labels.of_pairs({(f"{2 * n}", f"{2 * n + 1}"): True for n in range(6)}), "not of duplicates"),
    ],
)
def test_labels_with_too_little_information_are_refused(labels: Labels, error: str) -> None:
    documents = [(str(number), each["body"]) for number, each in enumerate(corpus(12))]
    with pytest.raises(InputError, match=error):
        tune_by_labels(documents, labels)


def test_labelled_pairs_tune_as_well() -> None:
    documents, _ = forms(1)
    clusters = [(f"{number}", f"{number} typed") for number in range(40)]
    near = dict.fromkeys(clusters, True)
    others = {(f"{number}", f"{number + 1}"): False for number in range(0, 40, 2)}
    verification = tune_by_labels(documents, Labels.of_pairs(near | others)).scheme.verification
    assert verification
    assert verification.numbers > 0


# ---- for a similarity


TEXTS = [each["body"] for each in corpus(60)]


def test_keys_for_a_similarity_find_as_much_as_is_asked_for() -> None:
    tuned = tune_by_similarity(TEXTS, 0.6, Goal(10_000_000))
    choice = tuned.front[tuned.choice]
    assert choice.expected_recall >= 0.99
    assert choice.recall >= 0.95
    assert choice.candidates == 0
    assert tuned.scheme.verification == Verification.of_fingerprints(0.6, weights="rarity")
    assert "0.6" in tuned.why
    assert "10,000,000 documents" in tuned.why
    assert tuned.tried == ()


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
        (700, 10_000_000, ""),
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
