"""Writing updates to a live index: conflicts are read again, full queues waited for, too large requests split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from es_simhash.backfill.found import Place, Prepared, Undone, Update
from es_simhash.backfill.patience import delays, patiently
from es_simhash.backfill.work import Settling
from es_simhash.errors import TooLargeError
from es_simhash.operations import ActionResult, Bulk, Plan, Wait

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
    """What became of documents: ``written``, found ``current``, ``gone`` meanwhile, or rejected; and what was met.

    ``missing`` has those of the gone that were found so by writing them.
    """

    written: int = 0
    current: int = 0
    gone: int = 0
    conflicts: int = 0
    refusals: int = 0
    characters: int = 0
    rejected: list[Undone] = field(default_factory=list)
    unfit: list[Undone] = field(default_factory=list)
    missing: list[Place] = field(default_factory=list)

    def add(self, prepared: Prepared) -> None:
        """Count those that need no writing."""
        self.current += prepared.current
        self.gone += prepared.gone
        self.rejected += prepared.rejected
        self.unfit += prepared.unfit


def write(work: Settling, prepared: Prepared, pressure: Pressure, patience: float) -> Plan[Outcome]:
    """Carry out the updates of some documents, until each is done or rejected."""
    outcome = Outcome(characters=prepared.characters)
    outcome.add(prepared)
    updates, waits = prepared.updates, delays(patience)
    for _ in range(_ROUNDS):
        conflicts = yield from _send_all(updates, outcome, pressure, patience)
        if not conflicts:
            return outcome
        outcome.conflicts += len(conflicts)
        again = yield from work.settle(conflicts, patience)
        outcome.add(again)
        updates = again.updates
        if updates:
            yield Wait(next(waits, 0.0))
    outcome.rejected += [place.undone("is changed by others again and again. Try later.") for place, _ in updates]
    return outcome


def _send_all(updates: Sequence[Update], outcome: Outcome, pressure: Pressure, patience: float) -> Plan[list[Update]]:
    """Send updates until the engine has taken or refused each; the result is those in conflict with others' changes."""
    waiting, conflicts, waits = list(updates), list[Update](), delays(patience)
    while waiting:
        batch = _batch(waiting, pressure.actions)
        try:
            actions = [action for _, action in batch]
            results = yield from patiently(Bulk(str(actions[0].index), actions), patience)
        except TooLargeError as error:
            if len(batch) > 1:
                pressure.ease()
                continue
            waiting = waiting[1:]
            outcome.rejected.append(batch[0][0].undone(f"cannot be sent: {error}"))
            continue
        refused = _sort(batch, results, outcome, conflicts)
        # At the end, so that one which is never taken, being too large for the engine, does not hold up the others.
        waiting = waiting[len(batch) :] + refused
        if not refused:
            pressure.press()
            waits = delays(patience)
            continue
        pressure.ease()
        outcome.refusals += len(refused)
        if (delay := next(waits, None)) is None:
            outcome.rejected += [
                place.undone("was refused again and again: the engine is overloaded.") for place, _ in waiting
            ]
            break
        yield Wait(delay)
    return conflicts


def _batch(waiting: Sequence[Update], most: int) -> list[Update]:
    """The first of those that wait: so many, and no more than a request should hold."""
    batch: list[Update] = []
    length = 0
    for place, action in waiting[:most]:
        length += len(str(action.body))
        if batch and length > _MOST_LENGTH:
            break
        batch.append((place, action))
    return batch


def _sort(
    batch: Sequence[Update], results: Sequence[ActionResult], outcome: Outcome, conflicts: list[Update]
) -> list[Update]:
    """Count what was done; the result is what was refused for now. What no document could pass is raised."""
    refused = []
    for (place, action), result in zip(batch, results, strict=True):
        if result.error is None:
            outcome.written += 1
        elif result.index_error:
            raise result.index_error
        elif result.status == HTTPStatus.CONFLICT:
            conflicts.append((place, action))
        elif result.status == HTTPStatus.NOT_FOUND:
            outcome.gone += 1
            outcome.missing.append(place)
        elif result.status in _BUSY:
            refused.append((place, action))
        else:
            outcome.rejected.append(place.undone(f"was refused: {result.error}"))
    return refused
