"""Documents drawn at random from files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from es_simhash.cli.jobs.labelled_documents import sample_of_files
from es_simhash.documents.files import FileDocument, read_documents


@pytest.fixture
def found(tmp_path: Path) -> list[tuple[FileDocument, str]]:
    """Twenty documents of a file."""
    path = tmp_path / "news.jsonl"
    path.write_text("".join(f'{{"id": "{number:02}"}}\n' for number in range(20)), encoding="utf-8")
    return [
        (each, f"text {each.id}")
        for each in read_documents(str(path), on_reject=lambda rejected: pytest.fail(rejected.reason))
    ]


def test_all_documents_are_taken_if_there_are_no_more(found: list[tuple[FileDocument, str]]) -> None:
    counts: list[int] = []
    sampled = sample_of_files(found, 20, counts.append)
    assert sampled.documents == [(each.id, text) for each, text in found]
    assert (sampled.total, counts) == (20, list(range(1, 21)))


def test_the_number_asked_for_is_drawn_in_order_and_the_same_ones_again(found: list[tuple[FileDocument, str]]) -> None:
    sampled = sample_of_files(found, 5)
    ids = [id_ for id_, _ in sampled.documents]
    assert (len(set(ids)), ids, sampled.total) == (5, sorted(ids), 20)
    assert sample_of_files(found, 5) == sampled


def test_each_document_is_as_likely_as_any_other(found: list[tuple[FileDocument, str]]) -> None:
    times = Counter(id_ for seed in range(1_000) for id_, _ in sample_of_files(found, 5, seed=seed).documents)
    assert len(times) == 20
    # 250 each, with a standard deviation of 14.
    assert all(abs(count - 250) < 70 for count in times.values())
