"""Notes of runs that have begun: the state of an index before the first, kept in its mapping until one has ended.

A run that is killed cannot report what it has seen. The next one must know whether others have changed texts since they
were fingerprinted: they have if there were more changes than new fingerprints. A run that ends while others still
change texts leaves such a note, too.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import AccessError, IndexStateError
from es_simhash.plans.mapping_notes import note, note_where_allowed, noted
from es_simhash.plans.operations import Count, Plan, Refresh


@dataclass(frozen=True)
class Begun:
    """The state that runs with a scheme have certainly seen: safe changes of each shard, number of fingerprints."""

    scheme: str
    changes: list[int]
    fingerprints: int


def begun(mapping: Json, documents: Documents) -> Begun | None:
    """Return the note of runs that have not ended, or None."""
    found = noted(mapping, _name(documents))
    return Begun(**found) if found and found["scheme"] == documents.scheme.id else None


def begin(index: str, documents: Documents, changes: list[int]) -> Plan[None]:
    """Note that all changes up to these were seen, and no later ones, if the login may change the mapping."""
    beginning = Begun(documents.scheme.id, changes, (yield from fingerprints(index, documents)))
    yield from note_where_allowed(index, _name(documents), asdict(beginning))


def end(index: str, documents: Documents) -> Plan[None]:
    """Remove the note."""
    with suppress(AccessError, IndexStateError):
        yield from note(index, _name(documents), None)


def fingerprints(index: str, documents: Documents) -> Plan[int]:
    """Count the documents with a fingerprint of the scheme."""
    yield Refresh(index)
    return (yield Count(index, {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}))


def _name(documents: Documents) -> str:
    return f"_backfill_begun_{documents.prefix}"
