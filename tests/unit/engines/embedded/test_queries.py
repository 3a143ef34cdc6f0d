"""Queries of the embedded engine find and score what a plain reading of them says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.documents.sources import SourceFilter
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.engines.embedded.mapping import standard
from es_simhash.engines.embedded.queries import minimum_should_match
from es_simhash.errors import EngineError
from es_simhash.plans.operations import Action, Bulk, CreateIndex, Search

TAGS = "abcde"
CORPUS: list[Json] = [{"tags": [tag for bit, tag in enumerate(TAGS) if number >> bit & 1]} for number in range(32)]
TEXTS = [
    "the fox and the dog and the fox",
    "a fox met a dog at the river",
    "the river and the sea",
    "dog dog dog river",
    "an owl at night",
    "近似重複と検出、the fox",
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    directory: Path = tmp_path_factory.mktemp("queries")
    engine = EmbeddedEngine(directory)
    engine.perform(CreateIndex("a", {"mappings": {"properties": {"tags": {"type": "keyword"}}}}))
    engine.perform(Bulk("a", [Action("index", str(i), document) for i, document in enumerate(CORPUS)], refresh=True))
    engine.perform(CreateIndex("texts", {"mappings": {"properties": {"t": {"type": "text"}}}}))
    engine.perform(Bulk("texts", [Action("index", str(i), {"t": text}) for i, text in enumerate(TEXTS)], refresh=True))
    yield engine
    engine.close()


def found(engine: EmbeddedEngine, query: Json, index: str = "a") -> dict[str, float]:
    hits = engine.perform(Search(index, {"query": query, "size": 100}))["hits"]["hits"]
    return {hit["_id"]: hit["_score"] for hit in hits}


def score(query: Json, number: int) -> float | None:  # noqa: PLR0911
    """The score of a document by the words of Elasticsearch's reference; None if it does not match."""
    [(kind, body)] = query.items()
    tags, id_ = CORPUS[number]["tags"], str(number)
    if kind == "match_all":
        return body.get("boost", 1.0)
    if kind == "terms":
        return 1.0 if set(body["tags"]) & set(tags) else None
    if kind == "ids":
        return 1.0 if id_ in body["values"] else None
    if kind == "constant_score":
        return None if score(body["filter"], number) is None else body.get("boost", 1.0)
    assert kind == "bool"
    must = [score(each, number) for each in body.get("must", [])]
    others = [score(each, number) for each in body.get("filter", [])]
    should = [score(each, number) for each in body.get("should", [])]
    if None in must or None in others or any(score(each, number) is not None for each in body.get("must_not", [])):
        return None
    matched = [each for each in should if each is not None]
    least = body.get("minimum_should_match", 0 if must or others else 1)
    if (must or others or should) and len(matched) < (least if must or others else max(least, 1)):
        return None
    if not (must or others or should):
        return 0.0 if body.get("must_not") else 1.0
    return sum(each for each in must if each is not None) + sum(matched)


LEAVES = st.one_of(
    st.builds(lambda boost: {"match_all": {"boost": boost}}, st.sampled_from([0.5, 1.0, 3.0])),
    st.builds(lambda tags: {"terms": {"tags": tags}}, st.lists(st.sampled_from(TAGS + "x"), max_size=3)),
    st.builds(lambda ids: {"ids": {"values": ids}}, st.lists(st.integers(0, 40).map(str), max_size=8)),
)


