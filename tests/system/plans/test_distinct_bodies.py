"""Searches of every kind that a server knows keep what they ask for, and lose only near-duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from es_simhash._core.json_paths import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import InputError
from es_simhash.index import Index
from es_simhash.plans.distinct.list_end import with_end
from es_simhash.plans.distinct.pages import DistinctPage
from es_simhash.plans.operations import GetInfo, Operation, PutSettings, Search
from tests.support.distinct import (
    ALL,
    APART,
    TEXTS,
    by_fingerprints,
    by_texts,
    filled,
    folded_by_hand,
    ranked,
    shown,
    with_apart,
)
from tests.support.whole_indices import ENGINES

servers = pytest.mark.parametrize("engine", ENGINES[1:], indirect=True)
elasticsearch = pytest.mark.parametrize("engine", ["elasticsearch"], indirect=True)

VECTORS = 4
MAPPINGS: Json = {
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text"},
        "lang": {"type": "keyword"},
        "number": {"type": "integer"},
    }
}
VECTOR: Json = {"type": "dense_vector", "dims": VECTORS, "similarity": "l2_norm", "index_options": {"type": "flat"}}


def with_more(id_: str, each: Json) -> Json:
    """A document with a vector near those of its copies; some have no number."""
    number = each["number"]
    vector = [number % 5 - 2.0, number % 3 - 1.0, number / 24, len(id_) / 50]
    rest = {name: value for name, value in each.items() if name != "number" or number % 4}
    return {**rest, "vector": vector}


@pytest.fixture(scope="module")
def index(engine: Engine, names: Callable[[], str]) -> Index:
    return of_bodies(engine, names())


def of_bodies(engine: Engine, name: str) -> Index:
    has_vectors = engine.perform(GetInfo()).distribution == "elasticsearch"
    vector = VECTOR if has_vectors else {"type": "object", "enabled": False}
    mappings = {"properties": {**MAPPINGS["properties"], "vector": vector}}
    documents = {id_: with_more(id_, each) for id_, each in TEXTS.items()}
    return with_apart(filled(engine, name, documents, mappings), {"vector": [1, 0, 0.5, 0], "lang": "xx"})


ENGLISH: Json = {"term": {"lang": "en"}}
OTHERS: Json = {"term": {"lang": "xx"}}
THE: Json = {"match": {"body": "the of"}}
NEAREST: Json = {"field": "vector", "query_vector": [1, 0, 0.5, 0]}
SCORE = {"source": "_score + (doc['number'].size() == 0 ? 0 : doc['number'].value % 7)"}

BODIES: dict[str, Json] = {
    "everything": ALL,
    "no query": {},
    "bool": {"query": {"bool": {"must": THE, "should": [ENGLISH], "must_not": {"term": {"number": 3}}}}},
    "filter": {"query": {"bool": {"filter": {"range": {"number": {"lt": 15}}}}}},
    "function_score": {
        "query": {"function_score": {"query": THE, "field_value_factor": {"field": "number", "missing": 2}}}
    },
    "seeded": {"query": {"function_score": {"query": THE, "random_score": {"seed": 3, "field": "_seq_no"}}}},
    "script_score": {"query": {"script_score": {"query": THE, "script": SCORE}}},
    "sort": {"query": THE, "sort": [{"number": "desc"}]},
    "missing last": {"sort": [{"number": {"order": "asc", "missing": "_last"}}]},
    "missing first": {"sort": [{"number": {"order": "desc", "missing": "_first"}}]},
    "sort by several": {"query": THE, "sort": ["lang", {"number": {"order": "desc", "missing": 7}}, "_score"]},
    "sort by a script": {"sort": {"_script": {"type": "number", "script": "5 - doc['number'].size()"}}},
    "post_filter": {"query": THE, "post_filter": OTHERS, "aggs": {"langs": {"terms": {"field": "lang"}}}},
    "aggregations": {
        "query": THE,
        "aggs": {
            "langs": {"terms": {"field": "lang"}, "aggs": {"best": {"top_hits": {"size": 1, "_source": "title"}}}},
            "all": {"global": {}, "aggs": {"mean": {"avg": {"field": "number"}}}},
        },
    },
    "highlight": {"query": THE, "highlight": {"fields": {"body": {"number_of_fragments": 1}}}},
    "some of the source": {"query": THE, "_source": {"includes": ["t*", "dedup.status"], "excludes": ["title"]}},
    "no source": {"query": THE, "_source": False, "fields": ["lang", "body"], "docvalue_fields": ["number"]},
    "stored fields": {"query": THE, "stored_fields": ["title"]},
    "script_fields": {"query": THE, "script_fields": {"n": {"script": "doc['number'].size()"}}, "_source": True},
    "rescore": {
        "query": THE, "rescore": {"window_size": 20, "query": {"rescore_query": ENGLISH, "rescore_query_weight": 3}}
    },
    "min_score": {"query": THE, "min_score": 0.5},
    "what is known of hits": {"query": THE, "explain": True, "version": True, "seq_no_primary_term": True},
    "named queries": {"query": {"bool": {"should": [THE, {"term": {"lang": {"value": "en", "_name": "english"}}}]}}},
    "suggest": {"query": THE, "suggest": {"words": {"text": "stomr", "term": {"field": "body"}}}},
}  # fmt: skip
STANDARD: Json = {"standard": {"query": {"bool": {"should": [THE, {"match_all": {}}]}}}}
KNN: Json = {"knn": {**NEAREST, "k": 25, "num_candidates": 60}}
RANDOM: Json = {"field": "title", "seed": 3}
OF_ELASTICSEARCH: dict[str, Json] = {
    "runtime fields": {
        "runtime_mappings": {"odd": {"type": "boolean", "script": "emit(doc['number'].size() > 0)"}},
        "query": {"term": {"odd": True}},
        "fields": ["odd"],
    },
    "knn": {"knn": {**NEAREST, "k": 40, "num_candidates": 100}},
    "knn of several": {"knn": [{**NEAREST, "k": 9}, {**NEAREST, "query_vector": [0, 0, 0, 1], "k": 30, "boost": 3}]},
    "knn and query": {"query": THE, "knn": {**NEAREST, "k": 30, "boost": 2}},
    "knn in a query": {"query": {"bool": {"should": [THE, {"knn": {**NEAREST, "k": 30}}]}}},
    "standard retriever": {"retriever": {"standard": {"query": THE, "filter": OTHERS, "sort": ["number"]}}},
    "knn retriever": {"retriever": KNN},
}
# Their lists end early.
ENDING: dict[str, tuple[Json, int, str]] = {
    "the nearest": ({"knn": {**NEAREST, "k": 13}}, 13, "k"),
    "the nearest retriever": ({"retriever": KNN}, 25, "k"),
    "the nearest where no number is given": ({"knn": NEAREST}, 40, "k"),
    "the nearest of few candidates": ({"knn": {**NEAREST, "num_candidates": 15}}, 15, "k"),
    "a ranking retriever": (
        {"retriever": {"random_reranker": {"retriever": STANDARD, **RANDOM, "rank_window_size": 20}}},
        *(20, "rank_window_size"),
    ),
    "a ranking retriever without a window": (
        {"retriever": {"random_reranker": {"retriever": STANDARD, **RANDOM}}},
        *(40, "rank_window_size"),
    ),
    "a rescorer": (
        {
            "retriever": {
                "rescorer": {"retriever": STANDARD, "rescore": {"window_size": 30, "query": {"rescore_query": ENGLISH}}}
            }
        },
        *(30, "window_size"),
    ),
    "a rescorer without a window": (
        {"retriever": {"rescorer": {"retriever": KNN, "rescore": [{"query": {"rescore_query": ENGLISH}}]}}},
        *(25, "k"),
    ),
    "diversify": (
        {
            "retriever": {
                "diversify": {
                    **{"type": "mmr", "field": "vector", "lambda": 0.9, "query_vector": [1, 0, 0.5, 0]},
                    **{"retriever": STANDARD, "rank_window_size": 30, "size": 25},
                }
            }
        },
        *(25, "the retriever diversify"),
    ),
}


class Counted:
    """An engine that keeps the searches that it performs."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.searches: list[Search] = []

    def perform(self, operation: Operation[Any]) -> Any:
        if isinstance(operation, Search):
            self.searches.append(operation)
        return self.engine.perform(operation)

    def close(self) -> None:
        """Leave the engine open."""


