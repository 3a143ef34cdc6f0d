"""The base of the suites for engines: an index that is removed afterwards, and helpers to fill and search it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import MissingError
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    Count,
    CreateIndex,
    DeleteIndex,
    GetDocuments,
    GetMappings,
    Search,
)

# One shard, so that scores are predictable, and no refresh unless requested.
SETTINGS = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"}

KEYWORD = {"type": "keyword"}
KEYS = {"type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": False}
MAPPINGS: Json = {
    "dynamic": "false",
    "properties": {
        "tag": KEYWORD,
        "title": {"type": "text", "fields": {"raw": KEYWORD}},
        "number": {"type": "long"},
        "ratio": {"type": "double"},
        "when": {"type": "date"},
        "flag": {"type": "boolean"},
        "dedup": {"properties": {"bands": KEYS, "scheme": KEYWORD}},
    },
}


def matching(path: str, *keys: str, least: Any = 1) -> Json:
    """Query documents with enough of the keys, each scoring 1."""
    clauses = [{"constant_score": {"filter": {"term": {path: key}}}} for key in keys]
    return {"bool": {"should": clauses, "minimum_should_match": least}}


def indexed(documents: Mapping[str, Json]) -> list[Action]:
    """Return actions that write documents, given by id."""
    return [Action("index", id_, document) for id_, document in documents.items()]


class EngineBase:
    """The base of the suites for engines; give it the fixtures ``engine`` and ``index_name``."""

    @pytest.fixture(autouse=True)
    def _clean_up(self, engine: Engine, index_name: str) -> Iterator[None]:
        yield
        try:
            found = engine.perform(GetMappings(f"{index_name}*"))
        except MissingError:
            return
        for name in found:
            engine.perform(DeleteIndex(name))

    @pytest.fixture
    def index(self, engine: Engine, index_name: str) -> str:
        """Make an empty index with `MAPPINGS`."""
        return self.create(engine, index_name, MAPPINGS)

    def create(self, engine: Engine, name: str, mappings: Json) -> str:
        """Make an index."""
        engine.perform(CreateIndex(name, {"settings": SETTINGS, "mappings": mappings}))
        return name

    def put(self, engine: Engine, index: str, documents: Mapping[str, Json]) -> None:
        """Write documents, given by id, that searches see."""
        results = engine.perform(Bulk(index, indexed(documents), refresh=True))
        assert [result.error for result in results if result.error] == []
        assert [result.id for result in results] == list(documents)

    def scores(self, engine: Engine, index: str, query: Json) -> dict[str, float]:
        """Return the score of each document that a query finds, by id, the best first."""
        hits = engine.perform(Search(index, {"query": query, "size": 100}))["hits"]["hits"]
        return {hit["_id"]: hit["_score"] for hit in hits}

    def ids(self, engine: Engine, index: str, query: Json) -> set[str]:
        """Return the ids of the documents that a query finds; counting must find as many."""
        found = set(self.scores(engine, index, query))
        assert engine.perform(Count(index, query)) == len(found)
        return found

    def source(self, engine: Engine, index: str, id_: str) -> Json:
        """Return a document as it was last written."""
        [found] = engine.perform(GetDocuments(index, [id_]))
        source: Json = found["_source"]
        return source

    def act(self, engine: Engine, index: str, *actions: Action) -> list[ActionResult]:
        """Perform actions, and return their results."""
        return engine.perform(Bulk(index, actions))
