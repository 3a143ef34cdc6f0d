"""Each stage of a long job is counted, to its end: what a bar shows on a terminal, and a line elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from es_simhash.cli.show.output import Advance, Output
from tests.support.commands import run
from tests.support.corpus import corpus, edited

# The counts: each stage with its total, and how much was done when it was said.
Recorded = list[tuple[str, int | None, list[int]]]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    recorded: Recorded = []

    @contextmanager
    def progress(self: Output, doing: str, total: int | None = None, unit: str = "documents") -> Iterator[Advance]:
        said: list[int] = []
        recorded.append((doing, total, said))

        def advance(done: int, failed: int = 0, position: int | None = None, /, more: str = "") -> None:
            said.append(done if position is None else position)

        yield advance

    monkeypatch.setattr(Output, "progress", progress)
    return recorded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """300 documents, 50 of them with a copy, and what somebody says of them."""
    articles = corpus(250)
    articles += [edited(each, 1, seed=number) for number, each in enumerate(articles[:50])]
    rows = (
        json.dumps({"id": str(number), "date": f"2026-01-{1 + number % 28:02}", **each})
        for number, each in enumerate(articles)
    )
    (tmp_path / "news.jsonl").write_text("\n".join(rows), encoding="utf-8")
    labels = (json.dumps({"cluster": number, "ids": [str(number), str(250 + number)]}) for number in range(50))
    (tmp_path / "labels.jsonl").write_text("\n".join(labels), encoding="ascii")
    return tmp_path


def check(recorded: Recorded, *stages: str) -> None:
    """Each of these stages was counted, and each count grew up to its total."""
    assert set(stages) <= {doing for doing, _, _ in recorded}
    for doing, total, said in recorded:
        assert said or not total, f"{doing} said nothing"
        assert said == sorted(said), f"{doing} went back"
        if total:
            assert said[-1] == total, f"{doing} did not end"
    recorded.clear()


def test_each_stage_of_a_deduplication_is_counted(recorded: Recorded, folder: Path) -> None:
    files = ("--output", "groups.jsonl", "--pairs", "pairs.jsonl", "--canonical-only", "unique.jsonl")
    more = ("--report", "report.html", "--date", "date")
    run("dedup", "news.jsonl", "--field", "body", *files, *more, "--state", "state", cwd=folder)
    linking = ("Checking kept stages", "Finding equal texts", "Sorting keys")
    groups = ("Comparing", "Linking", "Making groups", "Reading groups")
    check(recorded, "Reading", *linking, *groups, "Reading pairs", "Writing documents", "Reading examples")


def test_each_stage_of_short_records_is_counted(recorded: Recorded, folder: Path) -> None:
    run("dedup", "news.jsonl", "--field", "title", "--scheme", "short", "--output", "groups.jsonl", cwd=folder)
    check(recorded, "Reading", "Sorting keys", "Comparing", "Linking", "Making groups", "Reading groups")


def test_each_stage_of_the_verbs_on_indices_is_counted(recorded: Recorded, folder: Path) -> None:
    fields = ("--field", "title", "--field", "body")
    run("load", "news", "news.jsonl", *fields, cwd=folder)
    check(recorded, "Loading")
    run("backfill", "news", cwd=folder)
    check(recorded, "Backfilling")
    run("learn", "news", cwd=folder)
    check(recorded, "Choosing documents to learn from")
    run("learn", "news.jsonl", "--field", "body", "--output", "rarity.json", cwd=folder)
    check(recorded, "Reading", "Learning how rare features are")
    run("reindex", "news", "copy", *fields, cwd=folder)
    check(recorded, "Copying", "Verifying")

    files = ("--output", "groups.jsonl", "--pairs", "pairs.jsonl", "--delete-script", "delete.ndjson")
    run("group", "news", "--canonical", "oldest:date", *files, "--report", "report.html", cwd=folder)
    linking = ("Finding equal texts", "Sorting keys", "Comparing", "Linking")
    check(recorded, "Reading", *linking, "Making groups", "Reading groups", "Reading pairs", "Reading duplicates")
    run("group", "news", "--write", cwd=folder)
    check(recorded, "Reading", "Writing")

    run("erase", "news", "--id", "0", "--scan", "--yes", cwd=folder)
    check(recorded, "Searching", "Scanning", "Erasing")


def test_documents_without_a_copy_are_looked_for_with_a_count(recorded: Recorded, folder: Path) -> None:
    run("load", "news", "news.jsonl", "--field", "body", cwd=folder)
    run("reindex", "news", "copy", cwd=folder)
    run("erase", "news", "--id", "0", "--yes", cwd=folder)
    recorded.clear()
    run("reindex", "news", "copy", cwd=folder, code=None)
    check(recorded, "Copying", "Verifying", "Looking for deleted documents")


def test_documents_that_get_their_groups_as_they_come_are_grouped_with_a_count(
    recorded: Recorded, folder: Path
) -> None:
    run("init", "news", "--field", "body", "--groups", "online", cwd=folder)
    run("load", "news", "news.jsonl", cwd=folder)
    recorded.clear()
    run("backfill", "news", cwd=folder)
    check(recorded, "Reading what to group", "Writing groups")


@pytest.mark.parametrize("source", [("news.jsonl", "--field", "body"), ("news",)])
def test_each_stage_of_measuring_quality_is_counted(recorded: Recorded, folder: Path, source: tuple[str, ...]) -> None:
    if source == ("news",):
        run("load", "news", "news.jsonl", "--field", "body", cwd=folder)
        recorded.clear()
    run("evaluate", *source, "--labels", "labels.jsonl", cwd=folder)
    exact = ("Reading features", "Comparing all", "Making keys", "Sampling")
    check(recorded, "Reading", "Sorting keys", "Comparing", *exact)
    run("tune", *source, "--labels", "labels.jsonl", cwd=folder)
    check(recorded, "Reading", "Sorting keys", "Comparing", "Sampling")
