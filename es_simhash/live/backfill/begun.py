"""Runs that were begun: what an index was like before the first of them, noted in its mapping until one has ended.

A run that is killed cannot report what it has seen. The next one needs to know whether others have changed texts since
then, after their fingerprints were made: so it does if more was changed than there are fingerprints more. A run that
ends while others still change texts leaves such a note, too.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import AccessError, IndexStateError
from es_simhash.live.sweep.notes import note, note_where_allowed, noted
from es_simhash.plans.operations import Count, Plan, Refresh


@dataclass(frozen=True)
class Begun:
    """What runs by a scheme have seen for certain: the safe changes of each shard, and how many had a fingerprint."""

    scheme: str
    changes: list[int]
    fingerprints: int


def begun(mapping: Json, documents: Documents) -> Begun | None:
    """The beginning of runs that have not ended; None if there were none."""
    found = noted(mapping, _name(documents))
    return Begun(**found) if found and found["scheme"] == documents.scheme.id else None


def begin(index: str, documents: Documents, changes: list[int]) -> Plan[None]:
    """Note that all changes up to these were seen, and what comes after them was not; a login that may not change the
    mapping does without.
    """
    beginning = Begun(documents.scheme.id, changes, (yield from fingerprints(index, documents)))
    yield from note_where_allowed(index, _name(documents), asdict(beginning))


def end(index: str, documents: Documents) -> Plan[None]:
    """Note no longer that a run was begun."""
    with suppress(AccessError, IndexStateError):
        yield from note(index, _name(documents), None)


def fingerprints(index: str, documents: Documents) -> Plan[int]:
    """How many documents have a fingerprint of the scheme."""
    yield Refresh(index)
    return (yield Count(index, {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}))


def _name(documents: Documents) -> str:
    return f"_backfill_begun_{documents.prefix}"
