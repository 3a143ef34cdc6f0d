"""The documents that the name of an index stands for, as a query."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from es_simhash._core.json_codec import Json
from es_simhash.errors import MissingError
from es_simhash.plans.open_index import elsewhere, here
from es_simhash.plans.operations import GetAliases, GetMappings, Plan, Search

_MOST_INDICES = 10_000


def documents_behind(index: str) -> Plan[Json]:
    """Return the query for the documents that a name (alias, pattern, list …) stands for, by the filters of aliases.

    It narrows what a point in time shows: that may be of other indices, and its id has the filters of aliases in it.
    """
    either: list[Json] = []
    if own := here(index):
        names = yield GetMappings(own)
        filters = yield from _filters(own.split(","), names)
        either += [{"bool": {"filter": [{"term": {"_index": name}}, *filters[name]]}} for name in names]
    if others := elsewhere(index):
        # Nothing describes them from here but their hits.
        by_index = {"terms": {"field": "_index", "size": _MOST_INDICES}}
        reply = yield Search(",".join(others), {"size": 0, "aggs": {"indices": by_index}})
        either.append({"terms": {"_index": [each["key"] for each in reply["aggregations"]["indices"]["buckets"]]}})
    return {"bool": {"should": either, "minimum_should_match": 1}}


def _filters(parts: Sequence[str], names: Iterable[str]) -> Plan[dict[str, list[Json]]]:
    """Return the filter of each index that only aliases with filters lead to by one of the parts of a name."""
    open_: set[str] = set()
    filters: dict[str, list[Json]] = defaultdict(list)
    for part in parts:
        pattern = re.compile(".*".join(map(re.escape, ("*" if part == "_all" else part).split("*"))))
        direct = {name for name in names if pattern.fullmatch(name)}
        open_ |= direct
        if part in direct or part.startswith("-"):
            continue
        try:
            found = yield GetAliases(part)
        except MissingError:  # a data stream
            found = {}
        for name, aliases in found.items():
            for each in (each for alias, each in aliases.items() if pattern.fullmatch(alias)):
                filters[name] += [each["filter"]] if "filter" in each else []
                open_ |= set() if "filter" in each else {name}
    shut = {name: [{"bool": {"should": each}}] for name, each in filters.items() if name not in open_ and each}
    return {name: shut.get(name, []) for name in names}
