"""Search results without near-duplicates, for documents that store their groups (see `scheme.group_fields`)."""

from __future__ import annotations

from es_simhash._core.json_paths import Json
from es_simhash.scheme.group_fields import GROUP
from es_simhash.scheme.mapping import DEFAULT_PREFIX


def canonical_only(prefix: str = DEFAULT_PREFIX) -> Json:
    """Return a filter for canonical documents and those in no group.

    The total of hits and all aggregations then count each group once. A group is found only if its canonical document
    is.
    """
    alone = {"bool": {"must_not": [{"exists": {"field": f"{prefix}.{GROUP}"}}]}}
    return {"bool": {"should": [{"term": {f"{prefix}.is_canonical": True}}, alone], "minimum_should_match": 1}}


def collapsed(body: Json, prefix: str = DEFAULT_PREFIX) -> Json:
    """Return a search request that shows only the best hit of each group, and counts the groups as ``aggs.groups``.

    Every document must be in a group, even alone: the engines take all documents without a group for one. So write
    groups with ``singles``.
    """
    field = f"{prefix}.{GROUP}"
    own: Json = body.get("aggs") or body.get("aggregations") or {}
    aggregations = {**own, "groups": {"cardinality": {"field": field}}}
    rest = {name: value for name, value in body.items() if name != "aggregations"}
    return {**rest, "collapse": {"field": field}, "aggs": aggregations}
