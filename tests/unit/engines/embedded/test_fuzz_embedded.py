"""Whatever is asked of the embedded engine, it does it or one of our errors says why not."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import EngineError, EsSimhashError
from es_simhash.plans.operations import Action, Bulk, Count, CreateIndex, GetDocuments, GetMappings, PutMapping, Search
from tests.support.fuzzing import check_message, damaged, json_values, nested, one_in

FIELDS = ("title", "tag", "n", "price", "when", "is", "raw", "raw.x", "deep", "deep.er", "title.keyword", "_id", "none")
MAPPING = {
    "dynamic": "strict",
    "properties": {
        "title": {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 20}}},
        "tag": {"type": "keyword"},
        "n": {"type": "long"},
        "price": {"type": "double"},
        "when": {"type": "date"},
        "is": {"type": "boolean"},
        "raw": {"type": "object", "enabled": False},
        "deep": {"properties": {"er": {"type": "integer", "index": False}}},
    },
}
DOCUMENTS: list[dict[str, Any]] = [
    {"title": "a storm hit the coast", "tag": "x", "n": 1, "price": 1.5, "when": "2024-02-29", "is": True},
    {"title": "昨夜、海岸に嵐が来た", "tag": ["x", "y"], "n": -(2**63), "price": -0.0, "when": 0, "deep": {"er": 3}},
    {"title": None, "raw": {"x": [1, {"y": "z"}]}},
]
KEYS = (
    "boost", "filter", "must", "must_not", "should", "minimum_should_match", "value", "values", "query", "operator",
    "field", "fields", "like", "gt", "gte", "lt", "lte", "min_term_freq", "min_doc_freq", "max_query_terms", "include",
    "doc", "_id", "_index", "term", "terms", "match", "match_all", "range", "prefix", "wildcard", "ids", "exists",
    "bool", "more_like_this", "constant_score",
)  # fmt: skip
LEAVES = (*FIELDS, "x", "storm", "70%", "-1", "2024-02-29", "2024-13-01", "9999", "a*?\\", "true", "1" * 5000)

values = json_values((*KEYS, *FIELDS), LEAVES)
fields = st.sampled_from(FIELDS)


def one_key(key: str, inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return inner.map(lambda value: {key: value})


def by_field(kind: str, inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(fields, inner).map(lambda pair: {kind: {pair[0]: pair[1]}})


def parameters(*names: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names), values, max_size=len(names))


leaf_queries = st.one_of(
    *(by_field(kind, values) for kind in ("term", "terms", "match", "prefix", "wildcard", "range")),
    *(by_field(kind, parameters("value", "boost")) for kind in ("term", "prefix", "wildcard")),
    by_field("match", parameters("query", "operator", "minimum_should_match", "boost")),
    by_field("range", parameters("gt", "gte", "lt", "lte", "boost")),
    by_field("terms", st.lists(values, max_size=3)),
    one_key("ids", parameters("values", "boost")),
    one_key("exists", parameters("field", "boost")),
    one_key("match_all", parameters("boost")),
    one_key(
        "more_like_this", parameters("fields", "like", "min_term_freq", "min_doc_freq", "max_query_terms", "include")
    ),
    values,
)
queries = st.recursive(
    leaf_queries,
    lambda inner: (
        one_key(
            "bool",
            st.dictionaries(
                st.sampled_from(["must", "should", "filter", "must_not"]), inner | st.lists(inner, max_size=3)
            )
            | parameters("minimum_should_match", "boost"),
        )
        | one_key("constant_score", st.fixed_dictionaries({"filter": inner}, optional={"boost": values}))
    ),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(tmp_path_factory.mktemp("engine"))
    engine.perform(CreateIndex("docs", {"mappings": MAPPING}))
    actions = [Action("index", str(i), document) for i, document in enumerate(DOCUMENTS)]
    assert {result.status for result in engine.perform(Bulk("docs", actions, refresh=True))} == {201}
    yield engine
    engine.close()


@given(query=queries)
@example(query={"bool": {"boost": 10**400}})
def test_any_query_finds_documents_or_is_refused(engine: EmbeddedEngine, query: Any) -> None:
    before = repr(query)
    try:
        reply = engine.perform(Search("docs", {"query": query}))
    except EsSimhashError as error:
        check_message(error)
        with pytest.raises(EsSimhashError):
            engine.perform(Count("docs", query))
    else:
        assert {hit["_id"] for hit in reply["hits"]["hits"]} <= {"0", "1", "2"}
        assert engine.perform(Count("docs", query)) == len(reply["hits"]["hits"])
    assert repr(query) == before


@given(query=queries)
def test_a_query_and_its_negation_find_all_documents_together(engine: EmbeddedEngine, query: Any) -> None:
    try:
        found = engine.perform(Count("docs", query))
        others = engine.perform(Count("docs", {"bool": {"must_not": [query]}}))
    except EsSimhashError:
        return
    assert found + others == len(DOCUMENTS)


@given(body=st.dictionaries(st.sampled_from(["size", "from", "_source", "sort", "track_total_hits", "aggs"]), values))
def test_any_request_is_answered_or_refused(engine: EmbeddedEngine, body: Any) -> None:
    try:
        reply = engine.perform(Search("docs", body))
    except EngineError as error:
        check_message(error)
    else:
        assert len(reply["hits"]["hits"]) <= min(body.get("size", 10), len(DOCUMENTS))


@pytest.mark.parametrize("size", [10**6, 10**12, 2**63, 10**30])
@pytest.mark.parametrize("key", ["size", "from"])
def test_a_page_of_any_size_holds_the_hits(engine: EmbeddedEngine, key: str, size: int) -> None:
    reply = engine.perform(Search("docs", {key: size}))
    assert len(reply["hits"]["hits"]) == (len(DOCUMENTS) if key == "size" else 0)


@pytest.mark.parametrize(
    "query",
    [
        {"bool": {"must": nested(3000, "bool")}},
        nested(3000, "constant_score"),
        {"term": {"tag": nested()}},
        {"more_like_this": {"fields": ["title"], "like": [{"doc": nested(3000, "a")}]}},
    ],
    ids=["bool", "constant_score", "term", "more_like_this"],
)
def test_a_query_nested_too_deeply_is_refused(engine: EmbeddedEngine, query: Any) -> None:
    with pytest.raises(EsSimhashError):
        engine.perform(Search("docs", {"query": query}))


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(tmp_path)
    yield engine
    engine.close()


MAPPING_KEYS = (
    "properties",
    "type",
    "dynamic",
    "enabled",
    "fields",
    "index",
    "analyzer",
    "ignore_above",
    "_meta",
    "format",
)
MAPPING_LEAVES = ("text", "keyword", "long", "date", "object", "nested", "true", "false", "strict", "epoch_millis")


@one_in(6)
@given(mapping=damaged(MAPPING, json_values(MAPPING_KEYS, MAPPING_LEAVES)) | json_values(MAPPING_KEYS, MAPPING_LEAVES))
def test_any_mapping_is_kept_or_refused(tmp_path_factory: pytest.TempPathFactory, mapping: Any) -> None:
    directory = tmp_path_factory.mktemp("mapping")
    engine = EmbeddedEngine(directory)
    before = repr(mapping)
    try:
        engine.perform(CreateIndex("docs", {"mappings": mapping}))
    except EsSimhashError as error:
        check_message(error)
    else:
        kept = engine.perform(GetMappings("docs"))["docs"]
        results = engine.perform(Bulk("docs", [Action("index", "1", DOCUMENTS[0])]))
        assert results[0].status in (201, 400)
        engine.perform(PutMapping("docs", kept))
        engine.close()
        engine = EmbeddedEngine(directory)  # what was kept is read again
        assert set(kept["properties"]) <= set(engine.perform(GetMappings("docs"))["docs"]["properties"])
    finally:
        engine.close()
    assert repr(mapping) == before


@one_in(6)
@given(
    document=damaged(DOCUMENTS[0], values) | values,
    kind=st.sampled_from(["index", "create", "update"]),
    wrapped=st.sampled_from([None, "doc", "upsert"]),
)
def test_any_document_is_written_as_it_is_or_rejected(
    tmp_path_factory: pytest.TempPathFactory, document: Any, kind: Any, wrapped: str | None
) -> None:
    engine = EmbeddedEngine(tmp_path_factory.mktemp("documents"))
    body = document if wrapped is None else {wrapped: document}
    before = copy.deepcopy(body)
    [result, other] = engine.perform(
        Bulk("docs", [Action(kind, "1", body), Action("index", "2", {"of another": "storm"})], refresh=True)
    )
    assert repr(body) == repr(before)
    assert other.status == 201
    [stored] = engine.perform(GetDocuments("docs", ["1"]))
    if result.status in (200, 201):
        assert kind == "update" or stored["_source"] == body
        assert engine.perform(Count("docs", {"match_all": {}})) == 2
    else:
        assert result.error
        assert not stored["found"]
    engine.close()


def test_a_document_nested_too_deeply_is_rejected(empty: EmbeddedEngine) -> None:
    [result] = empty.perform(Bulk("docs", [Action("index", "1", nested(3000, "a"))]))
    assert result.status == 400


@pytest.mark.parametrize("mapping", [{"properties": nested(3000, "properties")}, {"_meta": nested()}])
def test_a_mapping_nested_too_deeply_is_refused(empty: EmbeddedEngine, mapping: Any) -> None:
    with pytest.raises(EsSimhashError):
        empty.perform(CreateIndex("docs", {"mappings": mapping}))
