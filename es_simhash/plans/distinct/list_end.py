"""Where the list of hits of a search ends: most lists go on, but some are made of a window that the request sets.

A list is read on by ``from``, so the request must give the same list whatever part is asked for. The nearest ``k`` of a
vector search and the windows of retrievers depend on ``size``, or are small, where they are not given: so they are set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.errors import InputError
from es_simhash.plans.find_options import MOST_CANDIDATES

# Retrievers that rank what others found, as many hits as their rank_window_size.
_RANKING = ("rrf", "linear", "text_similarity_reranker", "random_reranker", "rule", "pinned")
# What a retriever may have that a list cannot.
_OWN_PLACES = ("search_after", "collapse")
_DIVERSE = 10


@dataclass(frozen=True)
class ListEnd:
    """No more ``hits`` of a list can be read, because of what the ``reason`` names.

    A list that is read ``at_once`` has no parts, and a short reply does not show that it is at its end.
    """

    hits: int
    reason: str
    at_once: bool = False


_ENGINES = ListEnd(MOST_CANDIDATES, f"{MOST_CANDIDATES:,} hits")


def with_end(body: Json, window: int) -> tuple[Json, ListEnd]:
    """Return a search request whose list does not depend on the part that is asked for, and where the list ends."""
    set_, ends = dict(body), [_ENGINES]
    if isinstance(query := body.get("query"), dict):
        set_["query"] = _with_k(query, window)
        if "hybrid" in query:
            ends.append(ListEnd(window, "the hybrid query", at_once=True))
    if "knn" in body:
        several = body["knn"] if isinstance(body["knn"], list) else [body["knn"]]
        nearest = [_nearest(each, window) for each in several]
        set_["knn"] = nearest if isinstance(body["knn"], list) else nearest[0]
        if nearest and "query" not in body:
            ends.append(ListEnd(sum(_number(each, "k", window) for each in nearest), "k"))
    for name in ("retriever", "rank"):
        if name in body:
            set_[name], end = _retriever(body[name], window)
            ends.append(end)
    if "search_pipeline" in body:
        # It may leave hits out of each reply.
        ends.append(ListEnd(window, "the search pipeline", at_once=True))
    return set_, min(ends, key=lambda end: (not end.at_once, end.hits))


def _retriever(given: Any, window: int) -> tuple[Any, ListEnd]:
    """Return a retriever and where its list ends; an engine says best what is wrong with one."""
    if not isinstance(given, dict) or not all(isinstance(spec, dict) for spec in given.values()) or len(given) != 1:
        return given, _ENGINES
    [(kind, spec)] = given.items()
    for name in _OWN_PLACES:
        if name in spec:
            raise InputError(f"A search for distinct hits reads its own pages. Leave {name!r} of {kind!r} out.")
    if kind == "standard":
        return {kind: _with_k(spec, window)}, _ENGINES
    if kind == "rescorer":
        return _rescorer(spec, window)
    if kind in _RANKING:
        size = _number(spec, "rank_window_size", window)
        return {kind: {**spec, "rank_window_size": size}}, ListEnd(size, "rank_window_size")
    if kind == "knn":
        end = ListEnd(_number(spec, "k", window), "k")
    else:
        end = ListEnd(_number(spec, "size", _DIVERSE), f"the retriever {kind}")
    return given, end


def _rescorer(spec: Json, window: int) -> tuple[Json, ListEnd]:
    inner, end = _retriever(spec.get("retriever"), window)
    given = spec.get("rescore")
    steps = [
        {**each, "window_size": _number(each, "window_size", window)} if isinstance(each, dict) else each
        for each in (given if isinstance(given, list) else [given])
    ]
    ends = [end, *(ListEnd(_number(each, "window_size", window), "window_size") for each in steps)]
    rescorer = {**spec, "retriever": inner, "rescore": steps if isinstance(given, list) else steps[0]}
    return {"rescorer": rescorer}, min(ends, key=lambda each: each.hits)


def _with_k(query: Any, window: int) -> Any:
    """Return a query with ``k`` in each vector query of Elasticsearch in it; OpenSearch's have one of their own."""
    if isinstance(query, list):
        return [_with_k(each, window) for each in query]
    if not isinstance(query, dict):
        return query
    return {
        name: _nearest(each, window) if name == "knn" and _is_vector_query(each) else _with_k(each, window)
        for name, each in query.items()
    }


def _is_vector_query(given: Any) -> bool:
    return isinstance(given, dict) and isinstance(given.get("field"), str)


def _nearest(given: Any, window: int) -> Any:
    if not isinstance(given, dict) or "k" in given:
        return given
    return {**given, "k": min(window, _number(given, "num_candidates", window))}


def _number(given: Any, name: str, default: int) -> int:
    """Return a number of a request; the default where there is none, or what an engine refuses."""
    value = given.get(name) if isinstance(given, Mapping) else None
    return value if isinstance(value, int) and value > 0 else default