def pages(index: Index, body: Json, **more: Any) -> list[DistinctPage]:
    found = [index.search(body, distinct=True, with_texts=True, paged=True, **more)]
    while found[-1].cursor:
        found.append(index.search(body, distinct=True, with_texts=True, cursor=found[-1].cursor, **more))
    return found


def check(index: Index, body: Json) -> None:
    """Compare a search with the same one of the engine, as a whole and page by page."""
    hits = ranked(index, body)
    expected = folded_by_hand(hits, by_texts(index))
    assert 2 < len(expected) < len(hits)
    whole = index.search({**body, "size": 1000}, distinct=True, with_texts=True)
    assert shown(whole) == expected
    kept = [hit for hit in hits if hit["_id"] in expected]
    assert [each.hit for each in whole] == kept
    assert (whole.read, whole.apart) == (len(hits), Counter(hit["_id"] for hit in hits if hit["_id"] in APART))
    found = pages(index, {**body, "size": 4}, window=7)
    assert [each.hit for page in found for each in page] == kept
    assert (found[-1].at_end, found[-1].limit) == (whole.at_end, whole.limit)
    reply = index.engine.perform(Search(index.name, {**body, "size": 4}))
    for name in ("aggregations", "suggest"):
        assert found[0].reply.get(name) == reply.get(name)
        assert not any(name in page.reply for page in found[1:])
    assert found[0].reply["hits"]["total"] == reply["hits"]["total"]


