"""Runners for published datasets read their files and score as the published tables do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as command
from benchmarks import core, news_copy
from benchmarks.core import Labelled
from tests.support.corpus import corpus, edited

BODIES = [each["body"] for each in corpus(12)]
LABELS = {"a": "bc", "b": "ac", "c": "ab", "d": "e", "e": "d", "f": ""}
NEAR = [edited(each, 2)["body"] for each in corpus(12)]


def rows(path: Path, records: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def records_of_core() -> list[dict[str, Any]]:
    """Ten pairs of near-duplicates, the first one not labelled, and two documents alone."""
    found = []
    for number, (body, near) in enumerate(zip(BODIES, NEAR, strict=True)):
        a, b = f"{number}a", f"{number}b"
        pair = [(a, body, [b]), (b, near, [a])] if number < 10 else [(a, body, [])]
        found += [
            {"core_id": id_, "processed_title": "", "processed_abstract": text, "labelled_duplicates": others}
            for id_, text, others in pair
        ]
    for record in found[:2]:
        record["labelled_duplicates"] = []
    return found


def test_core_prints_its_columns_with_the_published_rows_next_to_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = rows(tmp_path / "core.jsonl", records_of_core())
    monkeypatch.setattr(sys, "argv", ["benchmarks", "core", path])
    command.main()

    lines = capsys.readouterr().out.splitlines()
    # 18 of the 20 in groups have labels; both that are alone have none; the two without labels are in a group.
    assert "| es_simhash, near | 0.9000 | 1.0000 | 1.0000 | 0.5000 | 0.9500 | 0.9091 |" in lines
    assert "| MinHash (text-dedup) | 0.9594 | 0.9445 | 0.9474 | 0.9616 | 0.9534 | 0.9240 |" in lines


def test_documents_of_core_are_judged_by_their_groups() -> None:
    documents = [Labelled(id_, "", frozenset(others)) for id_, others in LABELS.items()]
    groups = {id_: frozenset("abf") for id_ in "abf"} | {id_: frozenset("cde") for id_ in "cde"}

    scores = core.scored(documents, groups)
    # d and e have their duplicates, among others; a, b and c lack some; f has none.
    assert scores == core.Scores(duplicates_right=2, duplicates_missed=0, others_right=0, wrong=4, exact=0)
    assert core.scored(documents, {}) == core.Scores(0, 5, 1, 0, 1)
    assert list(core.scored(documents, {}).columns()) == [0, 0, 1 / 6, 1, 1 / 12, 1 / 6]


def test_the_published_macro_f1_is_the_mean_of_both_precisions() -> None:
    published = [scores for name, *scores in core.PUBLISHED if "text-dedup" in name]
    assert [(scores[0] + scores[2]) / 2 for scores in published] == pytest.approx(
        [each[4] for each in published], abs=1e-4
    )


def test_news_copy_reads_articles_and_pairs_in_any_order(tmp_path: Path) -> None:
    articles = {f"img_{number}": {"article": body, "byline": ""} for number, body in enumerate([*BODIES, *NEAR])}
    pairs = [[f"img_{number}", f"img_{number + 12}"] for number in range(12)]
    (tmp_path / "data.json").write_text(json.dumps(articles), encoding="utf-8")
    (tmp_path / "gt.json").write_text(json.dumps(pairs), encoding="utf-8")
    files = [str(tmp_path / "gt.json"), str(tmp_path / "data.json")]

    [table] = news_copy.run(files)
    assert ["es_simhash, near", "1.000"] in table.rows
    assert ["bi-encoder", "0.915"] in table.rows
    assert news_copy.read(files).clusters.tolist() == news_copy.read(files[::-1]).clusters.tolist()


def test_news_copy_reads_records_with_their_clusters(tmp_path: Path) -> None:
    records = [{"article": body, "cluster": number % 12} for number, body in enumerate([*BODIES, *NEAR])]
    [table] = news_copy.run([rows(tmp_path / "news.jsonl", records)])
    assert ["es_simhash, near", "1.000"] in table.rows

    apart = [{**record, "cluster": number} for number, record in enumerate(records)]
    [table] = news_copy.run([rows(tmp_path / "news.jsonl", apart)])
    assert ["es_simhash, near", "0.000"] in table.rows
