"""Bulk requests: wait for full queues, split requests that are too large, until each action is done or refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from itertools import islice, repeat
from typing import Any, TypeAlias

from es_simhash._core.batches import chunks
from es_simhash._core.json_codec import Json, json_length
from es_simhash.errors import (
    EngineError,
    TooLargeError,
    UnansweredError,
    UnavailableError,
    UnreachableError,
    UnsendableError,
)
from es_simhash.plans.operations import MOST_ID_BYTES, Action, ActionResult, Bulk, Plan, Refresh, Wait, retry_delays
from es_simhash.plans.reply_size import searched

_MOST_ACTIONS, _MOST_LENGTH = 500, 4 << 20
# An engine's answers to an action that an earlier attempt, whose reply was lost, has done already.
_DONE_BEFORE = (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND)

# Takes the positions of some actions, and the result of each.
Take: TypeAlias = Callable[[Sequence[int], Sequence[ActionResult]], object]


@dataclass
class RequestSize:
    """The number of actions per request, adapted to the engine: halved after a refusal, then slowly raised again."""

    actions: int = _MOST_ACTIONS

    def shrink(self) -> None:
        """Halve the number of actions."""
        self.actions = max(1, self.actions // 2)

    def grow(self) -> None:
        """Raise the number of actions a little, up to the useful maximum."""
        self.actions = min(_MOST_ACTIONS, self.actions + max(1, self.actions // 10))


def send(bulk: Bulk, take: Take, pressure: RequestSize, patience: float) -> Plan[int]:
    """Send actions until the engine has done or refused each; return the number of temporary refusals.

    ``take`` is called after each request with the results of its actions. An action refused again and again for
    ``patience`` seconds counts as refused; an engine that accepts no request at all for that long raises.
    """
    sending, waits = _Sending(bulk, take), retry_delays(patience)
    sending.refuse_ids()
    while sending.waiting:
        problem = yield from sending.request(pressure.actions)
        if problem is None:
            pressure.grow()
            waits = retry_delays(patience)
        elif isinstance(problem, TooLargeError):
            pressure.shrink()
        elif (delay := next(waits, None)) is None:
            sending.give_up(problem)
        else:
            if isinstance(problem, UnavailableError):
                pressure.shrink()
            yield Wait(delay)
    return sending.refusals


@dataclass
class _Sending:
    """Actions being sent: the positions of those still ``waiting``, and the number of temporary ``refusals``.

    Actions on one document keep their order: ``after`` maps each to the one that it must wait for. Of some that are
    ``_unsure``, an earlier attempt may have been carried out; where the name rolls over, the ``_lost`` ones are looked
    up before they are sent again.
    """

    bulk: Bulk
    take: Take
    actions: list[Action] = field(init=False)
    waiting: list[int] = field(init=False)
    after: dict[int, int] = field(init=False)
    refusals: int = 0
    _is_answered: bool = False
    _unsure: set[int] = field(default_factory=set)
    _lost: set[int] = field(default_factory=set)
    _settled: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.actions = list(self.bulk.actions)
        self.waiting = list(range(len(self.actions)))
        self.after = dict(_on_one_document(self.bulk))

    def refuse_ids(self) -> None:
        """Refuse actions whose ids are too long: for one of them, a server refuses the whole request."""
        places = [place for place, action in enumerate(self.actions) if _is_too_long(action.id)]
        if places:
            reason = f"An id has at most {MOST_ID_BYTES} bytes of UTF-8. Shorten it."
            refused = set(places)
            self.waiting = [place for place in self.waiting if place not in refused]
            self._settle(places, [self._refusal(place, HTTPStatus.BAD_REQUEST, reason) for place in places])

    def request(self, most: int) -> Plan[EngineError | None]:
        """Send the first waiting actions; return why some of them must keep waiting."""
        batch = self._batch(most)
        if lost := self._lost.intersection(batch):
            try:
                yield from self._look_up(sorted(lost))
            except (UnreachableError, UnavailableError) as error:
                return error
            batch = [place for place in batch if place not in self._settled]
            if not batch:
                return None
        request = replace(self.bulk, actions=[self.actions[place] for place in batch])
        if len(batch) < len(self.actions):
            # That would refresh only some of the shards.
            request = replace(request, refresh=False)
        # Refused actions go to the end, so that one too large for the engine does not hold up the rest.
        chosen = set(batch)
        self.waiting = [place for place in self.waiting if place not in chosen]
        try:
            results = yield request
        except TooLargeError as error:
            return self._too_large(batch, error)
        except UnsendableError as error:
            self._unsendable(batch, error)
            return None
        except (UnreachableError, UnavailableError) as error:
            if isinstance(error, UnreachableError | UnansweredError):
                if any(map(_adds_each_time, request.actions)):
                    raise
                self._doubt(batch)
            if isinstance(error, UnavailableError):
                self.refusals += len(batch)
            self.waiting += batch
            return error
        return self._answered(batch, results)

    def give_up(self, problem: EngineError) -> None:
        """Settle the waiting actions as refused; raise if the engine is away or has accepted nothing at all."""
        if isinstance(problem, UnreachableError) or not self._is_answered:
            raise problem
        reason = f"the engine is overloaded, and refused this again and again: {problem}"
        reasons = [f"{reason} {DOUBT}" if place in self._unsure else reason for place in self.waiting]
        self._settle(
            self.waiting, list(map(self._refusal, self.waiting, repeat(HTTPStatus.TOO_MANY_REQUESTS), reasons))
        )
        self.waiting = []

    def _batch(self, most: int) -> list[int]:
        """Return the first waiting actions, up to ``most`` and to the size of a request."""
        batch: list[int] = []
        length = 0
        for place in islice(filter(self._is_next, self.waiting), most):
            length += json_length(self.actions[place].body)
            if batch and length > _MOST_LENGTH:
                break
            batch.append(place)
        return batch

    def _is_next(self, place: int) -> bool:
        """Return whether no earlier action on the same document is waiting, which would undo this one."""
        return place not in self.after or self.after[place] in self._settled

    def _doubt(self, places: Sequence[int]) -> None:
        """Note that actions may have been carried out."""
        self._unsure.update(places)
        if self.bulk.rolls:
            self._lost.update(place for place in places if self.actions[place].id is not None)

    def _look_up(self, places: Sequence[int]) -> Plan[None]:
        """Find out what became of actions; settle those that need not, or must not, be sent again."""
        found = yield from look_up(self.bulk.index, {place: self.actions[place] for place in places})
        results = {place: each for place, each in found.items() if isinstance(each, ActionResult)}
        for place, each in found.items():
            if isinstance(each, Action):
                self.actions[place] = each
        self._lost.difference_update(places)
        self.waiting = [place for place in self.waiting if place not in results]
        if results:
            self._settle(list(results), list(results.values()))

    def _settle(self, places: Sequence[int], results: Sequence[ActionResult]) -> None:
        self._settled.update(places)
        self.take(places, results)

    def _too_large(self, batch: list[int], error: TooLargeError) -> EngineError | None:
        """Split a request of several actions; refuse an action that is too large alone."""
        if len(batch) > 1:
            self.waiting += batch
            return error
        reason = f"too large, even alone: {error}"
        self._settle(batch, [self._refusal(batch[0], HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)])
        return None

    def _unsendable(self, batch: list[int], error: UnsendableError) -> None:
        """Refuse the action that cannot be encoded; nothing was sent, so the others come next."""
        assert error.position is not None
        place = batch.pop(error.position)
        self.waiting = batch + self.waiting
        self._settle([place], [self._refusal(place, HTTPStatus.BAD_REQUEST, f"The action {error.problem}")])

    def _answered(self, batch: list[int], results: Sequence[ActionResult]) -> EngineError | None:
        """Settle all actions except those refused temporarily."""
        self._is_answered = True
        places, settled, busy = [], [], ""
        for place, result in zip(batch, results, strict=True):
            if result.may_pass:
                self.refusals += 1
                self.waiting.append(place)
                busy = str(result.error)
                if result.status == HTTPStatus.SERVICE_UNAVAILABLE:
                    # A shard whose node has failed may have done it, and has not said so.
                    self._doubt([place])
            else:
                places.append(place)
                settled.append(self._with_doubt(place, result))
        if places:
            self._settle(places, settled)
        return UnavailableError(busy) if busy else None

    def _with_doubt(self, place: int, result: ActionResult) -> ActionResult:
        """Return the result, with a warning if an earlier attempt may have done what is refused now."""
        if place not in self._unsure or result.error is None or result.status not in _DONE_BEFORE:
            return result
        return replace(result, error=f"{result.error} {DOUBT}", may_be_done=True)

    def _refusal(self, place: int, status: int, reason: str) -> ActionResult:
        return ActionResult(self.actions[place].id or "", status, reason)


def _on_one_document(bulk: Bulk) -> Iterator[tuple[int, int]]:
    """Yield the position of each action on a document with an earlier action, and the position of that one."""
    last: dict[tuple[str, str], int] = {}
    for place, action in enumerate(bulk.actions):
        if action.id is not None:
            key = (action.index or bulk.index, action.id)
            if key in last:
                yield place, last[key]
            last[key] = place


def _is_too_long(id_: str | None) -> bool:
    return id_ is not None and 4 * len(id_) > MOST_ID_BYTES and len(id_.encode(errors="replace")) > MOST_ID_BYTES


def _adds_each_time(action: Action) -> bool:
    """Return whether a repeated action has another effect: a second document, or a second run of a script."""
    is_scripted = action.op_type == "update" and "script" in (action.body or {})
    return action.id is None or (is_scripted and "if_seq_no" not in (action.metadata or {}))


DOUBT = "An earlier attempt, whose reply was lost, may have done it: look at the document."


def look_up(index: str, actions: Mapping[int, Action]) -> Plan[dict[int, Action | ActionResult]]:
    """Return what may be sent of actions that are known by their places, and the results of the others.

    An engine that is away or overloaded raises.
    """
    by_name: dict[str, dict[int, Action]] = defaultdict(dict)
    for place, action in actions.items():
        by_name[action.index or index][place] = action
    found: dict[int, Action | ActionResult] = {}
    for name, some in by_name.items():
        try:
            hits = yield from hits_by_id(name, (str(action.id) for action in some.values()), None, refresh=True)
        except (UnreachableError, UnavailableError):
            raise
        except EngineError as error:
            found |= {place: _refused(action, f"{error} {DOUBT}") for place, action in some.items()}
        else:
            found |= {place: _judged(action, hits.get(str(action.id), ())) for place, action in some.items()}
    return found


def holds(there: Any, given: Any) -> bool:
    """Return whether a stored value has all that was given; a pipeline of the server may have added to it."""
    if isinstance(given, Mapping):
        return isinstance(there, Mapping) and all(
            name in there and holds(there[name], value) for name, value in given.items()
        )
    if isinstance(given, list | tuple):
        return isinstance(there, list) and len(there) == len(given) and all(map(holds, there, given))
    return bool(there == given)


def _judged(action: Action, hits: Sequence[Json]) -> Action | ActionResult:
    """Return the action as it may be sent, or its result."""
    if not hits or action.op_type == "delete":
        return action
    if action.op_type != "update" and any(holds(hit.get("_source"), action.body) for hit in hits):
        return ActionResult(str(action.id), HTTPStatus.OK)
    if len(hits) > 1 or action.op_type == "create":
        there = " and in ".join(repr(hit["_index"]) for hit in hits)
        return _refused(action, f"there is another document with this id in {there}. {DOUBT}")
    metadata = {name: value for name, value in (action.metadata or {}).items() if name != "require_alias"}
    return replace(action, index=hits[0]["_index"], metadata=metadata or None)


def _refused(action: Action, reason: str) -> ActionResult:
    return ActionResult(str(action.id), HTTPStatus.CONFLICT, reason)


# Ids at once, and indices that may have each: their product is the default of index.max_result_window.
_AT_ONCE, _EACH = 500, 20


def hits_by_id(
    index: str, ids: Iterable[str], source: Sequence[str] | None, *, refresh: bool
) -> Plan[dict[str, list[Json]]]:
    """Return the documents with these ids as hits, all of an id together, with the numbers of their last changes.

    Each has the paths ``source`` of its document, or all of it. Documents written just now are found if the index is
    made to ``refresh``.
    """
    found: dict[str, list[Json]] = defaultdict(list)
    if refresh:
        yield Refresh(index)
    for _, some in chunks(dict.fromkeys(ids), _AT_ONCE):
        hits = yield from searched(index, {"ids": {"values": some}}, _EACH * len(some), source is None or source)
        for hit in hits:
            found[hit["_id"]].append(hit)
    return dict(found)
