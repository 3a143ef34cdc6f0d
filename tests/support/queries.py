"""Queries of both servers' documentation that look beyond literal values: into other indices, scripts, or models."""

from __future__ import annotations

import base64
import json
from typing import Any


def reaching(other: str) -> dict[str, Any]:
    """Return queries by name; those that take an index look into ``other``."""
    everything: Any = {"match_all": {}}
    script = {"source": "doc['n'].value > params.n", "params": {"n": 1}}
    shape = {"indexed_shape": {"index": other, "id": "1", "path": "place"}}
    vector = [0.1, 0.2]
    return {
        "terms lookup": {"terms": {"body": {"index": other, "id": "1", "path": "tags"}}},
        "terms lookup by a query": {"terms": {"body": {"index": other, "path": "tags", "query": everything}}},
        "terms with a bitmap": {"terms": {"n": ["OjAAAA=="], "value_type": "bitmap"}},
        "more_like_this": {"more_like_this": {"fields": ["body"], "like": [{"_index": other, "_id": "1"}]}},
        "more_like_this, unlike": {"more_like_this": {"like": "x", "unlike": [{"_index": other, "_id": "1"}]}},
        "percolate": {"percolate": {"field": "query", "index": other, "id": "1"}},
        "percolate a document": {"percolate": {"field": "query", "document": {"body": "x"}}},
        "geo_shape": {"geo_shape": {"place": shape}},
        "shape": {"shape": {"place": shape}},
        "xy_shape": {"xy_shape": {"place": shape}},
        "geo_distance": {"geo_distance": {"distance": "1km", "place": [1, 2]}},
        "geo_bounding_box": {"geo_bounding_box": {"place": {"top_left": [0, 1], "bottom_right": [1, 0]}}},
        "geo_polygon": {"geo_polygon": {"place": {"points": [[0, 0], [1, 0], [1, 1]]}}},
        "geo_grid": {"geo_grid": {"place": {"geohash": "u0"}}},
        "script": {"script": {"script": script}},
        "script_score": {"script_score": {"query": everything, "script": script}},
        "function_score": {"function_score": {"query": everything, "script_score": {"script": script}}},
        "terms_set": {"terms_set": {"tags": {"terms": ["a"], "minimum_should_match_script": script}}},
        "terms_set by a field": {"terms_set": {"tags": {"terms": ["a"], "minimum_should_match_field": "n"}}},
        "intervals": {"intervals": {"body": {"match": {"query": "a", "filter": {"script": script}}}}},
        "has_child": {"has_child": {"type": "child", "query": everything}},
        "has_parent": {"has_parent": {"parent_type": "parent", "query": everything}},
        "parent_id": {"parent_id": {"type": "child", "id": "1"}},
        "nested": {"nested": {"path": "inner", "query": everything}},
        "pinned": {"pinned": {"ids": ["1"], "organic": everything}},
        "pinned in another index": {"pinned": {"docs": [{"_index": other, "_id": "1"}], "organic": everything}},
        "rule": {"rule": {"ruleset_ids": ["rules"], "match_criteria": {}, "organic": everything}},
        "wrapper": {"wrapper": {"query": base64.b64encode(json.dumps(everything).encode()).decode()}},
        "template": {"template": {"source": "{}", "params": {}}},
        "distance_feature": {"distance_feature": {"field": "at", "origin": "now", "pivot": "7d"}},
        "rank_feature": {"rank_feature": {"field": "rank"}},
        "knn": {"knn": {"field": "vector", "query_vector": vector, "k": 5, "num_candidates": 9}},
        "knn by a model": {"knn": {"field": "v", "query_vector_builder": {"text_embedding": {"model_text": "a"}}}},
        "knn of OpenSearch": {"knn": {"vector": {"vector": vector, "k": 5}}},
        "knn by lookup": {"knn": {"field": "v", "query_vector_builder": {"lookup": {"index": other, "id": "1"}}}},
        "neural": {"neural": {"vector": {"query_text": "a", "model_id": "m", "k": 5}}},
        "neural_sparse": {"neural_sparse": {"tokens": {"query_text": "a", "model_id": "m"}}},
        "neural_knn": {"neural_knn": {"vector": {"vector": vector}}},
        "agentic": {"agentic": {"query_text": "a", "query_fields": ["body"]}},
        "hybrid": {"hybrid": {"queries": [everything]}},
        "semantic": {"semantic": {"field": "body", "query": "a"}},
        "text_expansion": {"text_expansion": {"tokens": {"model_id": "m", "model_text": "a"}}},
        "sparse_vector": {"sparse_vector": {"field": "tokens", "inference_id": "m", "query": "a"}},
        "weighted_tokens": {"weighted_tokens": {"tokens": {"tokens": {"a": 1.0}}}},
        "query_string": {"query_string": {"query": "_index:* OR /.*/"}},
        "simple_query_string": {"simple_query_string": {"query": "a*"}},
        "combined_fields": {"combined_fields": {"query": "a", "fields": ["body"]}},
        "multi_match": {"multi_match": {"query": "a", "fields": ["*"]}},
        "kql": {"kql": {"query": "body: a*"}},
        "regexp": {"regexp": {"body": ".*.*.*x"}},
        "wildcard": {"wildcard": {"body": "*a*"}},
        "fuzzy": {"fuzzy": {"body": {"value": "a", "fuzziness": 2}}},
        "span_multi": {"span_multi": {"match": {"prefix": {"body": "a"}}}},
        "span_term": {"span_term": {"body": "a"}},
        "match_phrase": {"match_phrase": {"body": "a b"}},
        "match_phrase_prefix": {"match_phrase_prefix": {"body": "a"}},
        "match_bool_prefix": {"match_bool_prefix": {"body": "a"}},
        "match_all": everything,
        "match_none": {"match_none": {}},
        "boosting": {"boosting": {"positive": everything, "negative": everything, "negative_boost": 0.5}},
        "constant_score": {"constant_score": {"filter": everything}},
        "dis_max": {"dis_max": {"queries": [everything]}},
        "derived fields": {"derived": {"x": {"type": "keyword", "script": script}}},
        "match, fuzzy": {"match": {"body": {"query": "a", "fuzziness": "AUTO"}}},
        "match, by an analyzer": {"match": {"body": {"query": "a", "analyzer": "other"}}},
        "range of ranges": {"range": {"n": {"gte": 1, "relation": "within"}}},
        "term, in any case": {"term": {"body": {"value": "a", "case_insensitive": True}}},
        "prefix, rewritten": {"prefix": {"body": {"value": "a", "rewrite": "scoring_boolean"}}},
        "ids of a type": {"ids": {"type": "_doc", "values": ["1"]}},
        "exists, boosted": {"exists": {"field": "body", "boost": 2}},
        "two queries in one": {"term": {"body": "a"}, "script": {"script": script}},
        "a body of a search": {"query": everything, "runtime_mappings": {"x": {"type": "long", "script": script}}},
        "bool with more": {"bool": {"filter": [], "_name": "a"}},
        "bool, adjusted": {"bool": {"filter": [], "adjust_pure_negative": False}},
        "nothing": {},
        "a query that nobody has": {"no_such_query": {}},
        "an empty name": {"": {}},
    }


def wrapped(query: Any, depth: int) -> Any:
    """Return a query in ``depth`` bools, in each of their clauses by turns."""
    for level in range(depth):
        clause = ("must", "filter", "should", "must_not")[level % 4]
        query = {"bool": {clause: [query] if level % 2 else query}}
    return query