def _bools(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    clauses = st.lists(inner, max_size=3)
    body = st.fixed_dictionaries(
        {},
        optional={
            "must": clauses,
            "should": clauses,
            "filter": clauses,
            "must_not": st.lists(inner, max_size=1),
            "minimum_should_match": st.integers(0, 3),
        },
    )
    constant = st.builds(lambda query: {"constant_score": {"filter": query, "boost": 2.0}}, inner)
    return st.one_of(constant, st.builds(lambda body: {"bool": body}, body))


@given(st.recursive(LEAVES, _bools, max_leaves=12))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_query_finds_and_scores_by_its_definition(engine: EmbeddedEngine, query: Json) -> None:
    expected = {str(i): wanted for i in range(32) if (wanted := score(query, i)) is not None}
    assert found(engine, query) == expected


@given(st.integers(0, 40), st.integers(-120, 120))
def test_minimum_should_match_counts_as_lucene_does(clauses: int, number: int) -> None:
    whole = clauses + number if number < 0 else number
    assert minimum_should_match(number, clauses) == minimum_should_match(str(number), clauses) == max(whole, 0)
    part = int(clauses * number / 100)
    percent = clauses + part if number < 0 else part
    assert minimum_should_match(f"{number}%", clauses) == max(percent, 0)


@pytest.mark.parametrize("spec", [None, "", "half", "3<90%", "1.5", 1.5, True, []])
def test_minimum_should_match_in_another_form_is_refused(spec: Any) -> None:
    with pytest.raises(EngineError, match="minimum_should_match"):
        minimum_should_match(spec, 5)


def test_documents_are_found_by_the_name_of_their_index(engine: EmbeddedEngine) -> None:
    for query in ({"term": {"_index": "texts"}}, {"terms": {"_index": ["x", "texts"]}}):
        assert len(found(engine, query, "texts")) == len(TEXTS)
        assert not found(engine, query, "a")


def test_a_keyword_scores_its_idf(engine: EmbeddedEngine) -> None:
    idf = log(1 + (32 - 16 + 0.5) / (16 + 0.5))
    scores = found(engine, {"term": {"tags": "a"}})
    assert list(scores.values()) == pytest.approx([idf] * 16)


@pytest.mark.parametrize("like", [*TEXTS, "the the the fox dog river sea owl"])
@pytest.mark.parametrize("terms", [1, 2, 3, 25])
def test_the_terms_compared_are_those_of_the_highest_tf_idf(engine: EmbeddedEngine, like: str, terms: int) -> None:
    tokens = [standard(text).split() for text in TEXTS]
    counts = Counter(standard(like).split())
    frequency = {token: sum(token in text for text in tokens) for token in counts}
    weight = {
        token: count * (log((len(TEXTS) + 1) / (frequency[token] + 1)) + 1)
        for token, count in counts.items()
        if frequency[token] >= 2
    }
    chosen = sorted(weight, key=lambda token: (weight[token], token), reverse=True)[:terms]
    least = max(1, len(chosen) * 60 // 100)
    expected = {str(i) for i, text in enumerate(tokens) if len(set(text) & set(chosen)) >= least}
    body = {"fields": ["t"], "like": like, "min_term_freq": 1, "min_doc_freq": 2, "max_query_terms": terms}
    query = {"more_like_this": {**body, "minimum_should_match": "60%"}}
    assert set(found(engine, query, "texts")) == (expected if chosen else set())


def test_several_fields_and_likes_are_compared(engine: EmbeddedEngine) -> None:
    usual = {"min_term_freq": 1, "min_doc_freq": 1, "minimum_should_match": "100%"}
    several = {"fields": ["t", "none"], "like": ["owl", {"_id": "3"}, {"_id": "missing"}], **usual}
    assert set(found(engine, {"more_like_this": several}, "texts")) == {"1", "4"}
    assert set(found(engine, {"more_like_this": {**several, "include": True}}, "texts")) == {"1", "3", "4"}
    elsewhere = {"fields": ["tags"], "like": {"_index": "texts", "_id": "0"}, **usual}
    assert found(engine, {"more_like_this": elsewhere}) == {}


def test_nothing_is_like_a_document_that_is_not_an_object(engine: EmbeddedEngine) -> None:
    like = {"fields": ["t"], "like": {"doc": "owl"}, "min_term_freq": 1, "min_doc_freq": 1}
    assert found(engine, {"more_like_this": like}, "texts") == {}


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (["a.b"], b'{"a":{"b":1},"a.b":3}'),
        (["a"], b'{"a":{"b":1,"c":[]},"a.b":3}'),
        (["*c"], b'{"a":{"c":[]}}'),
        (["a.*"], b'{"a":{"b":1,"c":[]},"a.b":3}'),
        ({"excludes": ["*b"]}, b'{"a":{"c":[]},"x":[{"y":{}}]}'),
        (["x.y"], b'{"x":[{"y":{}}]}'),
        (["b"], b"{}"),
        ({}, b'{"a":{"b":1,"c":[]},"a.b":3,"x":[{"y":{}}]}'),
    ],
    ids=str,
)
def test_paths_choose_parts_of_a_document(source: Any, part: bytes) -> None:
    document = b'{"a":{"b":1,"c":[]},"a.b":3,"x":[{"y":{}}]}'
    assert SourceFilter.of(source).apply(document) == SourceFilter.of(True).apply(part)
