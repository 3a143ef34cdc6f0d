"""Checks of ``_source``: an update rebuilds the document from it, and loses what it lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from es_simhash._core.json_paths import Json, is_false
from es_simhash.live.doctor.facts import Due, IndexFacts, index_facts
from es_simhash.live.doctor.finding import Finding, accepting
from es_simhash.plans.operations import Plan


def losses(indices: Iterable[str], accepted: Collection[str]) -> Plan[list[Finding]]:
    """Return what updates of documents would lose in each of these indices.

    Every job that updates documents asks this first; a backfill does so within the whole examination.
    """
    found = list[Finding]()
    for index in indices:
        found += check_source((yield from index_facts(Due(index, 0, 0))))
    return accepting(found, accepted)


def check_source(there: IndexFacts) -> Iterator[Finding]:
    """Check whether updates lose anything."""
    found = list(_losses(there))
    whole = Finding("source", "ok", f"The index {there.name!r} keeps documents whole.", index=there.name)
    yield from found or [whole]


def _losses(there: IndexFacts) -> Iterator[Finding]:
    kept: Json = there.mapping.get("_source") or {}
    mode = kept.get("mode") or there.settings.get("index.mapping.source.mode") or ""
    name = there.name
    if is_false(kept.get("enabled")) or mode == "disabled":
        yield Finding(
            "source-disabled",
            "stop",
            f"The index {name!r} keeps no _source, so its documents can neither be read nor updated.",
            "Index the documents again from their origin, into an index that keeps it.",
            name,
        )
        return
    filters = [f"{kind} {', '.join(kept[kind])}" for kind in ("includes", "excludes") if kept.get(kind)]
    if filters:
        yield Finding(
            "source-excludes",
            "stop",
            f"The _source of the index {name!r} leaves fields out ({'; '.join(filters)}): each update rebuilds the "
            "document without them, so they can no longer be searched.",
            "Index the documents again from their origin, with their fields (load); or accept the loss.",
            name,
        )
    if mode == "synthetic" or (not mode and there.settings.get("index.mode") in ("logsdb", "time_series")):
        yield Finding(
            "source-synthetic",
            "warning",
            f"The _source of the index {name!r} may be rebuilt from the index (synthetic): a document that is "
            "updated is written as it then looks, with sorted arrays, say.",
            "Accept it if the order and the form of values do not matter.",
            name,
        )
