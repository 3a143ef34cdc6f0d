"""The searches by which copies are found: parts of texts, and fields that a scheme may have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from es_simhash.documents.documents import Documents
from es_simhash.live.erase.copies import by_keys, by_words, has_words, parts
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Passages
from tests.support.corpus import corpus

TEXT = corpus(1)[0]["body"]


def terms(query: Any) -> set[str]:
    """Return the fields of all terms within a query."""
    if isinstance(query, list):
        return set().union(*map(terms, query))
    if not isinstance(query, dict):
        return set()
    return {*query.get("term", {}), *terms(list(query.values()))}


@pytest.mark.parametrize("gap", ["", " ", " … 😀 "])
@pytest.mark.parametrize("count", [1, 26, 27, 39, 40, 1_000, 2_600, 2_601, 20_000])
def test_each_stretch_of_half_a_part_lies_in_one_part(count: int, gap: str) -> None:
    words = [chr(0x4E00 + number) for number in range(count)]
    text = gap.join(words)
    cut = parts(text) or [text]
    half = max(13, -(-count // 200))
    assert all(any(gap.join(words[at : at + half]) in part for part in cut) for at in range(0, count, 37))
    assert len(cut) <= 200
    assert all(part.count(words[-1]) == (part == cut[-1]) for part in cut)


def test_a_short_text_has_no_parts() -> None:
    assert parts("") == parts("!") == parts("word " * 26) == []
    assert parts("word " * 27) == [" ".join(["word"] * count) for count in (26, 14)]


@pytest.mark.parametrize(
    ("text", "others"),
    [("A b-1", ["Ａ ｂ－１"]), ("Ａ b", ["A b", "Ａ ｂ"]), ("漢字", []), ("ｶﾀｶﾅ", ["カタカナ"])],
)
def test_letters_of_the_other_width_are_searched_for_as_well(text: str, others: list[str]) -> None:
    [query] = by_words(["body"], text)
    likes = [clause["more_like_this"]["like"] for clause in query["bool"]["should"]]
    assert likes == [[text], *([other] for other in others)]


def test_a_text_is_searched_for_by_all_its_keys() -> None:
    [query] = by_keys([Documents(Scheme(), ["title", "body"])], TEXT)
    assert query["bool"]["should"][0]["bool"]["minimum_should_match"] == 1
    assert terms(query) == {"dedup.blocks", "dedup.bands"}


def test_a_text_and_its_parts_are_searched_for_in_each_field() -> None:
    found = list(by_words(["title", "body"], TEXT))
    assert len(found) == 1 + len(parts(TEXT))
    for query in found:
        fields = [clause["more_like_this"]["fields"] for clause in query["bool"]["should"]]
        assert fields == [["title"], ["title"], ["body"], ["body"]]
    assert list(by_words([], TEXT)) == []


def test_schemes_are_asked_once_each_and_those_with_passages_by_their_keys() -> None:
    plain = Documents(Scheme(), ["body"])
    both = list(by_keys([plain, plain, Documents(replace(Scheme(), passages=Passages()), ["body"], "other")], TEXT))
    assert [terms(query) for query in both] == [
        {"dedup.blocks", "dedup.bands"},
        {"other.blocks", "other.bands"},
        {"other.passages"},
    ]


@pytest.mark.parametrize(
    ("field", "has"),
    [
        ({"type": "text"}, True),
        ({"type": "keyword"}, True),
        ({"type": "text", "index": False}, False),
        ({"type": "long"}, False),
        ({}, False),
    ],
)
def test_words_are_searched_for_where_a_field_has_them(field: dict[str, Any], has: bool) -> None:
    assert has_words({"properties": {"inner": {"properties": {"body": field}}}}, "inner.body") is has
    assert not has_words({}, "inner.body")


@pytest.mark.parametrize("preset", ["strict", "short", "default"])
def test_a_scheme_is_searched_by_the_keys_that_it_has(preset: str) -> None:
    [first, *_] = by_keys([Documents(Scheme.preset(preset), ["body"])], TEXT)
    assert terms(first) >= {"dedup.blocks"}
