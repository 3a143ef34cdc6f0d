"""What is done with the documents of an index that are read: the work, which runs and their loops know nothing of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.live.sweep.found import Prepared, Update, prepare, sources
from es_simhash.plans.operations import GetDocuments, Plan
from es_simhash.plans.retry import retry


class Settling(Protocol):
    """Who knows what becomes of documents that others have changed."""

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        """What is to be written instead of updates that came upon something newer."""
        ...


class Work(Settling, Protocol):
    """What becomes of documents."""

    @property
    def source(self) -> Sequence[str] | bool:
        """The parts of documents that must be read: paths, or True for the whole."""
        ...

    def prepare(self, hits: Sequence[Json]) -> Prepared:
        """What is to be written of the documents of hits."""
        ...


@dataclass(frozen=True)
class Fingerprinting:
    """The work of a backfill: each document gets the fields of its text."""

    documents: Documents

    @property
    def source(self) -> Sequence[str]:
        """The text, and our own fields."""
        return sources(self.documents)

    def prepare(self, hits: Sequence[Json]) -> Prepared:
        """Updates of those whose fields are not those of their texts."""
        return prepare(self.documents, hits)

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        """The documents as they are now, fingerprinted anew."""
        return (yield from as_they_are_now(self, conflicts, patience))


def as_they_are_now(work: Work, updates: Sequence[Update], patience: float) -> Plan[Prepared]:
    """What is to be written of documents that have changed since they were read."""
    by_index: dict[str, list[Update]] = defaultdict(list)
    for place, action in updates:
        by_index[place.index].append((place, action))
    hits = []
    for index, those in by_index.items():
        replies = yield from retry(read_again(index, those, work.source), patience)
        hits += [reply for reply in replies if reply["found"]]
    prepared = work.prepare(hits)
    prepared.gone += len(updates) - len(hits)
    return prepared


def read_again(index: str, updates: Sequence[Update], source: Sequence[str] | bool) -> GetDocuments:
    """The documents of updates as they are in an index by now."""
    ids, routings = [place.id for place, _ in updates], [place.routing for place, _ in updates]
    return GetDocuments(index, ids, None if isinstance(source, bool) else source, routings)
