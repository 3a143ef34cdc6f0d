"""Writing updates to a live index; documents that others have changed in the meantime are read again."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from threading import Lock
from typing import Protocol, TypeAlias

from es_simhash._core.json_codec import Json
from es_simhash.documents.rejected import Rejected
from es_simhash.live.sweep.reading import DocumentRef
from es_simhash.plans.bulk import RequestSize, send
from es_simhash.plans.operation_retry import retry_delays
from es_simhash.plans.operations import Action, ActionResult, Bulk, Plan, Wait
from es_simhash.plans.reply_size import documents_by_id

# How often a document is read again if others keep changing it before it is written.
_ROUNDS = 10


@dataclass
class Outcome:
    """The results for some documents: ``written``, ``current``, ``gone`` or rejected; and what was met on the way.

    ``missing`` lists the gone ones that were noticed by writing them. Of the written ones, ``resent`` were done by a
    request whose reply was lost: sent again, they met their own change.
    """

    written: int = 0
    current: int = 0
    gone: int = 0
    conflicts: int = 0
    resent: int = 0
    refusals: int = 0
    characters: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    unfit: list[Rejected] = field(default_factory=list)
    missing: list[DocumentRef] = field(default_factory=list)

    def add(self, prepared: Prepared) -> None:
        """Count the documents that need no writing."""
        self.current += prepared.current
        self.gone += prepared.gone
        self.rejected += prepared.rejected
        self.unfit += prepared.unfit


def write(work: Settling, prepared: Prepared, pressure: RequestSize, patience: float) -> Plan[Outcome]:
    """Write the updates of some documents until each is done or rejected."""
    outcome = Outcome(characters=prepared.characters)
    outcome.add(prepared)
    updates, waits = prepared.updates, retry_delays(patience)
    for _ in range(_ROUNDS):
        refused = yield from _send_all(updates, outcome, pressure, patience)
        updates = []
        for conflicts, may_be_done in ((refused.conflicts, False), (refused.doubtful, True)):
            if conflicts:
                again = yield from work.settle(conflicts, patience)
                # What a lost request of ours has done is as it would be done now.
                done = again.current if may_be_done else 0
                outcome.add(replace(again, current=again.current - done))
                outcome.written += done
                outcome.resent += done
                outcome.conflicts += len(conflicts) - done
                updates += again.updates
        if not updates:
            return outcome
        yield Wait(next(waits, 0.0))
    reason = "is changed by others again and again. Try later."
    outcome.rejected += [ref.rejected(reason, may_pass=True) for ref, _ in updates]
    return outcome


@dataclass
class _Refused:
    """The updates in ``conflicts`` with changes of others, and ``doubtful`` ones, maybe in conflict with themselves."""

    conflicts: list[Update] = field(default_factory=list)
    doubtful: list[Update] = field(default_factory=list)


def _send_all(updates: Sequence[Update], outcome: Outcome, pressure: RequestSize, patience: float) -> Plan[_Refused]:
    """Send updates until the engine has answered each; return those of documents that have changed."""
    refused = _Refused()
    if updates:
        actions = [action for _, action in updates]
        take = partial(_sort, updates, outcome, refused)
        outcome.refusals += yield from send(Bulk(str(actions[0].index), actions), take, pressure, patience)
    return refused


def _sort(
    updates: Sequence[Update],
    outcome: Outcome,
    refused: _Refused,
    positions: Sequence[int],
    results: Sequence[ActionResult],
) -> None:
    """Count the results of the updates at some positions; raise an error that would stop every document."""
    for (ref, action), result in zip((updates[i] for i in positions), results, strict=True):
        if result.error is None:
            outcome.written += 1
        elif result.index_error:
            raise result.index_error
        elif result.status == HTTPStatus.CONFLICT:
            (refused.doubtful if result.may_be_done else refused.conflicts).append((ref, action))
        elif result.status == HTTPStatus.NOT_FOUND:
            outcome.gone += 1
            outcome.missing.append(ref)
        else:
            outcome.rejected.append(ref.rejected(f"was refused: {result.error}", may_pass=result.may_pass))


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


class Pace:
    """A limit of documents a second for all threads together."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._next = time.monotonic()
        self._lock = Lock()

    def turn(self, documents: int) -> Plan[None]:
        """Wait until this number of documents may be written."""
        if self._limit is None or not documents:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(self._next, now)
            self._next = turn + documents / self._limit
        yield Wait(turn - now)
