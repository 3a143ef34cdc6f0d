"""What a gate has answered: shares of duplicates, of all documents and of bounded numbers of sources."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.gate.answered import Answered
from es_simhash.gate.requests import Asked
from es_simhash.gate.verdict import Verdict
from es_simhash.groups.loss_counts import Loss

NEW, EQUAL = Verdict("1", "new", accepted=True), Verdict("2", "equal")


def sent(count: int, seed: int = 1) -> Iterator[tuple[dict[str, Any], Verdict]]:
    """Yield documents of two sites in any order; one of them sends nothing but duplicates."""
    chosen = random.Random(seed)
    for number in range(count):
        is_bad = bool(chosen.randrange(2))
        site = "bad.example" if is_bad else "good.example"
        yield {"site": site, "body": f"Text {number} of a site."}, EQUAL if is_bad else NEW


def answered(count: int, at_once: int = 1) -> Answered:
    found, rows = Answered(), list(sent(count))
    for start in range(0, count, at_once):
        some = rows[start : start + at_once]
        found.add([Asked(document) for document, _ in some], [verdict for _, verdict in some])
    return found


@pytest.mark.parametrize("at_once", [1, 7, 1_000])
@pytest.mark.parametrize("count", [60, 199, 200, 201, 1_000])
def test_sources_are_counted_however_documents_come(count: int, at_once: int) -> None:
    found = answered(count, at_once)
    bad = sum(verdict is EQUAL for _, verdict in sent(count))
    assert (found.documents, found.duplicates) == (count, bad)
    assert found.warnings == [f"100% of site 'bad.example' were duplicates ({bad:,} of {bad:,}). Look at some of them."]
    # Metrics keep the names of sources, so the field must be sure.
    assert found.measured() == ([Loss("bad.example", bad, bad)] if count >= 200 else [])


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_a_few_documents_raise_no_alarm(count: int) -> None:
    found = answered(count)
    assert (found.documents, found.warnings, found.measured()) == (count, [], [])


def test_a_measured_source_stays_when_it_gets_better() -> None:
    found = answered(400)
    [bad] = found.measured()
    for _ in range(400):
        found.add([Asked({"site": "bad.example", "body": "New."})], [NEW])
    [better] = found.measured()
    assert (better.value, better.share < 0.5 < bad.share) == ("bad.example", True)
    assert found.warnings == []


def test_sources_are_bounded_in_number_and_in_what_is_measured() -> None:
    found = answered(200)
    for number in range(2_000):
        found.add([Asked({"site": f"{number}" * 500})] * 20, [EQUAL] * 20)
    assert len(found.measured()) == 20
    assert len(found.warnings) == 3
    assert len(found._by_source()[1]) == 1_000
    assert max(map(len, found._by_source()[1])) == 100


@given(st.lists(st.dictionaries(st.text(), st.none() | st.integers() | st.floats() | st.text() | st.lists(st.text()))))
def test_any_documents_are_counted(documents: list[Any]) -> None:
    found = Answered()
    found.add([Asked(each) for each in documents], [EQUAL] * len(documents))
    assert found.duplicates == len(documents)
    assert all(isinstance(each, str) for each in found.warnings)


def test_names_of_sources_are_text_that_can_be_written() -> None:
    found = answered(200)
    found.add([Asked({"site": "\ud800"})] * 20, [EQUAL] * 20)
    assert {each.value for each in found.measured()} == {"bad.example", "?"}
