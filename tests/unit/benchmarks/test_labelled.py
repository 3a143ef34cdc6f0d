"""Labelled sets, and scores of ranked pairs, for the benchmark of quality."""

from __future__ import annotations

import gzip
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from benchmarks.corpora import CORPORA_VARIABLE
from benchmarks.labelled import Best, Found, LabelledSet, Ranked, judged, labelled_sets
from tests.support.labelled import clusters, documents, labels

SET = LabelledSet("made up", documents(), labels())
PLACES = {id_: place for place, id_ in enumerate(SET.ids)}


def at(a: str, b: str) -> tuple[int, int]:
    return PLACES[a], PLACES[b]


def test_ranked_pairs_have_scores_at_their_threshold_and_at_the_best_one() -> None:
    scores = {at("0", "0 same"): 1.0, at("1 near", "1"): 0.8, at("2 near", "2"): 0.8, at("3", "4"): 0.5}
    scores[at("5", "5 near")] = 0.4
    found = judged(SET, Ranked.of(scores, 0.5, SET.truth).found(SET))
    assert found.precision.value == 3 / 4
    assert found.recall.value == 3 / 55
    assert found.f1_of_unequal == pytest.approx(2 * 2 / (2 * 2 + 1 + 43))
    assert found.best
    assert [found.best.f1, found.best.at] == pytest.approx([2 * 4 / (2 * 4 + 1 + 51), 0.4])
    assert found.candidates == 4 / 55
    assert found.f1.low is not None
    assert found.f1.value is not None
    assert found.f1.low <= found.f1.value


def test_nothing_ranked_finds_nothing() -> None:
    found = judged(SET, Ranked.of({}, 0.5, SET.truth).found(SET))
    assert (found.precision.value, found.recall.value, found.best, found.candidates) == (None, 0, Best(0, 1), 0)


def test_groups_are_scored_next_to_the_pairs_that_connect_them() -> None:
    chain = {at("1", "1 near"): 1.0, at("1 near", "1 same"): 1.0, at("2", "3"): 1.0}
    found = judged(SET, Ranked.of(chain, 0.5, SET.truth).found(SET))
    assert found.f1.value == pytest.approx(2 * 2 / (2 * 2 + 1 + 53))
    assert found.groups
    assert found.groups.closure_f1.value == pytest.approx(2 * 3 / (2 * 3 + 1 + 52))
    alone, true = len(SET.documents), judged(SET, _truth())
    assert true.groups
    assert {true.groups.closure_f1.value, true.groups.b_cubed_f1.value, true.groups.adjusted_rand_index.value} == {1}
    nothing = judged(SET, Found(np.empty(0, np.uint64), np.arange(alone))).groups
    assert nothing
    assert nothing.adjusted_rand_index.value == 0


def _truth() -> Found:
    return Found(SET.truth.positives, np.unique(SET.units, return_index=True)[1][SET.units])


def test_a_part_has_whole_clusters_and_the_rest_has_the_others() -> None:
    part, rest = SET.part(1 / 3)
    assert sorted([*part.documents, *rest.documents]) == sorted(SET.documents)
    assert abs(len(set(part.truth.units)) - len(set(SET.truth.units)) / 3) < 1
    assert len(part.truth.positives) + len(rest.truth.positives) == len(SET.truth.positives)
    for cluster in clusters():
        assert len({id_ in part.ids for id_ in cluster}) == 1


def test_sets_are_read_from_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows_by_file = {
        "a/clusters.jsonl": [{"cluster": 1, "ids": ["1", "2"]}],
        "b/pairs.jsonl": [{"a": "1", "b": "2", "label": 1}, {"a": "1", "b": "3", "label": 0}],
        "without/other.jsonl": [],
    }
    for name, rows in rows_by_file.items():
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        with gzip.open(path.parent / "docs.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps({"id": id_, "text": f"text {id_}"}) + "\n" for id_ in "123")
    monkeypatch.setenv(CORPORA_VARIABLE, str(tmp_path))
    found = list(labelled_sets())
    assert [(each.name, each.labels.kind, each.ids) for each in found] == [
        ("a", "clusters", ["1", "2", "3"]),
        ("b", "pairs", ["1", "2", "3"]),
    ]
    everything = dict.fromkeys(combinations(range(3), 2), 1.0)
    by_clusters, by_pairs = (judged(each, Ranked.of(everything, 0.5, each.truth).found(each)) for each in found)
    assert by_clusters.precision.value == pytest.approx(1 / 3)
    assert by_pairs.precision.value == 1 / 2
    assert by_pairs.groups is None
    monkeypatch.delenv(CORPORA_VARIABLE)
    assert list(labelled_sets()) == []
