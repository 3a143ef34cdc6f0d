"""The search request of a caller, and the requests by which its hits are read part by part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import SourceFilter
from es_simhash.errors import InputError
from es_simhash.plans.find_options import MOST_CANDIDATES
from es_simhash.scheme.mapping import CANONICAL, GROUP
from es_simhash.scheme.query import compared_fields, name_list

# Parts of a request other than hits: the first reply has them.
_ONCE = ("aggs", "aggregations", "suggest", "track_total_hits", "profile")
# What it asks of each hit: hits that are read again are only compared.
_OF_HITS = ("highlight", "explain", "fields", "docvalue_fields", "stored_fields", "script_fields", "version")
# What says where in the list of hits a reply begins: the plan does.
_PLACES = ("search_after", "pit", "slice")
_DEFAULT_SIZE = 10
# What stored_fields says where a hit is to have no source.
_NO_SOURCE = "_none_"


@dataclass(frozen=True)
class SearchBody:
    """A search request; hits come as it asks, with our fields added, and the texts if they are ``with_texts``.

    For hits that are folded ``by_groups``, our fields are their group and canonical document. A ``window`` is how many
    hits are read at once. ``scope_paths`` are the fields that a scope reads. What the request asks of chance goes by
    the ``seed``. On a later page, the reader may show other documents than those ``within`` the name of the index.
    """

    body: Json
    documents: Documents
    window: int
    with_texts: bool = False
    by_groups: bool = False
    scope_paths: Sequence[str] = ()
    seed: int | None = None
    within: Json | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.body, dict):
            raise InputError(f"A search cannot be {self.body!r}. Give the body of a search request, as an object.")
        for name in _PLACES:
            if name in self.body:
                raise InputError(f"A search for distinct hits reads its own pages. Leave {name!r} out; use the cursor.")
        if "collapse" in self.body:
            raise InputError("A search for distinct hits cannot collapse them as well. Leave 'collapse' out.")
        stored = self.body.get("stored_fields")
        if stored == _NO_SOURCE or (isinstance(stored, list) and _NO_SOURCE in stored):
            raise InputError(
                f"Hits without their source cannot be compared. Give '_source': false, not {_NO_SOURCE!r}."
            )
        # Raise for what is not a source filter.
        _ = self.asked_source

    @property
    def size(self) -> int:
        """How many distinct hits are asked for."""
        return _whole(self.body, "size", _DEFAULT_SIZE)

    @property
    def skipped(self) -> int:
        """How many distinct hits are passed over."""
        return _whole(self.body, "from", 0)

    @cached_property
    def _bounded(self) -> tuple[Json, ListEnd]:
        body = self.body if self.seed is None else with_seeds(self.body, self.seed)
        if self.within is not None:
            # No other part of a request narrows hits of vector searches and retrievers as it does all others.
            given = [body["post_filter"]] if "post_filter" in body else []
            body = {**body, "post_filter": {"bool": {"filter": [*given, self.within]}}}
        return with_end(body, max(self.window, self.skipped + self.size))

    @property
    def list_body(self) -> Json:
        """The request with all that decides its list of hits."""
        return self._bounded[0]

    @property
    def end(self) -> ListEnd:
        """The last possible end of its list of hits."""
        return self._bounded[1]

    @property
    def _asked(self) -> Any:
        if "_source" in self.body:
            # Servers take an empty list for the whole.
            return self.body["_source"] if self.body["_source"] != [] else True
        stored = self.body.get("stored_fields")
        if stored is None:
            return not self.body.get("script_fields")
        return stored == "_source" or (isinstance(stored, list) and "_source" in stored)

    @cached_property
    def asked_source(self) -> SourceFilter:
        """What the caller asks for of documents."""
        return SourceFilter.of(self._asked)

    def part(self, start: int, size: int) -> Json:
        """Return the request for hits from a rank on."""
        rest = {name: value for name, value in self.list_body.items() if start == 0 or name not in _ONCE}
        again: Json = {"from": start, "size": size, "_source": self._source}
        return rest | again | ({"track_total_hits": False} if start else {})

    def part_again(self, start: int, size: int) -> Json:
        """Return the request for hits that stand on earlier pages: for what of them is compared."""
        rest = {name: value for name, value in self.list_body.items() if name not in (*_ONCE, *_OF_HITS)}
        source = [*self._compared, *(self.documents.fields if self.has_texts else ())]
        return rest | {"from": start, "size": size, "_source": source, "track_total_hits": False}

    @property
    def _source(self) -> list[str] | bool:
        asked = self._asked
        if isinstance(asked, dict):
            # What the caller excludes may be ours; it is taken out of the hits.
            asked = asked.get("includes") or True
        if asked is True:
            return True
        names = [] if asked is False else name_list(asked)
        return [*names, *self._compared, *(self.documents.fields if self.with_texts else ())]

    @property
    def _compared(self) -> list[str]:
        prefix = self.documents.prefix
        groups = [f"{prefix}.{name}" for name in (GROUP, CANONICAL)]
        own = groups if self.by_groups else compared_fields(self.documents.scheme, prefix)
        return [*own, *self.scope_paths]

    @cached_property
    def _sort_keys(self) -> int:
        retriever = self.body.get("retriever")
        standard = retriever.get("standard") if isinstance(retriever, dict) else None
        sort = self.body.get("sort") or (standard.get("sort") if isinstance(standard, dict) else None) or []
        return sum(len(key) if isinstance(key, dict) else 1 for key in (sort if isinstance(sort, list) else [sort]))

    @cached_property
    def has_texts(self) -> bool:
        """Whether hits come with their texts."""
        source = self._source
        return source is True or set(self.documents.fields) <= set(source or ())

    def as_asked(self, hit: Json) -> Json:
        """Return a hit with what the caller asks for: of its source, and of what it was sorted by."""
        if self._sort_keys and len(hit.get("sort", ())) > self._sort_keys:
            # At a point in time, Elasticsearch sorts equal ones by their place.
            hit = {**hit, "sort": hit["sort"][: self._sort_keys]}
        if self._asked is True or "_source" not in hit:
            return hit
        if not self.asked_source.wanted:
            return {name: value for name, value in hit.items() if name != "_source"}
        return {**hit, "_source": self.asked_source.part_of(hit["_source"])}


def _whole(body: Json, name: str, default: int) -> int:
    value: Any = body.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{name!r} of a search cannot be {value!r}. Choose a whole number from 0.")
    return value


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


# Parts of a request that decide neither which hits there are, nor in which order.
_BESIDE = ("aggs", "aggregations", "highlight", "script_fields", "suggest")
# What Painless has of chance; a Random with a seed is always the same.
_CHANCE = re.compile(r"\bMath\s*\.\s*random\b|\bnew\s+Random\s*\(\s*\)|\brandomUUID\b|\bCollections\s*\.\s*shuffle\b")


def with_seeds(request: Any, seed: int) -> Any:
    """Return a search request with a seed wherever it asks for chance without one."""
    if isinstance(request, list):
        return [with_seeds(each, seed) for each in request]
    if not isinstance(request, dict):
        return request
    seeded = {name: with_seeds(each, seed) for name, each in request.items()}
    for spec in (seeded.get("function_score"), *_functions(seeded.get("function_score"))):
        if isinstance(spec, dict) and isinstance(given := spec.get("random_score"), dict) and "seed" not in given:
            # Places of documents in files differ between copies of a shard.
            spec["random_score"] = {"field": "_seq_no", **given, "seed": seed}
    if isinstance(given := seeded.get("random_reranker"), dict) and "retriever" in given:
        seeded["random_reranker"] = {"seed": seed, **given}
    return seeded


def _functions(spec: Any) -> list[Any]:
    functions = spec.get("functions") if isinstance(spec, dict) else None
    return functions if isinstance(functions, list) else []


def check_scripts(body: Json) -> None:
    """Raise if a script puts the hits in another order at each request."""
    for source in _scripts({name: each for name, each in body.items() if name not in _BESIDE}):
        if found := _CHANCE.search(source):
            raise InputError(
                f"A search for distinct hits needs one order, and {found[0]!r} in a script gives another one at each "
                "request. Use random_score, or a number from params instead."
            )


def _scripts(part: Any) -> list[str]:
    """Return the source of each script in a part of a request."""
    if isinstance(part, list):
        return [source for each in part for source in _scripts(each)]
    if not isinstance(part, dict):
        return []
    found = [source for each in part.values() for source in _scripts(each)]
    script = part.get("script")
    source = script.get("source") if isinstance(script, dict) else script
    return [*found, source] if isinstance(source, str) else found
