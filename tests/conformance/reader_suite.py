"""Reading a whole index: a suite for pytest, with the fixtures of `EngineSuite`."""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import IndexStateError, MissingError, ReaderLostError
from es_simhash.plans.operations import (
    Action,
    Bulk,
    CloseReader,
    CreateIndex,
    GetAliases,
    GetSettings,
    OpenReader,
    Reader,
    ReadPage,
    Refresh,
    Slice,
)
from tests.conformance.engine_base import MAPPINGS, SETTINGS, EngineBase

EVERYTHING: Json = {"match_all": {}}


class ReaderSuite(EngineBase):
    """The tests; give them the fixtures ``engine`` and ``index_name``."""

    def read(
        self,
        engine: Engine,
        reader: Reader,
        query: Json = EVERYTHING,
        size: int = 7,
        source: list[str] | bool = True,
        part: Slice | None = None,
        after: Any = None,
        closes: bool = True,
    ) -> list[Json]:
        """Read all hits, or all after a page, and close the reader unless it is still needed."""
        hits: list[Json] = []
        while True:
            page = engine.perform(ReadPage(reader, query, size, source, part, after))
            reader, after = page.reader, page.after
            if not page.hits:
                break
            assert len(page.hits) <= size
            hits += page.hits
        if closes:
            engine.perform(CloseReader(reader))
        return hits

    @pytest.fixture
    def many(self, engine: Engine, index: str) -> str:
        """Make an index of 50 documents."""
        self.put(engine, index, {f"id{i}": {"number": i, "tag": "even" if i % 2 == 0 else "odd"} for i in range(50)})
        return index

    def test_each_document_is_read_once(self, engine: Engine, many: str) -> None:
        hits = self.read(engine, engine.perform(OpenReader(many)))
        assert sorted(hit["_id"] for hit in hits) == sorted(f"id{i}" for i in range(50))
        assert all(hit["_source"]["number"] == int(hit["_id"][2:]) and hit["_index"] == many for hit in hits)

    def test_documents_are_read_as_they_were_when_the_first_were(self, engine: Engine, many: str) -> None:
        page = engine.perform(ReadPage(engine.perform(OpenReader(many)), EVERYTHING, 7, True))
        unread = sorted({f"id{i}" for i in range(50)} - {hit["_id"] for hit in page.hits})
        self.put(engine, many, {unread[0]: {"number": 1000}, "new": {"number": 50}})
        assert engine.perform(Bulk(many, [Action("delete", unread[1], None)], refresh=True))[0].error is None
        hits = page.hits + self.read(engine, page.reader, after=page.after)
        assert sorted(hit["_source"]["number"] for hit in hits) == list(range(50))

    def test_only_what_the_query_finds_is_read(self, engine: Engine, many: str) -> None:
        hits = self.read(engine, engine.perform(OpenReader(many)), query={"term": {"tag": "odd"}})
        assert sorted(hit["_source"]["number"] for hit in hits) == list(range(1, 50, 2))

    def test_only_the_fields_that_are_wanted_are_read(self, engine: Engine, many: str) -> None:
        hits = self.read(engine, engine.perform(OpenReader(many)), source=["tag"])
        assert all(set(hit["_source"]) == {"tag"} for hit in hits)
        assert all("_source" not in hit for hit in self.read(engine, engine.perform(OpenReader(many)), source=False))

    @pytest.mark.parametrize("count", [2, 3, 8])
    def test_shares_of_readers_that_were_opened_apart_are_the_whole_and_overlap_nowhere(
        self, engine: Engine, many: str, count: int
    ) -> None:
        shares = []
        for number in range(count):
            # Documents that are written in between stay in their slice.
            self.put(engine, many, {f"id{number}": {"number": number}})
            hits = self.read(engine, engine.perform(OpenReader(many, shared=True)), part=Slice(number, count))
            shares.append({hit["_id"] for hit in hits})
        assert sum(map(len, shares)) == 50
        assert set.union(*shares) == {f"id{i}" for i in range(50)}

    @pytest.mark.parametrize("count", [2, 3, 8])
    def test_shares_of_a_reader_that_can_be_shared_are_the_whole_and_overlap_nowhere(
        self, engine: Engine, many: str, count: int
    ) -> None:
        reader = engine.perform(OpenReader(many))
        if not reader.can_be_shared:
            return
        found = [self.read(engine, reader, part=Slice(i, count), closes=i == count - 1) for i in range(count)]
        assert sum(map(len, found)) == 50
        assert {hit["_id"] for hits in found for hit in hits} == {f"id{i}" for i in range(50)}

    def test_one_index_is_read_at_a_time(self, engine: Engine, many: str, index_name: str) -> None:
        self.create(engine, f"{index_name}-other", MAPPINGS)
        with pytest.raises(IndexStateError):
            engine.perform(OpenReader(f"{index_name}*"))

    def test_all_shards_are_read(self, engine: Engine, index_name: str) -> None:
        body = {"settings": {**SETTINGS, "number_of_shards": 5}, "mappings": MAPPINGS}
        engine.perform(CreateIndex(index_name, body))
        self.put(engine, index_name, {f"id{i}": {"number": i} for i in range(100)})
        hits = self.read(engine, engine.perform(OpenReader(index_name)), size=3)
        assert sorted(hit["_source"]["number"] for hit in hits) == list(range(100))

    def test_a_hit_says_what_an_update_needs_to_miss_no_change(self, engine: Engine, many: str) -> None:
        hit, other, *_ = self.read(engine, engine.perform(OpenReader(many)))
        self.put(engine, many, {other["_id"]: {"number": -1}})
        results = self.act(engine, many, *(self._conditional(each) for each in (hit, other)))
        assert [result.status for result in results] == [200, 409]
        assert hit.get("_version", 1) == 1

    def _conditional(self, hit: Json) -> Action:
        metadata = {"if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}
        return Action("update", hit["_id"], {"doc": {"ratio": 0.5}}, hit["_index"], metadata)

    def test_documents_that_were_written_since_are_found_by_their_sequence_numbers(
        self, engine: Engine, many: str
    ) -> None:
        hits = self.read(engine, engine.perform(OpenReader(many)))
        if "_version" not in hits[0]:
            pytest.skip("this engine does not number changes")
        last = max(hit["_seq_no"] for hit in hits)
        self.put(engine, many, {"id7": {"number": -7}})
        query = {"range": {"_seq_no": {"gt": last}}}
        assert [hit["_id"] for hit in self.read(engine, engine.perform(OpenReader(many)), query=query)] == ["id7"]

    def test_a_reader_may_be_closed_again(self, engine: Engine, many: str) -> None:
        reader = engine.perform(OpenReader(many))
        page = engine.perform(ReadPage(reader, EVERYTHING, 10, True))
        for _ in range(2):
            assert engine.perform(CloseReader(page.reader)) is None

    def test_a_reader_that_was_closed_is_lost(self, engine: Engine, many: str) -> None:
        reader = engine.perform(OpenReader(many))
        page = engine.perform(ReadPage(reader, EVERYTHING, 5, True))
        engine.perform(CloseReader(page.reader))
        with pytest.raises(ReaderLostError):
            engine.perform(ReadPage(page.reader, EVERYTHING, 5, True, after=page.after))

    def test_an_index_that_is_missing_cannot_be_read(self, engine: Engine, index_name: str) -> None:
        with pytest.raises(MissingError):
            self.read(engine, engine.perform(OpenReader(index_name)))

    def test_an_empty_index_has_no_page(self, engine: Engine, index: str) -> None:
        engine.perform(Refresh(index))
        assert self.read(engine, engine.perform(OpenReader(index))) == []

    def test_settings_and_aliases_are_returned_by_index(self, engine: Engine, index: str) -> None:
        aliases = engine.perform(GetAliases(index))
        assert set(aliases) == {index}
        [(name, settings)] = engine.perform(GetSettings(index)).items()
        assert name == index
        assert settings.get("index.refresh_interval", "-1") == SETTINGS["refresh_interval"]
