"""An evaluation says what comparing pair by pair with the labels says."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from es_simhash.errors import InputError
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.evaluation import Evaluation, EvaluationOptions, PairError, evaluation_of
from es_simhash.quality.labels import Labels
from es_simhash.quality.scores import Bootstrap
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprinting import hashed_features
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import MinHash, Settings, SimHash
from es_simhash.scheme.verification import Verification
from es_simhash.text.features import FeatureBatch
from tests.support.labelled import clusters, documents, labels

SCHEME = Scheme(verification=None)
DOCUMENTS = documents()
IDS = [id_ for id_, _ in DOCUMENTS]
OPTIONS = EvaluationOptions(Bootstrap(40), examples=3)


def evaluated(given: Labels | None = None, options: EvaluationOptions = OPTIONS, **near: object) -> Evaluation:
    grouping = GroupOptions(threads=1, **near)  # type: ignore[arg-type]
    return evaluation_of(DOCUMENTS, given or labels(), SCHEME, grouping, options)


def listed(pairs: Numbers) -> set[frozenset[str]]:
    return {frozenset((IDS[a], IDS[b])) for a, b in zip(*(side.tolist() for side in positions(pairs)), strict=True)}


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluated(by="both")


def test_pairs_are_right_wrong_or_missed(evaluation: Evaluation) -> None:
    true = {frozenset(pair) for cluster in clusters() for pair in combinations(cluster, 2)}
    fingerprints = dict(zip(IDS, SCHEME.fingerprints(text for _, text in DOCUMENTS), strict=True))
    texts = dict(DOCUMENTS)

    def near(a: str, b: str) -> bool:
        both = fingerprints[a], fingerprints[b]
        if "empty" in (both[0].status, both[1].status):
            return False
        return SCHEME.distance(*both) <= 3 or SCHEME.exact_jaccard(texts[a], texts[b]) >= 0.6

    found = {frozenset(pair) for pair in combinations(IDS, 2) if near(*pair)}
    judged = evaluation.judged
    assert (listed(judged.right), listed(judged.wrong)) == (found & true, found - true)
    assert listed(judged.missed) == true - found
    pairs = evaluation.pairs
    assert (pairs.right, pairs.wrong, pairs.missed) == (len(found & true), len(found - true), len(true - found))
    assert pairs.precision.value == pytest.approx(len(found & true) / len(found))
    assert pairs.recall.value == pytest.approx(len(found & true) / len(true))
    assert pairs.wrong
    assert pairs.missed


def test_intervals_hold_the_values(evaluation: Evaluation) -> None:
    scores = evaluation.clusters
    assert scores
    every = [evaluation.pairs.f1, scores.adjusted_rand_index, scores.b_cubed_precision, scores.b_cubed_f1]
    for each in every:
        assert each.low is not None
        assert each.value is not None
        assert each.high is not None
        assert each.low <= each.value <= each.high
        assert each.low < each.high


def test_groups_are_scored_by_all_pairs_within_them() -> None:
    """Of b, which is near a and c, two pairs are found; the third one is in the group as well."""
    words = "".join(chr(0x4E00 + number) for number in range(90))
    texts = {"a": words[:60], "b": words[10:70], "c": words[20:80], "d": words[::-1]}
    found = evaluation_of(
        list(texts.items()), Labels.of_clusters([["a", "b", "d"]]), SCHEME, GroupOptions(similarity=0.6, threads=1)
    )
    assert (found.pairs.right, found.pairs.wrong, found.pairs.missed) == (1, 1, 2)
    scores = found.clusters
    assert scores
    closure = scores.closure_precision.value, scores.closure_recall.value, scores.closure_f1.value
    assert closure == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert found.to_json()["clusters"]["closure_f1"]["value"] == pytest.approx(1 / 3)


def test_the_pairs_of_all_buckets_are_all_pairs(evaluation: Evaluation) -> None:
    assert set(evaluation.buckets) == {"length", "script", "equality"}
    for buckets in evaluation.buckets.values():
        sums = [sum(getattr(each, name) for each in buckets.values()) for name in ("right", "wrong", "missed")]
        assert sums == [evaluation.pairs.right, evaluation.pairs.wrong, evaluation.pairs.missed]
    equal = evaluation.buckets["equality"]["equal texts"]
    assert (equal.right, equal.wrong, equal.missed) == (10, 0, 0)


def test_curves_go_through_what_the_thresholds_in_use_find(evaluation: Evaluation) -> None:
    by_similarity, by_distance = evaluation.curves
    for curve, near, threshold in ((by_similarity, {"similarity": 0.6}, 0.6), (by_distance, {"distance": 3}, 3)):
        alone = evaluated(options=replace(OPTIONS, bootstrap=Bootstrap(0)), **near).pairs
        point = curve.at(threshold)
        assert point
        assert (point.precision, point.recall) == pytest.approx((alone.precision.value, alone.recall.value))
    best = by_similarity.best
    assert best
    assert best.f1 == max(point.f1 or 0 for point in by_similarity.points)


def test_the_exact_similarity_of_all_pairs_is_the_ceiling(evaluation: Evaluation) -> None:
    ceiling, [by_similarity, _] = evaluation.ceiling, evaluation.curves
    assert ceiling.is_complete
    assert ceiling.curve.best
    assert by_similarity.best
    assert by_similarity.best.f1 == pytest.approx(ceiling.curve.best.f1)
    assert ceiling.candidates == 1
    assert ceiling.true_candidates is not None
    assert ceiling.true_candidates < 1


def test_the_curve_uses_the_measure_that_the_scheme_verifies_by() -> None:
    numbered = [(id_, text and f"{text} {place % 4 // 2 + 11}") for place, (id_, text) in enumerate(DOCUMENTS)]

    def by(scheme: Scheme, **near: Any) -> Evaluation:
        return evaluation_of(numbered, labels(), scheme, GroupOptions(threads=1, **near), OPTIONS)

    scheme = replace(SCHEME, verification=replace(Verification.of_fingerprints(0.5), numbers=1.0))
    found, plain = by(scheme), by(SCHEME, similarity=0.5)
    assert found.pairs.right < plain.pairs.right
    [curve] = found.curves
    point = curve.at(0.5)
    assert point
    assert (point.precision, point.recall) == pytest.approx((found.pairs.precision.value, found.pairs.recall.value))
    assert found.ceiling == plain.ceiling
    assert by(scheme, estimate=True).pairs.right == by(SCHEME).pairs.right


def test_the_worst_errors_come_first_and_each_text_once(evaluation: Evaluation) -> None:
    wrong, missed = evaluation.wrong, evaluation.missed
    # The near copy of a text that has a copy is wrong twice, with the same texts.
    assert [{IDS[error.first], IDS[error.second]} for error in wrong] == [{"0", "0 near"}]
    assert wrong[0].keys_meet
    assert wrong[0].jaccard == pytest.approx(SCHEME.exact_jaccard(*(dict(DOCUMENTS)[id_] for id_ in ("0", "0 near"))))
    assert len(missed) == 3
    assert [error.jaccard for error in missed] == sorted(error.jaccard for error in missed)
    assert all(error.similarity is None and error.distance is not None for error in missed)


def test_only_labelled_pairs_count() -> None:
    known = {("1", "1 near"): True, ("1", "1 rewritten"): True, ("2", "2 near"): False, ("2", "3"): False}
    found = evaluated(Labels.of_pairs(known))
    assert (found.pairs.right, found.pairs.wrong, found.pairs.missed) == (1, 1, 1)
    assert found.clusters is None
    assert found.judged.not_labelled == len(found.found.pairs) - 2


def test_the_form_is_json_and_says_the_same_each_time(evaluation: Evaluation) -> None:
    text = json.dumps(evaluation.to_json())
    assert "NaN" not in text
    assert json.dumps(evaluated(by="both").to_json()) == text
    read = json.loads(text)
    assert (read["truth"], read["out_of_scope"]) == (
        {"kind": "clusters", "duplicates": 55, "others": None, "unknown": [], "contradictory": []},
        0,
    )
    assert read["false_positives"][0]["first"]["id"] == "0"


def test_pairs_are_written_with_whether_they_are_right(evaluation: Evaluation) -> None:
    rows = list(evaluation.found_pairs())
    assert len(rows) == len(evaluation.found.pairs)
    assert sum(row["is_right"] for row in rows) == evaluation.pairs.right
    assert {"first": "0", "second": "0 same", "is_right": True, "similarity": 1.0, "distance": 0} in rows
    assert all(row["is_right"] is None for row in evaluated(Labels.of_pairs({("1", "2"): True})).found_pairs())


def test_nothing_found_has_no_precision() -> None:
    found = evaluation_of(
        [("a", "one text"), ("b", "another, quite unlike")], Labels.of_clusters([["a", "b"]]), *_strict()
    )
    assert (found.pairs.precision.value, found.pairs.recall.value, found.pairs.f1.value) == (None, 0, 0)
    alone = evaluation_of([("a", "one text"), ("b", "another, quite unlike")], Labels.of_clusters([["a"]]), *_strict())
    assert (alone.pairs.precision.value, alone.pairs.recall.value, alone.pairs.f1.value) == (None, None, None)
    assert alone.clusters is not None
    assert alone.clusters.b_cubed_f1.value == 1


def _distance(scheme: Scheme, found: Evaluation, error: PairError) -> int:
    a, b = scheme.fingerprints(found.texts[place] for place in (error.first, error.second))
    return scheme.distance(a, b)


def _strict() -> tuple[Scheme, GroupOptions]:
    return Scheme.preset("strict"), GroupOptions(threads=1)


@pytest.mark.parametrize(
    "scheme",
    [
        replace(SCHEME, simhash=None),
        replace(SCHEME, simhash=SimHash(128, 8, 5), minhash=MinHash("weighted"), weights="tf"),
        Scheme.preset("short"),
        Scheme.preset("strict"),
    ],
    ids=["no SimHash", "wide and weighted", "short", "strict"],
)
def test_schemes_of_every_kind_can_be_evaluated(scheme: Scheme) -> None:
    found = evaluation_of(DOCUMENTS, labels(), scheme, GroupOptions(threads=1), OPTIONS)
    assert found.pairs.right >= 10
    assert len(found.curves) == 1
    assert [error.distance is None for error in found.missed] == [scheme.simhash is None] * 3
    distances = [_distance(scheme, found, error) for error in found.missed if scheme.simhash]
    assert [error.distance for error in found.missed if scheme.simhash] == distances


def test_documents_are_read_once_and_only_texts_of_errors_are_kept(evaluation: Evaluation) -> None:
    found = evaluation_of(iter(DOCUMENTS), labels(), SCHEME, GroupOptions(threads=1, by="both"), OPTIONS)
    assert found.to_json() == evaluation.to_json()
    shown = {place for error in (*found.wrong, *found.missed) for place in (error.first, error.second)}
    assert {place: text for place, (_, text) in enumerate(DOCUMENTS) if place in shown} == found.texts


def test_ids_must_be_distinct() -> None:
    with pytest.raises(InputError, match="the same id"):
        evaluation_of([("a", "x"), ("a", "y")], labels(), *_strict())


def test_features_of_a_text_are_made_a_few_times_however_many_pairs_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [0]

    def counted(settings: Settings, texts: Sequence[str]) -> FeatureBatch:
        made[0] += len(texts)
        return hashed_features(settings, texts)

    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(60)]
    texts = [" ".join(rng.sample(words, 40)) for _ in range(100)]
    given = [(str(number), text) for number, text in enumerate(texts)]
    monkeypatch.setenv("ES_SIMHASH_NATIVE", "0")  # what numpy does can be counted
    monkeypatch.setattr(fingerprinting, "hashed_features", counted)
    together = Labels.of_clusters([[id_ for id_, _ in given]])
    found = evaluation_of(given, together, Scheme(), GroupOptions(threads=1), EvaluationOptions(Bootstrap(2)))
    assert found.pairs.missed > 4_000
    # Once more for the documents that are compared with all others, to estimate what keys miss.
    assert made[0] < 14 * len(texts)
    assert len(found.missed) == 10
    for error in found.missed:
        assert error.jaccard == Scheme().exact_jaccard(texts[error.first], texts[error.second])
