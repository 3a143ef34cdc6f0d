"""What the page about an evaluation says."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from es_simhash.cli.reports.evaluation_page import evaluation_page
from es_simhash.groups.options import GroupOptions
from es_simhash.quality.evaluation import Evaluation, EvaluationOptions, evaluation_of
from es_simhash.quality.labels import Labels
from es_simhash.quality.scores import Bootstrap
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verification import Verification
from tests.support.labelled import documents, labels

EVIL = "<script>console.error('ran')</script><img src='http://127.0.0.1:9/x'> <b onclick=x>" + "long" * 60
OPTIONS = EvaluationOptions(Bootstrap(10))


def of(given: Labels, preset: str = "default", name: str = "", **near: object) -> Evaluation:
    texts = [(id_, name + text) for id_, text in documents()]
    grouping = GroupOptions(threads=1, **near)  # type: ignore[arg-type]
    return evaluation_of(texts, given, Scheme.preset(preset), grouping, OPTIONS)


def hostile() -> Evaluation:
    texts = [(EVIL + id_, EVIL + text) for id_, text in documents()]
    near = [(EVIL + a, EVIL + b) for a, b in (("0", "0 near"), ("1", "1 rewritten"))]
    given = Labels.of_pairs({near[0]: False, near[1]: True, (EVIL + "nobody", near[0][0]): True})
    return evaluation_of(texts, given, Scheme(), GroupOptions(threads=1, by="both"), OPTIONS)


EVALUATIONS = {
    "both": lambda: of(labels(), by="both"),
    "distance": lambda: of(labels(), "strict"),
    "chinese": lambda: of(labels(), name="新闻"),
    "pairs": lambda: of(Labels.of_pairs({("1", "1 near"): True, ("2", "2 near"): False})),
    "nothing": lambda: of(Labels.of_clusters([["empty"]]), "strict", distance=0),
    "hostile": hostile,
}


def page(name: str) -> str:
    return evaluation_page(EVALUATIONS[name](), "news.jsonl", datetime(2026, 11, 21, tzinfo=timezone.utc))


def test_the_page_shows_scores_thresholds_and_errors() -> None:
    text = page("both")
    evaluation = EVALUATIONS["both"]()
    assert f"recall {evaluation.pairs.recall.value:.3f}" in text
    for part in (
        "F1 of pairs in groups",
        "adjusted Rand index",
        "B-cubed F1",
        "By the script of both texts",
        "within 3 bits",
        "0 near",
    ):
        assert part in text
    assert "no key in common" in text
    assert "the threshold in use" in text
    for curve in evaluation.curves:
        assert curve.best
        assert f'<th scope="row">{curve.best.threshold:g}</th>' in text
    assert text.count("highest F1") == len(evaluation.curves)


def test_the_page_says_what_similarity_is() -> None:
    scheme = Scheme(verification=Verification(0.5, numbers=0.5))
    text = evaluation_page(evaluation_of(documents(), labels(), scheme, GroupOptions(threads=1), OPTIONS), "news.jsonl")
    for shown in (
        "balanced measure of the texts&#x27; runs and numbers, weighted by rarity",
        "at least 0.5 of their numbers in common",
    ):
        assert shown in text


def test_the_page_says_whether_all_pairs_were_compared() -> None:
    evaluation = EVALUATIONS["both"]()
    assert "The exact Jaccard similarity of all pairs" in evaluation_page(evaluation, "news.jsonl")
    many = replace(evaluation, ceiling=replace(evaluation.ceiling, is_complete=False))
    assert "of nearly all pairs that are similar" in evaluation_page(many, "news.jsonl")


def test_the_page_of_labelled_pairs_says_what_is_not_known() -> None:
    text = page("pairs")
    assert "B-cubed is undefined" in text
    assert "Unlabelled pairs were found, and not counted" in text


def test_the_page_says_so_if_there_is_nothing_to_show() -> None:
    text = page("nothing")
    assert text.count("<p>None.</p>") == 1
    assert "nan" not in text.lower().replace("nanometre", "")
