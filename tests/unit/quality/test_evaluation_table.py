"""An evaluation as a table has each score, and a notebook shows those of all pairs."""

from __future__ import annotations

import polars
import pytest

from es_simhash.groups.options import GroupOptions
from es_simhash.quality.evaluation import Evaluation, EvaluationOptions, evaluation_of
from es_simhash.quality.labels import Labels
from es_simhash.quality.scores import Bootstrap
from es_simhash.scheme.scheme import Scheme
from tests.support.html_reader import Reader
from tests.support.labelled import documents, labels

pytest.importorskip("pyarrow")

FRAME = polars.DataFrame(documents(), schema=["id", "body"], orient="row")
HOW = Scheme(), GroupOptions(threads=1)


def evaluated(given: Labels) -> Evaluation:
    return evaluation_of(FRAME, given, *HOW, EvaluationOptions(Bootstrap(20)))


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluated(labels())


def test_a_frame_is_evaluated_as_its_rows_are(evaluation: Evaluation) -> None:
    by_rows = evaluation_of(documents(), labels(), *HOW, EvaluationOptions(Bootstrap(20)))
    assert evaluation.to_json() == by_rows.to_json()


def test_the_table_has_each_score_with_its_interval(evaluation: Evaluation) -> None:
    rows = polars.DataFrame(evaluation).rows()
    assert ("pairs", None, "right", float(evaluation.pairs.right), None, None) in rows
    f1, clusters = evaluation.pairs.f1, evaluation.clusters
    assert ("pairs", None, "f1", f1.value, f1.low, f1.high) in rows
    assert clusters
    assert ("clusters", None, "b_cubed_f1", *vars(clusters.b_cubed_f1).values()) in rows
    for kind, buckets in evaluation.buckets.items():
        for name, scores in buckets.items():
            assert (kind, name, "missed", float(scores.missed), None, None) in rows
            assert (kind, name, "recall", *vars(scores.recall).values()) in rows
    assert len(rows) == 6 + 7 + 6 * sum(map(len, evaluation.buckets.values()))


def test_a_notebook_shows_the_scores_and_the_worst_errors(evaluation: Evaluation) -> None:
    read = Reader(evaluation._repr_html_()).text
    pairs = evaluation.pairs
    assert f"{pairs.right:,} right, {pairs.wrong:,} wrong, {pairs.missed:,} missed" in read
    assert "B-cubed F1" in read
    assert f"F1 of pairs{pairs.f1.value:.3f}{pairs.f1.low:.3f}{pairs.f1.high:.3f}" in read
    worst = evaluation.missed[0]
    assert f"Missed, the worst first: {evaluation.ids[worst.first]} and {evaluation.ids[worst.second]}" in read


def test_of_labelled_pairs_there_are_not_scores_of_clusters() -> None:
    (first, _), (second, _), (third, _) = documents()[:3]
    evaluation = evaluated(Labels.of_pairs({(first, second): True, (first, third): False}))
    assert "clusters" not in polars.DataFrame(evaluation)["kind"].to_list()
    assert "B-cubed" not in evaluation._repr_html_()
