"""The work of a sweep, as runners see it: the updates it prepares for the documents that are read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.documents.rejected import Rejected
from es_simhash.live.sweep.document_ref import DocumentRef
from es_simhash.plans.operations import Action, Plan
from es_simhash.plans.reply_size import documents_by_id

# A document, and the action that changes it.
Update: TypeAlias = tuple[DocumentRef, Action]


@dataclass
class Prepared:
    """The ``updates`` of some documents, and the counts of those that need none.

    Those are ``current``, already ``gone``, or ``rejected``. ``unfit`` documents are written, without a fingerprint.
    """

    updates: list[Update] = field(default_factory=list)
    current: int = 0
    gone: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    unfit: list[Rejected] = field(default_factory=list)
    characters: int = 0


class Settling(Protocol):
    """Work that knows what to do about documents changed by others."""

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        """Prepare new updates for documents with a newer version."""
        ...


class Work(Settling, Protocol):
    """Work on all documents of an index."""

    @property
    def source(self) -> Sequence[str] | bool:
        """The parts of documents to read: paths, or True for all of them."""
        ...

    def prepare(self, hits: Sequence[Json]) -> Prepared:
        """Prepare the updates of the documents of hits."""
        ...


def settle_by_reading_again(work: Work, updates: Sequence[Update], patience: float) -> Plan[Prepared]:
    """Read documents that others have changed again, and prepare new updates."""
    by_index: dict[str, list[Update]] = defaultdict(list)
    for ref, action in updates:
        by_index[ref.index].append((ref, action))
    hits = []
    for index, some in by_index.items():
        replies = yield from read_again(index, some, work.source, patience)
        hits += [reply for reply in replies if reply["found"]]
    prepared = work.prepare(hits)
    prepared.gone += len(updates) - len(hits)
    return prepared


def read_again(
    index: str, updates: Sequence[Update], source: Sequence[str] | bool, patience: float
) -> Plan[list[Json]]:
    """Read the documents of updates from an index."""
    ids, routings = [ref.id for ref, _ in updates], [ref.routing for ref, _ in updates]
    paths = None if isinstance(source, bool) else source
    return (yield from documents_by_id(index, ids, paths, routings, patience=patience))
