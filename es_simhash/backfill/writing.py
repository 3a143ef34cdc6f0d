"""Writing updates to a live index: conflicts are read again, full queues waited for, too large requests split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from es_simhash.backfill.found import Found, Prepared, Undone, prepare, sources
from es_simhash.backfill.patience import delays, patiently
from es_simhash.documents import Documents
from es_simhash.errors import TooLargeError
from es_simhash.operations import Action, ActionResult, Bulk, GetDocuments, Plan, Wait

_MOST_ACTIONS, _MOST_LENGTH = 500, 4 << 20
# How often a document is read again that somebody else changes each time before it can be written.
_ROUNDS = 10
_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


@dataclass
class Pressure:
    """How much is sent at once, adapted to what the engine takes: half after a refusal, and slowly more again."""

    actions: int = _MOST_ACTIONS

    def ease(self) -> None:
        """Send half as much."""
        self.actions = max(1, self.actions // 2)

    def press(self) -> None:
        """Send a little more, up to what is useful."""
        self.actions = min(_MOST_ACTIONS, self.actions + max(1, self.actions // 10))


@dataclass
class Outcome:
    """What became of documents: ``written``, found ``current``, ``gone`` meanwhile, or rejected; and what was met."""

    written: int = 0
    current: int = 0
    gone: int = 0
    conflicts: int = 0
    refusals: int = 0
    characters: int = 0
    rejected: list[Undone] = field(default_factory=list)

    @property
    def done(self) -> int:
        """How many documents need no more."""
        return self.written + self.current + self.gone + len(self.rejected)


def write(documents: Documents, prepared: Prepared, pressure: Pressure, patience: float) -> Plan[Outcome]:
    """Carry out the updates of some documents, until each is done or rejected."""
    outcome = Outcome(current=prepared.current, characters=prepared.characters, rejected=list(prepared.rejected))
    updates, waits = prepared.updates, delays(patience)
    for _ in range(_ROUNDS):
        conflicts = yield from _send_all(updates, outcome, pressure, patience)
        if not conflicts:
            return outcome
        outcome.conflicts += len(conflicts)
        again = yield from _read_again(documents, conflicts, outcome, patience)
        outcome.current += again.current
        outcome.rejected += again.rejected
        updates = again.updates
        if updates:
            yield Wait(next(waits, 0.0))
    outcome.rejected += [found.undone("is changed by others again and again. Try later.") for found, _ in updates]
    return outcome


def _send_all(
    updates: Sequence[tuple[Found, Action]], outcome: Outcome, pressure: Pressure, patience: float
) -> Plan[list[Found]]:
    """Send updates until the engine has taken or refused each; the result is those in conflict with others' changes."""
    waiting, conflicts, waits = list(updates), list[Found](), delays(patience)
    while waiting:
        batch = _batch(waiting, pressure.actions)
        try:
            results = yield from patiently(Bulk(batch[0][0].index, [action for _, action in batch]), patience)
        except TooLargeError as error:
            if len(batch) > 1:
                pressure.ease()
                continue
            waiting = waiting[1:]
            outcome.rejected.append(batch[0][0].undone(f"cannot be sent: {error}"))
            continue
        refused = _sort(batch, results, outcome, conflicts)
        waiting = refused + waiting[len(batch) :]
        if not refused:
            pressure.press()
            waits = delays(patience)
            continue
        pressure.ease()
        outcome.refusals += len(refused)
        if (delay := next(waits, None)) is None:
            outcome.rejected += [
                found.undone("was refused again and again: the engine is overloaded.") for found, _ in waiting
            ]
            break
        yield Wait(delay)
    return conflicts


def _batch(waiting: Sequence[tuple[Found, Action]], most: int) -> list[tuple[Found, Action]]:
    """The first of those that wait: so many, and no more than a request should hold."""
    batch: list[tuple[Found, Action]] = []
    length = 0
    for found, action in waiting[:most]:
        length += len(str(action.body))
        if batch and length > _MOST_LENGTH:
            break
        batch.append((found, action))
    return batch


def _sort(
    batch: Sequence[tuple[Found, Action]], results: Sequence[ActionResult], outcome: Outcome, conflicts: list[Found]
) -> list[tuple[Found, Action]]:
    """Count what was done; the result is what was refused for now. What no document could pass is raised."""
    refused = []
    for (found, action), result in zip(batch, results, strict=True):
        if result.error is None:
            outcome.written += 1
        elif result.index_error:
            raise result.index_error
        elif result.status == HTTPStatus.CONFLICT:
            conflicts.append(found)
        elif result.status == HTTPStatus.NOT_FOUND:
            outcome.gone += 1
        elif result.status in _BUSY:
            refused.append((found, action))
        else:
            outcome.rejected.append(found.undone(f"was refused: {result.error}"))
    return refused


def _read_again(documents: Documents, conflicts: Sequence[Found], outcome: Outcome, patience: float) -> Plan[Prepared]:
    """The documents as they are now, fingerprinted anew; those that are gone are counted."""
    by_index: dict[str, list[Found]] = defaultdict(list)
    for found in conflicts:
        by_index[found.index].append(found)
    hits = []
    for index, those in by_index.items():
        ids, routings = [found.id for found in those], [found.routing for found in those]
        replies = yield from patiently(GetDocuments(index, ids, sources(documents), routings), patience)
        hits += [reply for reply in replies if reply["found"]]
    outcome.gone += len(conflicts) - len(hits)
    return prepare(documents, hits)
