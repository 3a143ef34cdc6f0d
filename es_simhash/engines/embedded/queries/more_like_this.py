"""Similar texts, found by the terms that Lucene's MoreLikeThis would choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import log
from typing import Any, TypeAlias

import tantivy

from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded.mapping.document_terms import leaves
from es_simhash.engines.embedded.mapping.index_mapping import Field
from es_simhash.engines.embedded.queries import query_bodies
from es_simhash.engines.embedded.queries.tantivy_queries import TermQueries, boosted, some_of
from es_simhash.errors import EngineError

# Finds a document by index (None: the searched one) and id.
FindDocument: TypeAlias = Callable[[str | None, str], Json | None]

_NUMBERS = {"min_term_freq": 2, "min_doc_freq": 5, "max_query_terms": 25}
_KEYS = ("fields", "like", *_NUMBERS, "minimum_should_match", "include", "boost")


@dataclass(frozen=True)
class MoreLikeThis:
    """The parameters of a query: the texts and documents (whole, or by index and id) that hits should resemble."""

    fields: Sequence[str]
    texts: Sequence[str]
    items: Sequence[Mapping[str, Any]]
    min_term_freq: int
    min_doc_freq: int
    max_query_terms: int
    minimum_should_match: Any
    include: bool
    boost: Mapping[str, Any]

    @classmethod
    def of(cls, body: Any) -> MoreLikeThis:
        """Parse the body of a ``more_like_this`` query, with Elasticsearch's defaults."""
        body = query_bodies.check("more_like_this", body, _KEYS, needed="like")
        if not (fields := query_bodies.listed(body.get("fields"))):
            raise EngineError("The query 'more_like_this' has no fields. Name those to compare in 'fields'.")
        likes = query_bodies.listed(body["like"])
        items = [like for like in likes if not isinstance(like, str)]
        for item in items:
            query_bodies.check("more_like_this.like", item, ("_index", "_id", "doc"))
            if "doc" not in item and "_id" not in item:
                raise EngineError("A document in 'like' has neither 'doc' nor '_id'. Give it one of them.")
        numbers = {key: query_bodies.whole_number(body, key, default) for key, default in _NUMBERS.items()}
        return cls(
            [query_bodies.path("more_like_this", field) for field in fields],
            [like for like in likes if isinstance(like, str)],
            items,
            minimum_should_match=body.get("minimum_should_match", "30%"),
            include=bool(body.get("include", False)),
            boost={"boost": body["boost"]} if "boost" in body else {},
            **numbers,
        )


def compile(
    asked: MoreLikeThis, fields: Sequence[Field], queries: TermQueries, find_document: FindDocument
) -> tantivy.Query:
    """Return the query for enough of the terms chosen from all texts, or from all documents."""
    found = list(_found(asked.items, find_document))
    alike = []
    if asked.texts:
        alike.append(_some_terms(asked, queries, [(field, asked.texts) for field in fields]))
    if found:
        documents = [document for _, document in found]
        alike.append(_some_terms(asked, queries, [(field, list(_values(field, documents))) for field in fields]))
    query = some_of(alike, 1)
    own_ids = [id_ for id_, _ in found if id_ is not None]
    if own_ids and not asked.include:
        others = (tantivy.Occur.MustNot, queries.any_of("id", own_ids))
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), others])
    return boosted(query, asked.boost)


def _found(items: Sequence[Mapping[str, Any]], find: FindDocument) -> Iterator[tuple[str | None, Json]]:
    """Yield the documents, with their ids if they are in the searched index."""
    for item in items:
        if "doc" in item:
            yield None, item["doc"]
        elif document := find(item.get("_index"), str(item["_id"])):
            yield str(item["_id"]), document


def _values(field: Field, documents: Sequence[Json]) -> Iterator[Any]:
    return (value for document in documents for path, value in leaves(document) if path == field.source)


def _some_terms(
    asked: MoreLikeThis, queries: TermQueries, contents: Sequence[tuple[Field, Sequence[Any]]]
) -> tantivy.Query:
    """Return the query for enough of the heaviest terms of each field."""
    chosen = []
    for field, contents_of_field in contents:
        tokens = Counter(token for value in contents_of_field for token in query_bodies.tokens(field, value))
        chosen += [queries.term(field, token, True) for token in _weightiest(tokens, asked, queries, field)]
    return some_of(chosen, query_bodies.minimum_should_match(asked.minimum_should_match, len(chosen)))


def _weightiest(tokens: Counter[str], asked: MoreLikeThis, queries: TermQueries, field: Field) -> list[str]:
    """Return the tokens with the highest tf · idf, except those that are too rare.

    idf is ln((N + 1) / (df + 1)) + 1, with N documents, df of them with the token, as in Lucene's ClassicSimilarity.
    """
    weights: dict[str, float] = {}
    for token, count in tokens.items():
        frequency = queries.document_frequency(field, token) if count >= asked.min_term_freq else 0
        if frequency >= max(asked.min_doc_freq, 1):
            weights[token] = count * (log((queries.document_count + 1) / (frequency + 1)) + 1)
    return nlargest(asked.max_query_terms, weights, key=lambda token: (weights[token], token))
