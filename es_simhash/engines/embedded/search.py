"""Searches over one or several indices: the request, checked part by part, and the reply."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tantivy

from es_simhash._core.json_paths import Json
from es_simhash.documents.source_filter import SourceFilter
from es_simhash.engines.embedded.index import EmbeddedIndex, View
from es_simhash.engines.embedded.mapping.document_terms import version_of
from es_simhash.engines.embedded.queries.more_like_this import FindDocument
from es_simhash.engines.embedded.queries.query_bodies import whole_number
from es_simhash.engines.embedded.queries.query_types import Compiler
from es_simhash.engines.embedded.queries.tantivy_queries import TermQueries, constant
from es_simhash.errors import EngineError
from es_simhash.plans.operations import Sample

_KEYS = ("query", "size", "from", "_source", "track_total_hits", "sort", "seq_no_primary_term", "post_filter")
_BY_SCORE = ("_score", {"_score": "desc"}, {"_score": {"order": "desc"}})
_BY_PLACE = ("_doc", {"_doc": "asc"}, {"_doc": {"order": "asc"}})


@dataclass(frozen=True)
class SearchRequest:
    """The query, and the part of the results to return."""

    query: Json
    size: int
    start: int
    source: SourceFilter
    count: bool
    by_score: bool
    with_version: bool

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> SearchRequest:
        """Parse the body of a search request; raise for parts that are not supported."""
        if unknown := set(body) - set(_KEYS):
            raise EngineError(
                f"The embedded engine does not support {sorted(unknown)!r} in a search request. "
                f"Leave it out; supported: {', '.join(_KEYS)}."
            )
        query = body.get("query", {"match_all": {}})
        if "post_filter" in body:
            # There is nothing beside the hits that it would leave alone.
            query = {"bool": {"must": [query], "filter": [body["post_filter"]]}}
        return cls(
            query,
            whole_number(body, "size", 10),
            whole_number(body, "from", 0),
            SourceFilter.of(body.get("_source", True)),
            body.get("track_total_hits", True) is not False,
            _is_by_score(body.get("sort")),
            body.get("seq_no_primary_term", False) is True,
        )


def _is_by_score(sort: Any) -> bool:
    [key] = sort if isinstance(sort, list) and len(sort) == 1 else [sort]
    if key is None or key in _BY_SCORE:
        return True
    if key in _BY_PLACE:
        return False
    raise EngineError(
        f"The embedded engine cannot sort by {sort!r}. Sort by _score or by _doc, or sort the hits once you have them."
    )


# A sample is drawn from this many documents of an index; all of these are looked up.
_SAMPLED_FROM = 200_000

# A hit: its score, and its location.
_Hit = tuple[float, EmbeddedIndex, tantivy.Searcher, tantivy.DocAddress]


def search(views: Sequence[View], body: Mapping[str, Any], find_document: FindDocument) -> Json:
    """Return the reply to a search request."""
    started = time.perf_counter()
    request = SearchRequest.of(body)
    total = 0
    hits: list[_Hit] = []
    for view in views:
        count, found = _search_one(view, request, find_document)
        total += count
        hits += found
    if len(views) > 1 and request.by_score:
        hits.sort(key=lambda hit: -hit[0])
    page = hits[request.start : request.start + request.size]
    reply: Json = {"max_score": hits[0][0] if hits and request.by_score else None}
    if request.count:
        reply["total"] = {"value": total, "relation": "eq"}
    reply["hits"] = [_shown(hit, request) for hit in page]
    return {
        "took": int((time.perf_counter() - started) * 1000),
        "timed_out": False,
        "_shards": {"total": len(views), "successful": len(views), "skipped": 0, "failed": 0},
        "hits": reply,
    }


def count(views: Sequence[View], query: Any, find_document: FindDocument) -> int:
    """Count the documents that a query matches."""
    reply = search(views, {"query": query, "size": 0}, find_document)
    value: int = reply["hits"]["total"]["value"]
    return value


def sample(views: Sequence[View], operation: Sample, find_document: FindDocument) -> list[Json]:
    """Return matching documents, evenly spread over the first `_SAMPLED_FROM` of each index."""
    body = {"query": operation.query, "size": _SAMPLED_FROM, "_source": False, "sort": "_doc"}
    body["seq_no_primary_term"] = True
    request = SearchRequest.of(body)
    hits = [hit for view in views for hit in _search_one(view, request, find_document)[1]]
    step = max(len(hits) / max(operation.size, 1), 1.0)
    return [_shown(hits[int(place * step)], request) for place in range(min(operation.size, len(hits)))]


def _search_one(view: View, request: SearchRequest, find_document: FindDocument) -> tuple[int, list[_Hit]]:
    """Return the number of matches in an index, if requested, and the hits up to the end of the page."""
    index, searcher = view.index, view.searcher
    compiler = Compiler(index.name, index.mapping, TermQueries(index.store.schema, searcher), find_document)
    query = compiler.compile(request.query, scored=request.by_score)
    if not request.by_score:
        # Equal scores keep documents in storage order.
        query = constant(query, 1.0)
    # The library allocates room for all requested hits at once, so never request more than there can be.
    limit = min(request.start + request.size, searcher.num_docs)
    found: Any = searcher.search(query, limit=max(limit, 1), count=request.count)
    hits = [(score, index, searcher, address) for score, address in found.hits[:limit]]
    return found.count or 0, hits


def _shown(hit: _Hit, request: SearchRequest) -> Json:
    score, index, searcher, address = hit
    id_, source = index.store.stored(searcher, address)
    shown: Json = {"_index": index.name, "_id": id_, "_score": score if request.by_score else None}
    if request.with_version:
        shown |= version_of(source)
    if request.source.wanted:
        shown["_source"] = request.source.apply(source)
    return shown
