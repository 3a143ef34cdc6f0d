"""The search request of a caller, and the requests by which its hits are read part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.source_filter import SourceFilter
from es_simhash.errors import InputError
from es_simhash.plans.distinct.fixed_order import with_seeds
from es_simhash.plans.distinct.list_end import ListEnd, with_end
from es_simhash.scheme.group_fields import CANONICAL, GROUP
from es_simhash.scheme.query import compared_fields, name_list

# What a request asks for beside hits: the first reply has it.
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
    """A search request; hits come as it asks, with our fields beside, and the texts if they are ``with_texts``.

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
        # Raise for what is no source filter.
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
        """Where its list of hits ends, at the latest."""
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
