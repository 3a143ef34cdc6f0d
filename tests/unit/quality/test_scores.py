"""Scores are what their definitions say, counted pair by pair and document by document.

Intervals: the same for the same seed, around the value, and as wide as theory has them.

Pairs are put where their texts belong: by length, by script, by equality.

Curves: what each threshold would find, counted again one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.quality.labels import first_positions
from es_simhash.quality.scores import (
    Bootstrap,
    Confusion,
    Contingency,
    Estimate,
    Many,
    adjusted_rand_index,
    by_identity,
    by_length,
    by_script,
    distance_curve,
    harmonic_mean,
    script_of,
    similarity_curve,
    times_of_pairs,
)

Clusters = Sequence[int]


def arrays(true: Clusters, found: Clusters) -> Contingency:
    return Contingency.of(*(np.unique(np.array(each), return_inverse=True)[1].reshape(-1) for each in (true, found)))


def ari(true: Clusters, found: Clusters) -> float:
    table = arrays(true, found)
    return float(adjusted_rand_index(table.pairs(np.ones(len(set(true)))), np.asarray(float(len(true)))))


def b_cubed(true: Clusters, found: Clusters) -> tuple[float, float]:
    precision, recall = (float(each.sum()) / len(true) for each in arrays(true, found).b_cubed())
    return precision, recall


def counted(true: Clusters, found: Clusters) -> tuple[int, int, int]:
    """Pairs found rightly, found wrongly and missed, one by one."""
    together = [(true[a] == true[b], found[a] == found[b]) for a, b in combinations(range(len(true)), 2)]
    return together.count((True, True)), together.count((False, True)), together.count((True, False))


def ari_by_definition(true: Clusters, found: Clusters) -> float:
    """(index - expected index) / (highest index - expected index), as Hubert and Arabie define it."""
    right, wrong, missed = counted(true, found)
    pairs = len(true) * (len(true) - 1) / 2
    expected = (right + missed) * (right + wrong) / pairs if pairs else 0.0
    highest = ((right + missed) + (right + wrong)) / 2
    return 1.0 if highest == expected else (right - expected) / (highest - expected)


def b_cubed_by_definition(true: Clusters, found: Clusters) -> tuple[float, float]:
    """The means over documents, each of whose own clusters are looked at."""
    precision = recall = 0.0
    for own_true, own_found in zip(true, found, strict=True):
        both = sum(t == own_true and f == own_found for t, f in zip(true, found, strict=True))
        precision += both / found.count(own_found) / len(true)
        recall += both / true.count(own_true) / len(true)
    return precision, recall


clusterings = st.integers(1, 25).flatmap(
    lambda size: st.tuples(*(st.lists(st.integers(0, 6), min_size=size, max_size=size) for _ in range(2)))
)


@given(clusterings)
def test_scores_of_clusterings_are_what_their_definitions_say(both: tuple[list[int], list[int]]) -> None:
    true, found = both
    pairs = arrays(true, found).pairs(np.ones(len(set(true))))
    assert (pairs.right, pairs.wrong, pairs.missed) == pytest.approx(counted(true, found))
    assert ari(true, found) == pytest.approx(ari_by_definition(true, found))
    assert b_cubed(true, found) == pytest.approx(b_cubed_by_definition(true, found))


@given(clusterings, st.data())
def test_clusters_that_come_several_times_count_as_copies_of_their_own(
    both: tuple[list[int], list[int]], data: st.DataObject
) -> None:
    true, found = both
    names = sorted(set(true))
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(names), max_size=len(names)))
    copies = [(f"{t} {copy}", f) for t, f in zip(true, found, strict=True) for copy in range(times[names.index(t)])]
    pairs = arrays(true, found).pairs(np.array(times, dtype=np.float64))
    expected = [[a == b for a, b in combinations(side, 2)] for side in zip(*copies, strict=True)] or [[], []]
    outcomes = list(zip(*expected, strict=True))
    # Copies of a true cluster are true clusters of their own, so what they have together in a found one counts no pair.
    same = [(a[0].split()[0], b[0].split()[0]) for a, b in combinations(copies, 2)]
    wrong = sum(not t and f and x != y for (t, f), (x, y) in zip(outcomes, same, strict=True))
    assert (pairs.right, pairs.wrong, pairs.missed) == pytest.approx(
        (outcomes.count((True, True)), wrong, outcomes.count((True, False)))
    )


def test_the_examples_of_bagga_and_baldwin() -> None:
    true = [1] * 5 + [2] * 2 + [3] * 5
    first, second = [1] * 5 + [2] * 7, [1] * 5 + [2] * 2 + [1] * 5
    assert b_cubed(true, first) == pytest.approx((0.762, 1.0), abs=0.001)
    assert b_cubed(true, second) == pytest.approx((0.583, 1.0), abs=0.001)


def test_the_example_of_yeung_and_ruzzo() -> None:
    # The contingency table 1 1 0 / 1 2 1 / 0 0 4 of "Details of the adjusted Rand index", 2001.
    assert ari([1, 1, 2, 2, 2, 2, 3, 3, 3, 3], [1, 2, 1, 2, 2, 3, 3, 3, 3, 3]) == pytest.approx(0.313, abs=0.0005)


def test_equal_clusterings_have_an_index_of_one_and_all_in_one_has_none() -> None:
    assert ari([1, 1, 2], [5, 5, 7]) == 1
    assert ari([1, 2, 3], [1, 2, 3]) == 1
    assert ari([1, 1, 2, 2], [1, 1, 1, 1]) == 0


def test_undefined_scores_are_nan() -> None:
    nothing = Confusion(np.array(0.0), np.array(0.0), np.array(3.0))
    assert np.isnan(nothing.precision)
    assert (float(nothing.recall), float(nothing.f1)) == (0.0, 0.0)
    some = Confusion(np.array(2.0), np.array(1.0), np.array(2.0))
    assert float(some.f1) == pytest.approx(float(harmonic_mean(some.precision, some.recall))) == pytest.approx(4 / 7)


RIGHT = np.arange(400) % 4 != 0


def mean(times: Many) -> Mapping[str, float]:
    return {"mean": float((times * RIGHT).sum() / times.sum())}


def test_the_interval_of_a_share_is_that_of_the_binomial_distribution() -> None:
    found = Bootstrap(2000).estimates(400, mean)["mean"]
    error = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert found.value == 0.75
    assert (found.low, found.high) == pytest.approx((0.75 - error, 0.75 + error), abs=0.006)


def test_samples_depend_on_the_seed_alone() -> None:
    assert Bootstrap(50).estimates(400, mean) == Bootstrap(50).estimates(400, mean)
    assert Bootstrap(50, seed=1).estimates(400, mean) != Bootstrap(50).estimates(400, mean)


def test_every_sample_has_as_many_clusters() -> None:
    assert {int(times.sum()) for times in Bootstrap(20).samples(7)} == {7}


def test_there_are_not_intervals_without_samples_or_without_meaning() -> None:
    assert Bootstrap(0).estimates(400, mean)["mean"] == Estimate(0.75)
    assert Bootstrap(5).estimates(3, lambda _: {"none": float("nan")})["none"] == Estimate(None)


def test_a_pair_comes_as_often_as_its_clusters_do() -> None:
    times = np.array([0.0, 2.0, 3.0])
    found = times_of_pairs(times, np.array([0, 1, 1, 2]), np.array([1, 1, 2, 2]))
    assert found.tolist() == [0, 2, 6, 3]


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("The quick brown fox", "Latin"),
        ("Ｆｕｌｌｗｉｄｔｈ", "Latin"),
        ("近似重复检测：两篇文章", "Han"),
        ("集群由多个 TiCDC 节点组成，是一种分布式的架构", "Han"),
        ("ひらがなとカタカナ", "Kana"),
        ("ﾊﾝｶｸ", "Kana"),
        ("중복 문서 찾기", "Hangul"),
        ("почти одинаковые тексты", "other"),
        ("漢 words слово", "mixed"),
        ("12:30 …", "none"),
        ("", "none"),
    ],
)
def test_the_script_is_that_of_most_of_a_text(text: str, script: str) -> None:
    assert script_of(text) == script


def test_pairs_are_put_by_the_shorter_text_and_by_both_scripts() -> None:
    texts = ["a" * 99, "a" * 100, "a" * 3000, "字" * 300]
    pairs = pair_codes(np.array([0, 1, 2, 2]), np.array([2, 2, 2, 3]))
    lengths, names = by_length(texts, pairs)
    assert [names[each] for each in lengths] == ["0–100", "100–300", "3k+", "300–1k"]
    scripts, names = by_script(texts, pairs)
    assert [names[each] for each in scripts] == ["Latin", "Latin", "Latin", "mixed"]


def test_texts_are_equal_byte_by_byte() -> None:
    buckets, names = by_identity(first_positions(["a", "A", "a"]), pair_codes(np.array([0, 0]), np.array([1, 2])))
    assert [names[each] for each in buckets] == ["unequal texts", "equal texts"]


SIMILARITIES = np.array([0.9, 0.8, 0.8, 0.61, 0.6, 0.35])
ALL_RIGHT = np.array([True, True, False, True, False, False])


def test_each_threshold_of_similarity_has_its_scores() -> None:
    curve = similarity_curve(SIMILARITIES, ALL_RIGHT, 4, 0.3)
    assert [point.threshold for point in curve.points][:3] == [0.3, 0.305, 0.31]
    assert curve.points[-1].threshold == 1
    for point in curve.points:
        found = point.threshold - 1e-9 <= SIMILARITIES
        right = int((found & ALL_RIGHT).sum())
        assert point.recall == right / 4
        assert point.precision == (pytest.approx(right / found.sum()) if found.any() else None)


def test_the_best_threshold_is_in_the_middle_of_those_that_are_as_good() -> None:
    curve = similarity_curve(SIMILARITIES, ALL_RIGHT, 4, 0.3)
    assert curve.best is not None
    assert [curve.best.threshold, curve.best.f1] == pytest.approx([0.61, 6 / 8])
    many = similarity_curve(np.array([0.9, 0.5]), np.array([True, False]), 1, 0.3).best
    assert many is not None
    assert many.threshold == pytest.approx(0.7, abs=0.01)
    assert curve.at(0.6001) is not None
    assert curve.at(0.1) is None


def test_each_number_of_bits_has_its_scores() -> None:
    curve = distance_curve(np.array([0, 1, 1, 3]), np.array([True, True, False, True]), 4, 3)
    found = [(point.threshold, point.precision, point.recall) for point in curve.points]
    assert found == [(0, 1, 0.25), (1, pytest.approx(2 / 3), 0.5), (2, pytest.approx(2 / 3), 0.5), (3, 0.75, 0.75)]
    assert curve.best is not None
    assert curve.best.threshold == 3


def test_nothing_that_is_right_has_no_best_threshold() -> None:
    assert similarity_curve(np.empty(0), np.empty(0, np.bool_), 0, 0.3).best is None
