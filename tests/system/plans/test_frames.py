"""Frames go into an index as documents do, and what is found comes out as tables, on every engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

from es_simhash import AsyncIndex, Documents, Frame, Scheme
from es_simhash.engines.base import Engine
from es_simhash.index import Index
from es_simhash.plans.operations import GetDocuments
from tests.support.corpus import corpus, edited
from tests.support.html_reader import Reader

pa = pytest.importorskip("pyarrow")

STORIES = corpus(8)
FRAME = polars.DataFrame(
    [{"sku": place, **each} for place, each in enumerate([*STORIES, *(edited(each, 2) for each in STORIES[:4])])]
)


@pytest.fixture
def index(engine: Engine, names: Callable[[], str]) -> Index:
    """An index with the documents of the frame."""
    index = Index(names(), engine, fields=["title", "body"])
    index.init()
    written = index.add(Frame(FRAME, id_field="sku"), refresh=True)
    assert (written.done, written.rejected) == (12, [])
    return index


def test_the_rows_of_a_frame_are_the_documents_of_the_index(index: Index) -> None:
    [found] = index.engine.perform(GetDocuments(index.name, ["3"]))
    assert {name: found["_source"][name] for name in FRAME.columns} == FRAME.row(3, named=True)
    assert found["_source"]["dedup"]["scheme"] == index.scheme.id


def test_new_rows_are_checked_as_documents_are(index: Index) -> None:
    new = FRAME.select("title", "body").to_pandas()
    rows: list[dict[str, Any]] = new.to_dict("records")
    assert list(index.check(new)) == list(index.check(rows))
    assert list(index.find_many(docs=new)) == list(index.find_many(docs=rows))
    assert list(index.find_many(FRAME["body"])) == list(index.find_many(FRAME["body"].to_list()))
    [checked] = index.check(pandas.DataFrame({"_id": ["new"], "body": ["Nothing of this kind is there."]}))
    assert (checked.id, checked.is_new) == ("new", True)


def test_a_row_that_is_not_a_document_is_rejected_and_the_others_are_written(index: Index) -> None:
    frame = polars.DataFrame({"_id": ["a", "b"], "body": ["One text.", "Another text."], "price": [float("nan"), 1.5]})
    written = index.add(frame, refresh=True)
    assert written.done == 1
    assert [each.id for each in written.rejected] == ["a"]


def test_matches_are_a_table(index: Index) -> None:
    matches = index.find(id="0", source=["title"])
    assert [each.id for each in matches] == ["8"]
    [row] = matches.to_arrow().to_pylist()
    assert (row["index"], row["id"], row["similarity"]) == (index.name, "8", matches[0].similarity)
    assert row["source"] == '{"title": ' + f'"{STORIES[0]["title"]}"' + "}"
    assert polars.DataFrame(matches)["id"].to_list() == ["8"]
    assert index.find("Nothing of this kind is there.").to_arrow().num_rows == 0
    assert index.find("Nothing of this kind is there.").to_arrow().schema == matches.to_arrow().schema


def test_groups_are_a_table(index: Index) -> None:
    with index.group() as found:
        rows = found.to_arrow().to_pylist()
        expected = [(group.id, member.index, member.id) for group in found for member in group.members]
        assert [(row["group"], row["index"], row["id"]) for row in rows] == expected
        assert sum(row["is_canonical"] for row in rows) == len(found) == 4
        assert polars.DataFrame(found).height == 8
        read = Reader(found._repr_html_()).text
        assert "12 documents, 4 groups, 4 duplicates" in read
        assert next(iter(found)).id in read
    assert "closed" in found._repr_html_()


def test_an_asynchronous_index_takes_frames(tmp_path: Path) -> None:
    async def added_and_checked() -> tuple[int, list[bool]]:
        async with AsyncIndex("news", str(tmp_path), fields=["title", "body"]) as index:
            await index.init()
            written = await index.add(Frame(FRAME, id_field="sku"), refresh=True)
            new = FRAME.select("title", "body")
            assert [len(each) async for each in index.find_many(FRAME.to_arrow()["body"])] == [2] * 4 + [1] * 4 + [
                2
            ] * 4
            assert [len(each) async for each in index.find_many(docs=new)] == [2] * 4 + [1] * 4 + [2] * 4
            return written.done, [each.is_new async for each in index.check(new)]

    assert asyncio.run(added_and_checked()) == (12, [False] * 12)


def test_fields_are_added_to_rows_for_a_client_to_write() -> None:
    documents = Documents(Scheme(), ["title", "body"])
    assert list(documents.add_fields_to_all(FRAME)) == list(documents.add_fields_to_all(FRAME.to_dicts()))
    actions = [{"_id": str(row["sku"]), **row} for row in FRAME.to_dicts()]
    assert list(documents.actions(Frame(FRAME, id_field="sku"))) == list(documents.actions(actions))

    async def asynchronous() -> list[Any]:
        return [each async for each in documents.async_actions(Frame(FRAME, id_field="sku"))]

    assert asyncio.run(asynchronous()) == list(documents.actions(actions))
