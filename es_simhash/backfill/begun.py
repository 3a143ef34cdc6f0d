"""Runs that were begun: what an index was like before the first of them, noted in its mapping until one has ended.

A run that is killed tells nobody what it has seen. The next one needs to know whether others have changed texts since
then, after their fingerprints were made: so it does if more was changed than there are fingerprints more.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass

from es_simhash.backfill.notes import note, note_where_allowed, noted
from es_simhash.documents import Documents
from es_simhash.errors import AccessError, IndexStateError
from es_simhash.fields import Json
from es_simhash.operations import Count, Plan, Refresh


@dataclass(frozen=True)
class Begun:
    """Before the first run by a scheme: the number of each shard's last change, and how many had a fingerprint."""

    scheme: str
    changes: list[int]
    fingerprints: int


def begun(mapping: Json, documents: Documents) -> Begun | None:
    """The beginning of runs that have not ended; None if there were none."""
    found = noted(mapping, _name(documents))
    return Begun(**found) if found and found["scheme"] == documents.scheme.id else None


def begin(index: str, documents: Documents, changes: list[int]) -> Plan[Begun]:
    """Note that a run begins; a login that may not change the mapping does without."""
    beginning = Begun(documents.scheme.id, changes, (yield from fingerprints(index, documents)))
    yield from note_where_allowed(index, _name(documents), asdict(beginning))
    return beginning


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