@servers
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_search_loses_only_near_duplicates(index: Index, body: Json) -> None:
    check(index, body)


@elasticsearch
@pytest.mark.parametrize("body", OF_ELASTICSEARCH.values(), ids=OF_ELASTICSEARCH)
def test_a_search_of_elasticsearch_loses_only_near_duplicates(index: Index, body: Json) -> None:
    check(index, body)


@elasticsearch
@pytest.mark.parametrize(("body", "hits", "limit"), ENDING.values(), ids=ENDING)
def test_a_page_of_a_list_that_ends_early_names_the_reason(index: Index, body: Json, hits: int, limit: str) -> None:
    found = pages(index, {**body, "size": 4}, window=40)
    assert (sum(page.read for page in found), found[-1].limit, found[-1].at_end) == (hits, limit, False)
    assert not any(page.limit or page.at_end for page in found[:-1])
    hits_of_engine = ranked(index, with_end(body, 40)[0], hits)
    expected = folded_by_hand(hits_of_engine, by_texts(index))
    assert [each.hit["_id"] for page in found for each in page] == list(expected)
    whole = index.search({**body, "size": 40}, distinct=True, with_texts=True, window=40)
    assert shown(whole) == expected
    assert [each.hit for each in whole] == [hit for hit in hits_of_engine if hit["_id"] in expected]
    assert (whole.read, whole.limit, whole.at_end) == (hits, limit, False)
    assert 2 < len(expected) < hits


@servers
def test_no_more_is_read_than_the_index_allows(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names())
    engine.perform(PutSettings(index.name, {"index.max_result_window": 33}))
    expected = folded_by_hand(ranked(index, ALL, 33), by_fingerprints(index))
    for window in (10, 100):
        found = pages(index, {**ALL, "size": 3}, window=window, estimate=True)
        assert (sum(page.read for page in found), found[-1].limit) == (33, "index.max_result_window")
        assert [each.hit["_id"] for page in found for each in page] == list(expected)


@servers
def test_what_a_search_asks_for_beside_hits_is_asked_once(engine: Engine, index: Index) -> None:
    counted = Counted(engine)
    body = {**ALL, "aggs": {"langs": {"terms": {"field": "lang"}}}, "size": 9}
    page = Index(index.name, counted).search(body, distinct=True, window=3, with_texts=True)
    assert len(counted.searches) > 1
    assert [("aggs" in each.body, each.body.get("track_total_hits")) for each in counted.searches[:2]] == [
        *((True, None), (False, False))
    ]
    assert page.reply["aggregations"]


@servers
def test_a_search_for_no_hits_has_the_rest_of_its_reply(index: Index) -> None:
    page = index.search({"size": 0, "aggs": {"langs": {"terms": {"field": "lang"}}}}, distinct=True)
    assert len(page.reply["aggregations"]["langs"]["buckets"]) == 2
    assert (len(page), page.read) == (0, 0)


@pytest.mark.parametrize("engine", ["opensearch"], indirect=True)
def test_what_a_search_pipeline_leaves_out_is_not_taken_for_the_end(index: Index) -> None:
    """The OpenSearch of the tests has neither vectors nor hybrid queries, which need plugins."""
    pipeline = {"response_processors": [{"truncate_hits": {"target_size": 30}}]}
    body = {**ALL, "search_pipeline": pipeline}
    page = index.search({**body, "size": 50}, distinct=True)
    assert shown(page) == folded_by_hand(ranked(index, ALL, 30), by_texts(index))
    assert (page.read, page.limit, page.at_end) == (30, "the search pipeline", False)
    with pytest.raises(InputError, match="What the search pipeline finds is no list with further pages"):
        index.search(body, distinct=True, paged=True)
