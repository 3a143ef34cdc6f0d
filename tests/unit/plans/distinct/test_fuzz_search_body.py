"""Whatever stands in a search, it is read or refused by an error of ours."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import EngineError, InputError
from es_simhash.plans.distinct.search_body import SearchBody
from es_simhash.scheme.scheme import Scheme

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
