"""Sending actions until an engine has taken or refused each: full queues are waited for, too large requests split."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from itertools import islice
from typing import TypeAlias

from es_simhash.errors import EngineError, TooLargeError, UnavailableError, UnreachableError
from es_simhash.plans.operations import Action, ActionResult, Bulk, Plan, Wait
from es_simhash.plans.retry import retry_delays

_MOST_ACTIONS, _MOST_LENGTH = 500, 4 << 20
_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
# What an engine answers to an action that was done already, by an attempt whose reply was lost.
_DONE_BEFORE = (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND)

# Takes the places of some actions among all, and what became of each.
Take: TypeAlias = Callable[[Sequence[int], Sequence[ActionResult]], object]


@dataclass
class RequestSize:
    """How much is sent at once, adapted to what the engine takes: half after a refusal, and slowly more again."""

    actions: int = _MOST_ACTIONS

    def ease(self) -> None:
        """Send half as much."""
        self.actions = max(1, self.actions // 2)

    def press(self) -> None:
        """Send a little more, up to what is useful."""
        self.actions = min(_MOST_ACTIONS, self.actions + max(1, self.actions // 10))


def send(bulk: Bulk, take: Take, pressure: RequestSize, patience: float) -> Plan[int]:
    """Send actions until the engine has taken or refused each; return how often it refused some for now.

    ``take`` is called after each request with what became of its actions. What is refused again and again for
    ``patience`` seconds is refused for good; but an engine that takes no request at all for so long raises.
    """
    sending, waits = _Sending(bulk, take), retry_delays(patience)
    while sending.waiting:
        problem = yield from sending.request(pressure.actions)
        if problem is None:
            pressure.press()
            waits = retry_delays(patience)
        elif isinstance(problem, TooLargeError):
            pressure.ease()
        elif (delay := next(waits, None)) is None:
            sending.give_up(problem)
        else:
            if isinstance(problem, UnavailableError):
                pressure.ease()
            yield Wait(delay)
    return sending.refusals


@dataclass
class _Sending:
    """Actions on their way: the places of those still ``waiting``, and how many ``refusals`` there were.

    Actions on one document are done in their order: ``after`` has the place of the one that each has to wait for.
    """

    bulk: Bulk
    take: Take
    waiting: list[int] = field(init=False)
    after: dict[int, int] = field(init=False)
    refusals: int = 0
    _is_answered: bool = False
    _unsure: set[int] = field(default_factory=set)
    _settled: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.waiting = list(range(len(self.bulk.actions)))
        self.after = dict(_on_one_document(self.bulk))

    def request(self, most: int) -> Plan[EngineError | None]:
        """Send the first of those that wait; return why some of them must wait on."""
        batch = self._batch(most)
        request = replace(self.bulk, actions=[self.bulk.actions[place] for place in batch])
        # What is refused goes to the end, so that what is never taken, being too large for the engine, does not hold
        # up the rest.
        chosen = set(batch)
        self.waiting = [place for place in self.waiting if place not in chosen]
        try:
            results = yield request
        except TooLargeError as error:
            return self._too_large(batch, error)
        except UnavailableError as error:
            self.refusals += len(batch)
            self.waiting += batch
            return error
        except UnreachableError as error:
            if any(map(_adds_each_time, request.actions)):
                raise
            self._unsure.update(batch)
            self.waiting += batch
            return error
        return self._answered(batch, results)

    def give_up(self, problem: EngineError) -> None:
        """Settle what waits as refused, unless the engine is away, or takes nothing at all."""
        if isinstance(problem, UnreachableError) or not self._is_answered:
            raise problem
        reason = f"the engine is overloaded, and refused this again and again: {problem}"
        self._settle(
            self.waiting, [self._refusal(place, HTTPStatus.TOO_MANY_REQUESTS, reason) for place in self.waiting]
        )
        self.waiting = []

    def _batch(self, most: int) -> list[int]:
        """The first of those that wait: so many, and no more than a request should hold."""
        batch: list[int] = []
        length = 0
        for place in islice(filter(self._is_next, self.waiting), most):
            length += len(str(self.bulk.actions[place].body))
            if batch and length > _MOST_LENGTH:
                break
            batch.append(place)
        return batch

    def _is_next(self, place: int) -> bool:
        """Whether no earlier action on the same document waits, which would undo this one if it came later."""
        return place not in self.after or self.after[place] in self._settled

    def _settle(self, places: Sequence[int], results: Sequence[ActionResult]) -> None:
        self._settled.update(places)
        self.take(places, results)

    def _too_large(self, batch: list[int], error: TooLargeError) -> EngineError | None:
        """Let several wait for smaller requests; one alone is refused."""
        if len(batch) > 1:
            self.waiting += batch
            return error
        reason = f"too large, even alone: {error}"
        self._settle(batch, [self._refusal(batch[0], HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)])
        return None

    def _answered(self, batch: list[int], results: Sequence[ActionResult]) -> EngineError | None:
        """Settle all but what is refused for now."""
        self._is_answered = True
        places, settled, busy = [], [], ""
        for place, result in zip(batch, results, strict=True):
            if result.error and result.status in _BUSY and not result.index_error:
                self.refusals += 1
                self.waiting.append(place)
                busy = result.error
            else:
                places.append(place)
                settled.append(self._with_doubt(place, result))
        if places:
            self._settle(places, settled)
        return UnavailableError(busy) if busy else None

    def _with_doubt(self, place: int, result: ActionResult) -> ActionResult:
        """The result, saying so where an earlier attempt may have done what is refused now."""
        if place not in self._unsure or result.error is None or result.status not in _DONE_BEFORE:
            return result
        doubt = "The reply to an earlier attempt was lost, which may have done it: look at the document."
        return replace(result, error=f"{result.error} {doubt}")

    def _refusal(self, place: int, status: int, reason: str) -> ActionResult:
        return ActionResult(self.bulk.actions[place].id or "", status, reason)


def _on_one_document(bulk: Bulk) -> Iterator[tuple[int, int]]:
    """The place of each action on a document that an earlier one is on, and the place of that."""
    last: dict[tuple[str, str], int] = {}
    for place, action in enumerate(bulk.actions):
        if action.id is not None:
            key = (action.index or bulk.index, action.id)
            if key in last:
                yield place, last[key]
            last[key] = place


def _adds_each_time(action: Action) -> bool:
    """Whether doing it twice comes to something else: another document, or another run of a script."""
    is_scripted = action.op_type == "update" and "script" in (action.body or {})
    return action.id is None or (is_scripted and "if_seq_no" not in (action.metadata or {}))
