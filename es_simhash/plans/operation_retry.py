"""Operations that may fail: retried while an engine is away or overloaded, or attempted where it may refuse."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from es_simhash.errors import EngineError, UnavailableError, UnreachableError
from es_simhash.plans.operations import CloseReader, Operation, Plan, Reader, Wait

Result = TypeVar("Result")

_FIRST, _LONGEST = 0.5, 30.0


def retry_delays(patience: float) -> Iterator[float]:
    """Yield the seconds to wait before each further attempt, about ``patience`` in total.

    They grow to half a minute with random jitter, so that many workers do not return at the same time (exponential
    backoff).
    """
    spent, ceiling = 0.0, _FIRST
    while spent < patience:
        delay = random.uniform(ceiling / 2, ceiling)
        spent += delay
        ceiling = min(2 * ceiling, _LONGEST)
        yield delay


def retry(operation: Operation[Result], patience: float) -> Plan[Result]:
    """Return the result of an operation, retried for up to ``patience`` seconds while the engine cannot perform it."""
    return (yield from retry_all(lambda: _performed(operation), patience))


def _performed(operation: Operation[Result]) -> Plan[Result]:
    result: Result = yield operation
    return result


def retry_all(begin: Callable[[], Plan[Result]], patience: float) -> Plan[Result]:
    """Return the result of a plan, begun again for up to ``patience`` seconds while the engine cannot perform it."""
    waits = retry_delays(patience)
    while True:
        try:
            return (yield from begin())
        except (UnreachableError, UnavailableError):
            if (delay := next(waits, None)) is None:
                raise
        yield Wait(delay)


def retry_each(plan: Plan[Result], patience: float) -> Plan[Result]:
    """Return the result of a plan whose operations are each retried for up to ``patience`` seconds.

    A plan that only looks can wait so for others to take over the shards of a node that is away.
    """
    reply: Any = None
    send = plan.send
    while True:
        try:
            operation = send(reply)
        except StopIteration as end:
            result: Result = end.value
            return result
        try:
            reply, send = (yield from retry(operation, patience)), plan.send
        except Exception as error:
            reply, send = error, plan.throw


def close(reader: Reader | None) -> Plan[None]:
    """Close a reader; an engine that is away forgets it by itself."""
    if reader:
        with suppress(EngineError):
            yield CloseReader(reader)


def attempt(step: Operation[Result] | Plan[Result]) -> Plan[Result | None]:
    """Return the result of an operation or plan; None if the engine refuses it. An engine that is away raises."""
    try:
        if isinstance(step, Operation):
            result: Result = yield step
            return result
        return (yield from step)
    except (UnreachableError, UnavailableError):
        raise
    except EngineError:
        return None
