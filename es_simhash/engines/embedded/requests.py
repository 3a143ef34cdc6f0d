"""The parts of a search request, checked: nothing in it is left aside silently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.documents.source_filter import SourceFilter
from es_simhash.errors import EngineError

_KEYS = ("query", "size", "from", "_source", "track_total_hits", "sort")
_BY_SCORE = ("_score", {"_score": "desc"}, {"_score": {"order": "desc"}})
_BY_PLACE = ("_doc", {"_doc": "asc"}, {"_doc": {"order": "asc"}})


@dataclass(frozen=True)
class SearchRequest:
    """What is searched for, and which part of what is found is wanted."""

    query: Json
    size: int
    start: int
    source: SourceFilter
    count: bool
    by_score: bool

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> SearchRequest:
        """The request that the body of a search means."""
        if unknown := set(body) - set(_KEYS):
            raise EngineError(
                f"The embedded engine does not know {sorted(unknown)!r} in a search request. "
                f"Leave it out; what can be given is: {', '.join(_KEYS)}."
            )
        return cls(
            body.get("query", {"match_all": {}}),
            _whole_number(body, "size", 10),
            _whole_number(body, "from", 0),
            SourceFilter.of(body.get("_source", True)),
            body.get("track_total_hits", True) is not False,
            _is_by_score(body.get("sort")),
        )


def _whole_number(body: Mapping[str, Any], key: str, default: int) -> int:
    value = body.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise EngineError(f"A search request cannot have {key}: {value!r}. Give a whole number from 0 on.")
    return value


def _is_by_score(sort: Any) -> bool:
    [key] = sort if isinstance(sort, list) and len(sort) == 1 else [sort]
    if key is None or key in _BY_SCORE:
        return True
    if key in _BY_PLACE:
        return False
    raise EngineError(
        f"The embedded engine cannot sort by {sort!r}. Sort by _score or by _doc, or sort the hits once you have them."
    )
