"""Cursors come back from outside: whatever comes is the cursor of this search, or refused at little cost.

Whatever stands in a search, it is read or refused by an error of ours.

Where the list of a search ends, and what of a request is set so that each part is of the same list.
"""

from __future__ import annotations

import json
import tracemalloc
import zlib
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import EngineError, FormatError, InputError
from es_simhash.plans.distinct import MOST_CHARACTERS, Cursor, ListEnd, SearchBody, short_hash, with_end
from es_simhash.plans.operations import Reader
from es_simhash.scheme.scheme import Scheme

SEARCH = ["articles", "abc", "dedup", {"query": {"match_all": {}}}, True, None]
ORDER = short_hash([("articles", "1", None)])
CURSOR = Cursor(Reader("opensearch", "articles", "o_-7QQ=="), 7, ORDER, 99)
TEXT = CURSOR.to_text(SEARCH)
ANY = st.text(st.characters())  # with lone surrogates


def packed(text: str) -> str:
    return urlsafe_b64encode(zlib.compress(text.encode())).decode()


HOSTILE = {
    "a text that unpacks to 50 MB": urlsafe_b64encode(zlib.compress(b"[" * 50_000_000)).decode(),
    "brackets": packed("[" * 200_000),
    "bare brackets": "[" * 200_000,
    "no number": packed('[1, "a", {}, Infinity, []]'),
    "a rank of many digits": f"2.{ORDER}.{'9' * 100_000}.{ORDER}.1.opensearch.a",
    "a seed of many digits": f"2.{ORDER}.1.{ORDER}.{'9' * 100_000}.opensearch.a",
    "other digits": TEXT.replace(".7.", ".٧.", 1),
    "a rank of zero": TEXT.replace(".7.", ".0.", 1),
    "too long": TEXT + "A" * MOST_CHARACTERS,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_refused_without_unpacking_it(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=r"Invalid cursor\. Pass the cursor of the previous page"):
            Cursor.from_text(text, SEARCH, "articles")
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST_CHARACTERS
    finally:
        tracemalloc.stop()


@given(ANY | st.none() | st.integers() | st.binary() | st.lists(st.text()))
def test_any_value_is_refused(value: Any) -> None:
    with pytest.raises(FormatError):
        Cursor.from_text(value, SEARCH, "articles")


@given(st.integers(0, len(TEXT) - 1), st.integers(0, 9), ANY)
def test_a_cursor_with_another_part_is_refused(place: int, length: int, put: str) -> None:
    changed = TEXT[:place] + put + TEXT[place + length :]
    if changed == TEXT:
        return
    with pytest.raises(FormatError):
        Cursor.from_text(changed, SEARCH, "articles")


@given(
    st.sampled_from(["elasticsearch", "opensearch", "embedded"]),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1),
    st.integers(1, 10_000),
    st.integers(0, 2**31 - 1),
    st.recursive(ANY | st.floats() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(ANY, inner)),
)
def test_a_cursor_comes_back_as_it_was_made(kind: Any, id_: str, rank: int, seed: int, body: Any) -> None:
    made = Cursor(Reader(kind, "articles", id_), rank, ORDER, seed)
    assert Cursor.from_text(made.to_text([body]), [body], "articles") == made
    with pytest.raises(FormatError):
        Cursor.from_text(made.to_text([body]), [body, 1], "articles")


@given(st.lists(st.tuples(ANY, ANY, st.none() | ANY), min_size=2, max_size=4, unique=True))
def test_another_order_is_another_mark(names: list[tuple[str, str, str | None]]) -> None:
    assert short_hash(names) == short_hash([*names])
    assert short_hash(names) != short_hash(names[::-1])
    assert json.dumps(short_hash(names)).isascii()


def test_a_cursor_that_would_be_refused_is_not_made() -> None:
    with pytest.raises(InputError, match="Search fewer indices at once"):
        Cursor(Reader("opensearch", "i", "A" * MOST_CHARACTERS), 1, ORDER, 0).to_text(SEARCH)


NAMES = [
    *("query", "size", "from", "_source", "stored_fields", "sort", "knn", "retriever", "rank", "search_pipeline"),
    *("standard", "rrf", "rescorer", "diversify", "rescore", "k", "num_candidates", "rank_window_size", "field"),
    *("window_size", "hybrid", "includes", "excludes", "aggs"),
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 200) | st.floats() | st.sampled_from(["", "body", "_none_"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=12,
)
HIT: Json = {"_index": "i", "_id": "1", "_source": {"body": "text", "dedup": {}}, "sort": [1, 2]}
DOCUMENTS = Documents(Scheme(), ["body"])


@given(VALUES | st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5), st.integers(1, 200))
def test_a_search_is_read_or_refused(body: Any, window: int) -> None:
    try:
        asked = SearchBody(body, DOCUMENTS, window)
        assert asked.size >= 0
        assert 0 < asked.end.hits <= 10_000
        part = asked.part(window, 3)
        shown = asked.as_asked(HIT)
    except (InputError, EngineError):
        return
    assert (part["from"], part["size"]) == (window, 3)
    assert not part.keys() & {"aggs"}
    assert shown["_id"] == "1"


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
