"""Where the list of a search ends, and what of a request is set so that each part is of the same list."""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.errors import InputError
from es_simhash.plans.distinct.search_body import ListEnd, with_end

WINDOW = 100
ENGINES = ListEnd(10_000, "10,000 hits")
VECTOR: Json = {"field": "v", "query_vector": [1]}
STANDARD: Json = {"standard": {"query": {"match_all": {}}}}
BOTH: list[Json] = [STANDARD, {"knn": {**VECTOR, "k": 9, "num_candidates": 9}}]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": {"match": {"knn": "field"}}},
        # OpenSearch's vector query names its field, and always has a number.
        {"query": {"knn": {"v": {"vector": [1], "k": 5}}}},
        {"query": {"match_all": {}}, "knn": {**VECTOR, "k": 5}},
        {"retriever": STANDARD},
        {"sort": ["_doc"], "rescore": {"window_size": 5, "query": {}}},
    ],
    ids=str,
)
def test_most_lists_go_on_and_their_requests_stay_as_they_are(body: Json) -> None:
    assert with_end(body, WINDOW) == (body, ENGINES)


@pytest.mark.parametrize(
    ("body", "sent", "end"),
    [
        ({"knn": VECTOR}, {"knn": {**VECTOR, "k": 100}}, ListEnd(100, "k")),
        (
            {"knn": [{**VECTOR, "k": 3}, {**VECTOR, "num_candidates": 20}]},
            {"knn": [{**VECTOR, "k": 3}, {**VECTOR, "num_candidates": 20, "k": 20}]},
            ListEnd(23, "k"),
        ),
        (
            {"query": {"bool": {"should": [{"knn": VECTOR}]}}},
            {"query": {"bool": {"should": [{"knn": {**VECTOR, "k": 100}}]}}},
            ENGINES,
        ),
        (
            {"retriever": {"standard": {"query": {"knn": VECTOR}}}},
            {"retriever": {"standard": {"query": {"knn": {**VECTOR, "k": 100}}}}},
            ENGINES,
        ),
        (
            {"retriever": {"rrf": {"retrievers": BOTH}}},
            {"retriever": {"rrf": {"retrievers": BOTH, "rank_window_size": 100}}},
            ListEnd(100, "rank_window_size"),
        ),
        (
            {"retriever": {"linear": {"retrievers": BOTH, "rank_window_size": 40}}},
            {"retriever": {"linear": {"retrievers": BOTH, "rank_window_size": 40}}},
            ListEnd(40, "rank_window_size"),
        ),
        (
            {"retriever": {"rescorer": {"retriever": BOTH[1], "rescore": {"query": {}}}}},
            {"retriever": {"rescorer": {"retriever": BOTH[1], "rescore": {"query": {}, "window_size": 100}}}},
            ListEnd(9, "k"),
        ),
        (
            {"retriever": {"another": {"retriever": STANDARD}}},
            {"retriever": {"another": {"retriever": STANDARD}}},
            ListEnd(10, "the retriever another"),
        ),
        (
            {"query": {"match_all": {}}, "rank": {"rrf": {}}},
            {"query": {"match_all": {}}, "rank": {"rrf": {"rank_window_size": 100}}},
            ListEnd(100, "rank_window_size"),
        ),
        ({"query": {"hybrid": {"queries": []}}}, None, ListEnd(100, "the hybrid query", at_once=True)),
        ({"search_pipeline": "mine"}, None, ListEnd(100, "the search pipeline", at_once=True)),
    ],
    ids=str,
)
def test_a_list_that_ends_early_ends_where_the_request_says_or_at_the_window(
    body: Json, sent: Json | None, end: ListEnd
) -> None:
    assert with_end(body, WINDOW) == (sent or body, end)


@pytest.mark.parametrize("name", ["search_after", "collapse"])
def test_a_retriever_with_places_of_its_own_is_refused(name: str) -> None:
    for retriever in ({"standard": {name: 1}}, {"rescorer": {"retriever": {"standard": {name: 1}}, "rescore": {}}}):
        with pytest.raises(InputError, match=rf"Leave '{name}' of 'standard' out"):
            with_end({"retriever": retriever}, WINDOW)


@pytest.mark.parametrize(
    "body",
    [
        {"query": [1]},
        {"knn": "x"},
        {"knn": []},
        {"knn": {**VECTOR, "k": "x"}},
        {"retriever": 3},
        {"retriever": {}},
        {"retriever": {"rrf": 3}},
        {"retriever": {"rrf": {}, "linear": {}}},
        {"retriever": {"rescorer": {}}},
    ],
    ids=str,
)
def test_what_an_engine_will_refuse_is_left_to_it(body: Any) -> None:
    assert 0 < with_end(body, WINDOW)[1].hits <= 10_000
