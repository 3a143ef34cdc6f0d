"""Search results without near-duplicates, for documents that store their groups (see `scheme.group_fields`)."""

from __future__ import annotations

from es_simhash._core.json_codec import Json
from es_simhash.scheme.mapping import CANONICAL, DEFAULT_PREFIX, GROUP, IS_CANONICAL


def canonical_only(prefix: str = DEFAULT_PREFIX) -> Json:
    """Return a filter for canonical documents and those in no group.

    The total of hits and all aggregations then count no duplicates. What a duplicate says is found only if its
    canonical document is found, too.

    >>> len(index.search({"query": canonical_only()}))
    3
    """
    alone = {"bool": {"must_not": [{"exists": {"field": f"{prefix}.{GROUP}"}}]}}
    return {"bool": {"should": [{"term": {f"{prefix}.{IS_CANONICAL}": True}}, alone], "minimum_should_match": 1}}


def collapsed(body: Json, prefix: str = DEFAULT_PREFIX) -> Json:
    """Return a search request that shows only the best hit of a canonical document and its duplicates.

    It counts the canonical documents of all hits as ``aggs.distinct``. Every document must be in a group, even alone:
    the engines take all documents without a canonical one for one. So write groups with ``singles``.

    >>> collapsed({"query": {"match_all": {}}})["collapse"]
    {'field': 'dedup.canonical'}
    """
    field = f"{prefix}.{CANONICAL}"
    own: Json = body.get("aggs") or body.get("aggregations") or {}
    aggregations = {**own, "distinct": {"cardinality": {"field": field}}}
    rest = {name: value for name, value in body.items() if name != "aggregations"}
    return {**rest, "collapse": {"field": field}, "aggs": aggregations}
