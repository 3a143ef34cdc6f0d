"""If a job keeps what it was asked for, the share of numbers that must agree is part of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from es_simhash import AsyncIndex, EsSimhashError, GroupOptions, Index, InputError, dedup
from es_simhash._core.json_codec import Json
from es_simhash.engines.connect import ThreadedEngine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import FormatError
from es_simhash.gate.judging import GateOptions
from es_simhash.groups.pairs.stored_rows import KeptStages
from es_simhash.scheme.mapping import GROUP
from tests.support.volumes import TEXTS, volume

ALL: Json = {"query": {"match_all": {}}}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index("volumes", EmbeddedEngine(tmp_path / "engine"), fields=["body"]) as index:
        index.init()
        index.add(({"_id": id_, "body": text} for id_, text in TEXTS.items()), refresh=True)
        yield index


def groups_in(index: Index) -> set[frozenset[str]]:
    """The groups that are written."""
    index.refresh()
    found: dict[str, set[str]] = {}
    for each in index.search({**ALL, "size": 100}):
        found.setdefault(each.hit["_source"]["dedup"].get(GROUP), set()).add(each.hit["_id"])
    found.pop(None, None)  # type: ignore[call-overload]
    return {frozenset(each) for each in found.values()}


def test_an_incremental_run_with_other_numbers_groups_all_documents_again(index: Index) -> None:
    for numbers, expected in ((None, 3), (1.0, 2), (None, 3)):
        options = GroupOptions(numbers=numbers, incremental=True)
        for compared in (3, 0):
            with index.group(**vars(options)) as grouped:
                assert (grouped.counts.new is None) == (compared == 3)
                index.write_groups(grouped)
            assert {len(each) for each in groups_in(index)} == {expected}
            index.refresh()


def test_a_cursor_is_of_one_share_of_numbers(index: Index) -> None:
    asked = {**ALL, "size": 1}
    page = index.search(asked, distinct=True, numbers=1, paged=True)
    assert page.cursor
    for numbers in (None, 0.5):
        with pytest.raises(FormatError, match="Pass the cursor of the previous page"):
            index.search(asked, distinct=True, numbers=numbers, cursor=page.cursor)
    assert index.search(asked, distinct=True, numbers=1, cursor=page.cursor)


def test_numbers_of_hits_without_texts_are_refused(index: Index) -> None:
    asked = {**ALL, "_source": False}
    with pytest.raises(InputError, match="Name the text fields in _source"):
        index.search(asked, distinct=True, numbers=1)
    assert len(index.search(asked, distinct=True, numbers=1, with_texts=True)) == 2
    assert len(index.search(asked, distinct=True, numbers=0)) == 1


def test_stages_of_a_deduplication_are_kept_for_one_share_of_numbers(tmp_path: Path) -> None:
    known = []
    with patch.object(KeptStages, "begin", autospec=True, side_effect=KeptStages.begin) as begin:
        for numbers in (None, 0.5, 1, 1):
            with dedup(TEXTS.items(), numbers=numbers, state=tmp_path):
                known.append(begin.call_args.args[1])
    assert known[2] == known[3]
    assert len({each["options"] for each in known}) == 3


def test_a_gate_takes_numbers(index: Index) -> None:
    assert GateOptions(find={"numbers": 1}).request().numbers == 1
    with pytest.raises(EsSimhashError, match="Leave the estimate out"):
        GateOptions(find={"numbers": 1, "estimate": True}).request()


def test_checked_documents_count_what_was_refused_in_the_index_and_earlier(index: Index) -> None:
    new = [{"_id": "19", "body": volume(19, 2021)}, {"_id": "20", "body": volume(20, 2022)}]
    first, second = index.check(new, numbers=1)
    assert (first.in_index.refused, first.earlier.refused, first.refused) == (3, 0, 3)
    assert (second.in_index.refused, second.earlier.refused, second.refused) == (3, 1, 4)
    assert first.is_new
    assert second.is_new
    assert [each.refused for each in index.check(new)] == [0, 0]


def test_an_asynchronous_index_finds_and_explains_by_numbers_too(index: Index) -> None:
    async def found() -> tuple[list[str], bool]:
        there = AsyncIndex("volumes", ThreadedEngine(index.engine))
        matches = await there.find(id="first", numbers=1)
        explanation = await there.explain("first", "second", numbers=1)
        return [match.id for match in matches], explanation.verdict.are_duplicates

    assert asyncio.run(found()) == (["copy"], False)


def test_an_explanation_names_the_numbers_that_differ(index: Index) -> None:
    explanation = index.explain("first", "second", numbers=1)
    assert explanation.verdict.code == "below-threshold"
    sentence = explanation.verdict.sentence
    assert sentence.startswith("No near-duplicates: candidates, and 0.9")
    assert (
        ": 2 of 2 numbers differ: 17, 2019 → 18, 2020, but 'second' has 0 of 2 numbers of 'first', a share of 0.00, "
        "below 1; "
    ) in sentence
    assert index.explain("first", "copy", numbers=1).verdict.are_duplicates
    assert index.explain("first", "second").evidence.numbers is None
