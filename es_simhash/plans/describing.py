"""What an index holds, by counting."""

from __future__ import annotations

from dataclasses import dataclass

from es_simhash.documents import Documents
from es_simhash.fields import DEFERRED
from es_simhash.fingerprint import STATUSES
from es_simhash.operations import Count, GetInfo, GetMappings, Plan


@dataclass(frozen=True)
class Info:
    """An index: its engine, its scheme, and how many of its documents have fingerprints, of which status."""

    engine: str
    indices: list[str]
    scheme: str
    preset: str
    fields: list[str]
    prefix: str
    documents: int
    fingerprinted: int
    statuses: dict[str, int]

    @property
    def without(self) -> int:
        """How many documents have no fingerprint of the scheme."""
        return self.documents - self.fingerprinted


def describe(index: str, documents: Documents) -> Plan[Info]:
    """Count the documents of an index by what its fields say."""
    engine = yield GetInfo()
    indices = sorted((yield GetMappings(index)))
    scheme, prefix = documents.scheme, documents.prefix
    total = yield Count(index, {"match_all": {}})
    fingerprinted = yield Count(index, {"term": {f"{prefix}.scheme": scheme.id}})
    statuses = {}
    for status in (*STATUSES, DEFERRED):
        statuses[status] = yield Count(index, {"term": {f"{prefix}.status": status}})
    return Info(
        " ".join([engine.distribution, *([".".join(map(str, engine.version))] if engine.version else [])]),
        indices,
        scheme.id,
        scheme.name,
        list(documents.fields),
        prefix,
        total,
        fingerprinted,
        statuses,
    )
