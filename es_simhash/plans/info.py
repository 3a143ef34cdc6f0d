"""What an index holds, by counting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from es_simhash._core.json_paths import Json, is_false, splits
from es_simhash.plans.derived_fields import field_at
from es_simhash.plans.index_rarity import fingerprinted, noted_rarity
from es_simhash.plans.open_index import OpenedIndex
from es_simhash.plans.operations import Count, GetInfo, GetMappings, Plan
from es_simhash.scheme.fingerprint import STATUSES
from es_simhash.scheme.own_fields import DEFERRED
from es_simhash.scheme.policy import Policy
from es_simhash.scheme.verdict.learnt import LearntRarity
from es_simhash.scheme.verdict.verifier import table_for


@dataclass(frozen=True)
class Info:
    """An index: its engine, its scheme and its policy, and the number of its fingerprints by status.

    ``without_fields`` lists the indices behind the name that have no fields: none of their documents has a fingerprint.
    ``rarity`` is how rare features are, if that was learnt; ``table`` is the id of what texts are compared by.
    ``unscoped`` counts the documents without a value in a field of the policy's scope; None without a scope, or if the
    engine does not know which documents have the field.
    """

    engine: str
    indices: list[str]
    without_fields: list[str]
    scheme: str
    preset: str
    fields: list[str]
    prefix: str
    documents: int
    fingerprinted: int
    statuses: dict[str, int]
    rarity: LearntRarity | None
    policy: Policy
    unscoped: int | None
    table: str | None

    @property
    def without(self) -> int:
        """Number of documents without a fingerprint of the scheme."""
        return self.documents - self.fingerprinted


def describe(index: str, opened: OpenedIndex) -> Plan[Info]:
    """Count the documents of an index by their fingerprint fields."""
    engine = yield GetInfo()
    mappings = yield GetMappings(index)
    documents = opened.documents
    scheme, prefix = documents.scheme, documents.prefix
    total = yield Count(index, {"match_all": {}})
    made = yield from fingerprinted(index, documents)
    learnt = noted_rarity(mappings, documents)
    table = table_for(scheme, scheme.verification, learnt.rarity if learnt else None)
    statuses = {}
    for status in (*STATUSES, DEFERRED):
        statuses[status] = yield Count(index, {"term": {f"{prefix}.status": status}})
    return Info(
        " ".join([engine.distribution, *([".".join(map(str, engine.version))] if engine.version else [])]),
        sorted(mappings),
        opened.without_fields,
        scheme.id,
        scheme.name,
        list(documents.fields),
        prefix,
        total,
        made,
        statuses,
        learnt,
        documents.policy,
        (yield from _unscoped(index, opened, mappings)),
        table.id if table else None,
    )


def _unscoped(index: str, opened: OpenedIndex, mappings: Mapping[str, Json]) -> Plan[int | None]:
    scope = opened.documents.policy.scope
    if scope is None or not all(_is_searched(each, path) for each in mappings.values() for path in scope.paths):
        return None
    have = {"bool": {"filter": [{"exists": {"field": path}} for path in scope.paths]}}
    without: int = yield Count(index, {"bool": {"must_not": [have]}})
    return without


def _is_searched(mapping: Json, path: str) -> bool:
    """Return whether the engine knows which documents have a field: it may leave what is new unmapped."""
    if kind := field_at(mapping, path).get("type"):
        # Of a constant, documents may or may not have a value.
        return bool(kind != "constant_keyword")
    above = [mapping, *(field_at(mapping, name) for name, _ in splits(path))]
    return not any(is_false(each.get(setting)) for each in above for setting in ("dynamic", "enabled"))
