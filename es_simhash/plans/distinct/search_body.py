"""The search request of a caller, and the requests by which its hits are read part by part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.source_filter import SourceFilter
from es_simhash.errors import InputError
from es_simhash.plans.find_options import MOST_CANDIDATES
from es_simhash.scheme.group_fields import GROUP
from es_simhash.scheme.query import compared_fields, name_list

# What a request asks for beside hits: the first reply has it.
_ONCE = ("aggs", "aggregations", "suggest", "track_total_hits", "profile")
# What says where in the list of hits a reply begins: the plan does.
_PLACES = ("search_after", "pit", "slice")
_DEFAULT_SIZE = 10
# A document of one id is looked for in this many indices.
_SAME_IDS = 10


@dataclass(frozen=True)
class SearchBody:
    """A search request; hits come as it asks, with our fields beside, and the texts if they are ``with_texts``.

    For hits that are folded ``by_groups``, our field is their group.
    """

    body: Json
    documents: Documents
    with_texts: bool = False
    by_groups: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.body, dict):
            raise InputError(f"A search cannot be {self.body!r}. Give the body of a search request, as an object.")
        for name in _PLACES:
            if name in self.body:
                raise InputError(f"A search for distinct hits reads its own pages. Leave {name!r} out; use the cursor.")
        if "collapse" in self.body:
            raise InputError("A search for distinct hits cannot collapse them as well. Leave 'collapse' out.")

    @property
    def size(self) -> int:
        """How many distinct hits are asked for."""
        return _whole(self.body, "size", _DEFAULT_SIZE)

    @property
    def skipped(self) -> int:
        """How many distinct hits are passed over."""
        return _whole(self.body, "from", 0)

    @cached_property
    def asked_source(self) -> SourceFilter:
        """What the caller asks for of documents."""
        return SourceFilter.of(self.body.get("_source", True))

    def part(self, start: int, size: int) -> Json:
        """Return the request for hits from a rank on."""
        rest = {name: value for name, value in self.body.items() if start == 0 or name not in _ONCE}
        again: Json = {"from": start, "size": size, "_source": self._source}
        return rest | again | ({"track_total_hits": False} if start else {})

    def of_ids(self, ids: list[str]) -> Json:
        """Return the request for some documents, with the same parts of each."""
        distinct = list(dict.fromkeys(ids))
        # One id may stand for documents of several indices.
        size = min(len(ids) * _SAME_IDS, MOST_CANDIDATES)
        return {
            "query": {"ids": {"values": distinct}},
            "size": size,
            "_source": self._source,
            "track_total_hits": False,
        }

    @property
    def _source(self) -> list[str] | bool:
        asked = self.body.get("_source", True)
        if isinstance(asked, dict):
            # What the caller excludes may be ours; it is taken out of the hits.
            asked = asked.get("includes") or True
        if asked is True:
            return True
        names = [] if asked is False else name_list(asked)
        prefix = self.documents.prefix
        own = [f"{prefix}.{GROUP}"] if self.by_groups else compared_fields(self.documents.scheme, prefix)
        return [*names, *own, *(self.documents.fields if self.with_texts else ())]

    @cached_property
    def has_texts(self) -> bool:
        """Whether hits come with their texts."""
        source = self._source
        return source is True or set(self.documents.fields) <= set(source or ())

    def as_asked(self, hit: Json) -> Json:
        """Return a hit with what the caller asks for of its source."""
        if self.body.get("_source", True) is True or "_source" not in hit:
            return hit
        if not self.asked_source.wanted:
            return {name: value for name, value in hit.items() if name != "_source"}
        return {**hit, "_source": self.asked_source.part_of(hit["_source"])}


def _whole(body: Json, name: str, default: int) -> int:
    value: Any = body.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{name!r} of a search cannot be {value!r}. Choose a whole number from 0.")
    return value
