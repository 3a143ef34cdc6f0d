"""The searches by which copies are found: parts of texts, and fields that a scheme may have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from es_simhash.documents.documents import Documents
from es_simhash.live.erase.candidates import parts, queries
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Passages
from es_simhash.testing.corpus import corpus

TEXT = corpus(1)[0]["body"]


def terms(query: Any) -> set[str]:
    """Return the fields of all terms within a query."""
    if isinstance(query, list):
        return set().union(*map(terms, query))
    if not isinstance(query, dict):
        return set()
    return {*query.get("term", {}), *terms(list(query.values()))}


@pytest.mark.parametrize("length", [1, 149, 150, 151, 225, 226, 1_000, 14_999, 100_000])
def test_each_stretch_of_half_a_part_lies_in_one_part(length: int) -> None:
    text = "".join(chr(0x4E00 + number % 20_000) for number in range(length))
    cut = parts(text) or [text]
    half = max(75, -(-length // 200))
    assert all(any(text[at : at + half] in part for part in cut) for at in range(0, length, 37))
    assert len(cut) <= 200


def test_a_short_text_has_no_parts() -> None:
    assert parts("x" * 150) == []
    assert len(parts("x" * 151)) > 1


def test_a_text_is_searched_for_by_all_keys_and_by_words_of_each_field() -> None:
    first, *others = queries([Documents(Scheme(), ["title", "body"])], TEXT)
    assert first["bool"]["should"][0]["bool"]["minimum_should_match"] == 1
    assert terms(first) == {"dedup.blocks", "dedup.bands"}
    assert len(others) == 1 + len(parts(TEXT))
    for query in others:
        fields = [clause["more_like_this"]["fields"] for clause in query["bool"]["should"]]
        assert fields == [["title"], ["body"]]


def test_schemes_are_asked_once_each_and_those_with_passages_by_their_keys() -> None:
    plain = Documents(Scheme(), ["body"])
    both = list(queries([plain, plain, Documents(replace(Scheme(), passages=Passages()), ["body"], "other")], TEXT))
    assert [terms(query) for query in both[:3]] == [
        {"dedup.blocks", "dedup.bands"},
        {"other.blocks", "other.bands"},
        {"other.passages"},
    ]
    assert len(both) == 3 + 1 + len(parts(TEXT))


@pytest.mark.parametrize("preset", ["strict", "short", "default"])
def test_a_scheme_is_searched_by_the_keys_that_it_has(preset: str) -> None:
    [first, *_] = queries([Documents(Scheme.preset(preset), ["body"])], TEXT)
    assert terms(first) >= {"dedup.blocks"}
