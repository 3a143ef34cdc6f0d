"""Search results without near-duplicates, as the servers give them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents import documents as without_duplicates
from es_simhash.engines.base import Engine
from es_simhash.index import Index
from es_simhash.plans.operations import Search
from tests.support.corpus import corpus, edited
from tests.support.whole_indices import FIELDS, new_names, servers

ORIGINALS = corpus(4)
EVERYTHING: Json = {"query": {"match_all": {}}, "size": 50, "sort": [{"number": "asc"}], "track_total_hits": True}


@pytest.fixture
def index(engine: Engine) -> Iterator[Index]:
    """Four originals, and copies of two of them; numbers put the copies first."""
    with new_names(engine) as name:
        index = Index(name(), engine, fields=FIELDS)
        index.init(create={"mappings": {"properties": {"number": {"type": "long"}}}})
        documents = {f"original {i}": {**each, "number": 10 + i} for i, each in enumerate(ORIGINALS)}
        documents |= {f"copy {i}": {**edited(ORIGINALS[i % 2], 2, seed=i), "number": i} for i in range(4)}
        index.add([{"_id": id_, **each} for id_, each in documents.items()], refresh=True)
        yield index


def write(index: Index, singles: bool = False) -> None:
    from es_simhash.groups.canonical import Canonical

    with index.group(canonical=Canonical.newest("number")) as grouped:
        index.write_groups(grouped, singles=singles)


def hits(index: Index, body: Json) -> list[Json]:
    found: list[Json] = index.engine.perform(Search(index.name, body))["hits"]["hits"]
    return found


def ids(found: list[Json]) -> list[str]:
    return [hit["_id"] for hit in found]


def test_canonical_documents_and_those_without_a_group(index: Index) -> None:
    write(index)
    body = {**EVERYTHING, "query": {"bool": {"filter": [without_duplicates.canonical_only()]}}, "sort": ["_doc"]}
    body.pop("sort")
    assert sorted(ids(hits(index, body))) == [f"original {i}" for i in range(4)]


@servers
def test_the_best_hit_of_each_group_and_the_number_of_groups(index: Index) -> None:
    write(index, singles=True)
    body = without_duplicates.collapsed({**EVERYTHING, "aggs": {"most": {"max": {"field": "number"}}}})
    reply = index.engine.perform(Search(index.name, body))
    assert ids(reply["hits"]["hits"]) == ["copy 0", "copy 1", "original 2", "original 3"]
    assert reply["aggregations"]["distinct"]["value"] == 4
    assert reply["aggregations"]["most"]["value"] == 13


@servers
def test_without_singles_a_server_takes_all_documents_without_a_group_for_one_group(index: Index) -> None:
    """Why `collapsed` wants every document to be in a group."""
    write(index)
    assert ids(hits(index, without_duplicates.collapsed(EVERYTHING))) == ["copy 0", "copy 1", "original 2"]
