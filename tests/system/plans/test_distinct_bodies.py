"""Searches of every kind that a server knows keep what they ask for, and lose only near-duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import EngineError, InputError
from es_simhash.index import Index
from es_simhash.plans.distinct import DistinctPage, with_end
from es_simhash.plans.operations import GetInfo, Operation, PutSettings, Search
from tests.support.distinct import (
    ALL,
    APART,
    TEXTS,
    by_fingerprints,
    by_text,
    filled,
    folded_by_hand,
    ranked,
    shown,
    with_apart,
)
from tests.support.whole_indices import ENGINES

# What OpenSearch says of some requests that it serves.
pytestmark = [
    pytest.mark.filterwarnings("ignore:An empty (array|object) was provided"),
    pytest.mark.filterwarnings(r"ignore:OpenSearch requires that a \[field\]|Loading the fielddata on the _id"),
]
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
    "the whole source, by an empty list": {"query": THE, "_source": []},
    "the whole source, by an empty object": {"query": THE, "_source": {}},
    "an empty source": {"query": THE, "_source": ""},
    "stored fields": {"query": THE, "stored_fields": ["title"]},
    "no stored fields": {"query": THE, "stored_fields": []},
    "the source as a stored field": {"query": THE, "stored_fields": ["_source", "title"]},
    "the source as the only stored field": {"query": THE, "stored_fields": "_source"},
    "script_fields": {"query": THE, "script_fields": {"n": {"script": "doc['number'].size()"}}},
    "script_fields and the source": {"query": THE, "script_fields": {"n": {"script": "1"}}, "_source": True},
    "script_fields and a stored source": {"script_fields": {"n": {"script": "1"}}, "stored_fields": ["_source"]},
    "no script_fields": {"query": THE, "script_fields": {}},
    "docvalue_fields": {"query": THE, "docvalue_fields": ["number"], "fields": ["lang"]},
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
    expected = folded_by_hand(hits, by_text(index))
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


@pytest.mark.each_server
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
    expected = folded_by_hand(hits_of_engine, by_text(index))
    assert [each.hit["_id"] for page in found for each in page] == list(expected)
    whole = index.search({**body, "size": 40}, distinct=True, with_texts=True, window=40)
    assert shown(whole) == expected
    assert [each.hit for each in whole] == [hit for hit in hits_of_engine if hit["_id"] in expected]
    assert (whole.read, whole.limit, whole.at_end) == (hits, limit, False)
    assert 2 < len(expected) < hits


UNKNOWN: Json = {
    "elasticsearch": {"derived": {}, "query": {"hybrid": {"queries": [THE]}}},
    "opensearch": {"runtime_mappings": {}, "knn": NEAREST, "retriever": STANDARD, "sort": ["_shard_doc"]},
}


@pytest.mark.each_server
@servers
def test_what_a_server_does_not_know_it_refuses_by_name(engine: Engine, index: Index) -> None:
    for name, value in UNKNOWN[engine.perform(GetInfo()).distribution].items():
        with pytest.raises(EngineError, match={"query": "hybrid", "sort": "_shard_doc"}.get(name, name)):
            index.search({name: value}, distinct=True)
    for source in (None, 3, {"include": ["title"]}, {"exclude_vectors": True}):
        with pytest.raises(EngineError, match=r"_source cannot be"):
            index.search({"_source": source}, distinct=True)


def by_chance(**how: Any) -> Json:
    return {"query": {"function_score": {"query": {"match_all": {}}, "boost_mode": "replace", **how}}}


CHANCE: dict[str, Json] = {
    "without a seed": by_chance(random_score={}),
    "of a field": by_chance(random_score={"field": "number"}),
    "with a seed alone": by_chance(random_score={"seed": 3}),
    "one of several": by_chance(functions=[{"filter": ENGLISH, "random_score": {}}, {"weight": 2, "random_score": {}}]),
    "inside": {"query": {"bool": {"must": [by_chance(random_score={})["query"]], "should": [THE]}}},
    "rescored": {"query": THE, "rescore": {"window_size": 1000, "query": {
        "rescore_query": by_chance(random_score={})["query"]}}},
    "by a Random with a seed": {"sort": {"_script": {
        "type": "number", "script": "new Random(doc['number'].size() == 0 ? 9 : doc['number'].value).nextDouble()"}}},
    "by place": {"sort": ["_doc"]},
    "by place in a moment": {"sort": ["_shard_doc"]},
    "by score alone": {"query": {"constant_score": {"filter": {"match_all": {}}}}},
    "by equal values": {"sort": ["lang"]},
    "since a time": {"query": {"bool": {"must_not": {"range": {"at": {"gte": "now-1s"}}}}}},
}  # fmt: skip
CHANCE_OF_ELASTICSEARCH: dict[str, Json] = {
    "retriever": {"retriever": {"random_reranker": {"retriever": STANDARD, "field": "title"}}},
    "standard retriever": {"retriever": {"standard": {"query": by_chance(random_score={})["query"]}}},
}


def check_chance(index: Index, body: Json) -> None:
    """Read all pages, and compare what they have with all hits: none comes twice, and none is lost but duplicates."""
    is_near = by_text(index)
    everything = {hit["_id"] for hit in ranked(index, {key: each for key, each in body.items() if key == "query"})}
    for distinct, window in ((False, 100), (True, 7), (True, 100)):
        page = index.search({**body, "size": 9}, distinct=distinct, paged=True, window=window)
        found, read = shown(page), page.read
        while page.cursor:
            page = index.search({**body, "size": 9}, distinct=distinct, window=window, cursor=page.cursor)
            assert not shown(page).keys() & found.keys()
            found |= shown(page)
            read += page.read
        assert read == len(everything)
        missing = everything - found.keys()
        assert not missing or distinct
        hits = {hit["_id"]: hit for hit in ranked(index, ALL)}
        assert all(any(is_near(hits[each], hits[leader]) for leader in found) for each in missing)
    if body.get("sort") != ["_shard_doc"]:
        # Read by several requests without a reader, too.
        once = shown(index.search({**body, "size": 1000}, distinct=True, window=1000))
        parts = index.search({**body, "size": 1000}, distinct=True, window=3)
        assert parts.read == len(everything) == sum(1 + len(similar) for similar in once.values())
        assert sum(1 + len(each.similar) for each in parts) == len(everything)


@pytest.mark.each_server
@servers
@pytest.mark.parametrize("body", CHANCE.values(), ids=CHANCE)
def test_pages_of_an_order_by_chance_lose_no_hit(index: Index, body: Json) -> None:
    check_chance(index, body)


@elasticsearch
@pytest.mark.parametrize("body", CHANCE_OF_ELASTICSEARCH.values(), ids=CHANCE_OF_ELASTICSEARCH)
def test_pages_of_an_order_by_chance_lose_no_hit_of_elasticsearch(index: Index, body: Json) -> None:
    page = index.search({**body, "size": 9}, paged=True)
    found = [each.hit["_id"] for each in page]
    while page.cursor:
        page = index.search({**body, "size": 9}, cursor=page.cursor)
        found += [each.hit["_id"] for each in page]
    assert sorted(found) == sorted(hit["_id"] for hit in ranked(index, ALL))


@servers
def test_each_search_by_chance_has_an_order_of_its_own(index: Index) -> None:
    orders = {tuple(shown(index.search({**CHANCE["without a seed"], "size": 50}, paged=True))) for _ in range(5)}
    assert len(orders) == 5


SCRIPTED: list[Json] = [
    {"sort": {"_script": {"type": "number", "script": "Math.random()"}}},
    {"sort": [{"_script": {"type": "number", "script": {"source": "new Random( ).nextInt()", "lang": "painless"}}}]},
    {"query": {"script_score": {"query": ALL["query"], "script": {"source": "Math.random()"}}}},
    {"query": by_chance(script_score={"script": "UUID.randomUUID().hashCode() & 7"})["query"]},
    {"query": ALL["query"], "rescore": {"query": {"rescore_query": {"script_score": {
        "query": ALL["query"], "script": {"source": "Math.random()"}}}}}},
]  # fmt: skip


@servers
@pytest.mark.parametrize("body", SCRIPTED, ids=str)
def test_a_script_that_orders_by_chance_is_refused_by_name(index: Index, body: Json) -> None:
    for more in ({"distinct": True}, {"by_groups": True}, {"paged": True}):
        with pytest.raises(InputError, match=r"random\b.* in a script gives another one at each request|Random\(|UUID"):
            index.search(body, **more)  # type: ignore[arg-type]
    # One request for all hits, or a script that orders nothing, does no harm.
    assert index.search({**body, "size": 5}).read
    aside = {"script_fields": {"x": {"script": "Math.random()"}}, "size": 3}
    assert len(index.search(aside, distinct=True)) == 3


@pytest.mark.each_server
@servers
def test_pages_of_an_order_that_changes_with_the_time_are_refused_when_they_would_lose_hits(index: Index) -> None:
    body = {"sort": {"_script": {"type": "number", "script": "Math.abs(new Random(System.nanoTime()).nextInt())"}}}
    # A page of 5 hits takes one request; one of 50 takes more, since some of the first 50 of 57 are duplicates.
    page = index.search({**body, "size": 5}, paged=True, window=5)
    with pytest.raises(InputError, match="changed since the page before"):
        index.search({**body, "size": 5}, cursor=page.cursor)
    with pytest.raises(InputError, match="changed since the page before"):
        index.search({**body, "size": 50}, paged=True, distinct=True, window=2)


@servers
def test_a_page_read_by_several_requests_asks_the_same_copies(engine: Engine, index: Index) -> None:
    counted = Counted(engine)
    Index(index.name, counted).search({**ALL, "size": 40}, distinct=True, window=3)
    preferences = {each.preference for each in counted.searches}
    assert len(counted.searches) > 2
    assert len(preferences) == 1
    assert None not in preferences
    counted.searches.clear()
    # A reader has one copy of each shard, and takes no preference.
    Index(index.name, counted).search({**ALL, "size": 40}, distinct=True, window=3, paged=True)
    assert {each.preference for each in counted.searches} == {None}


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
def test_what_a_search_asks_for_next_to_hits_is_asked_once(engine: Engine, index: Index) -> None:
    counted = Counted(engine)
    body = {**ALL, "aggs": {"langs": {"terms": {"field": "lang"}}}, "size": 9}
    page = Index(index.name, counted).search(body, distinct=True, window=3, with_texts=True)
    searches = [each.body for each in counted.searches if "from" in each.body]
    assert len(searches) > 1
    assert [("aggs" in body, body.get("track_total_hits")) for body in searches[:2]] == [
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
    assert shown(page) == folded_by_hand(ranked(index, ALL, 30), by_text(index))
    assert (page.read, page.limit, page.at_end) == (30, "the search pipeline", False)
    with pytest.raises(InputError, match="The results of the search pipeline have a single page"):
        index.search(body, distinct=True, paged=True)
