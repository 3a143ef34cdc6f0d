"""Which texts stand for others, and what the metadata of a kept document says of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Scheme, SchemeError, dedup
from es_simhash.integrations.standing import metadata_of, scheme_and_options, standing
from tests.support.corpus import corpus, edited
from tests.support.texts import batches

STORIES = [each["body"] for each in corpus(6)]
COPIES = [edited({"body": text}, 2)["body"] for text in STORIES]


@given(st.permutations([*STORIES, *COPIES]))
def test_the_first_of_each_pair_of_copies_is_kept_and_stands_for_the_other(texts: list[str]) -> None:
    stories = {text: number for copies in (STORIES, COPIES) for number, text in enumerate(copies)}
    groups = standing("default", None, None, texts)
    assert [[stories[texts[place]] for place in group] for group in groups] == [
        [number] * 2 for number in dict.fromkeys(stories[text] for text in texts)
    ]
    assert all(group == sorted(group) for group in groups)


@given(batches())
def test_each_text_is_kept_or_stood_for_once_and_in_order(texts: list[str]) -> None:
    groups = standing("default", None, None, texts)
    assert sorted(place for group in groups for place in group) == list(range(len(texts)))
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)


def test_texts_with_nothing_to_compare_are_all_kept() -> None:
    assert standing("default", None, None, ["", " ", "", "…"]) == [[0], [1], [2], [3]]
    assert standing("default", None, None, []) == []


def test_each_removed_text_is_near_the_one_that_is_kept() -> None:
    """In a chain, whose ends are not near each other, a group by links alone would remove the end."""
    words = STORIES[0].split()
    chain = [" ".join(words[start : start + 40]) for start in range(0, 30, 6)]
    with dedup(((str(place), text) for place, text in enumerate(chain))) as found:
        assert list(found.positions()) == [[0, 1, 2, 3, 4]]
    assert not _are_near(chain[0], chain[-1])
    groups = standing("default", None, None, chain)
    assert len(groups) > 1
    assert all(_are_near(chain[group[0]], chain[place]) for group in groups for place in group[1:])


def _are_near(a: str, b: str) -> bool:
    with dedup([("a", a), ("b", b)]) as found:
        return len(found) == 1


def test_calls_in_several_threads_do_not_disturb_one_another() -> None:
    """As asynchronous parts make them, with the same options."""
    scheme_and_options.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: standing("default", None, None, [*STORIES, *COPIES]), range(40)))
    assert found == [[[number, number + len(STORIES)] for number in range(len(STORIES))]] * 40


def test_a_scheme_is_named_or_written_as_json() -> None:
    short = Scheme.preset("short")
    assert scheme_and_options("short", "copies", None) == scheme_and_options(short.to_json(), "copies", None)
    assert scheme_and_options("short", None, None)[0] == short


@pytest.mark.parametrize(("scheme", "similarity"), [("shrot", None), ("default", 1.5), ("strict", 0.5)])
def test_wrong_options_are_refused(scheme: str, similarity: float | None) -> None:
    with pytest.raises(SchemeError):
        scheme_and_options(scheme, similarity, None)


def test_metadata_of_a_kept_document_counts_what_it_stood_for_before() -> None:
    first = {"source": "a", "near_duplicates": 1, "near_duplicate_ids": ["7"]}
    second = {"source": "b", "near_duplicates": 2, "near_duplicate_ids": ["8", "9"]}
    assert metadata_of([("1", first), ("2", second), ("3", {})]) == {
        "source": "a",
        "near_duplicates": 5,
        "near_duplicate_ids": ["7", "2", "8", "9", "3"],
    }
    assert first == {"source": "a", "near_duplicates": 1, "near_duplicate_ids": ["7"]}
