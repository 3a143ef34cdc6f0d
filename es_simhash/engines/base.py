"""What every engine can do: carry out operations, and be closed.

A new engine implements one of the two protocols and passes the conformance suite in `es_simhash.testing`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar

from es_simhash._core.prefetch import MOMENT, Stop, StoppedError, in_a_moment
from es_simhash.plans.operations import Operation, Plan, Wait

Result = TypeVar("Result")


class Engine(Protocol):
    """An engine that answers at once."""

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out one operation; what cannot be done raises an `EngineError`."""
        ...

    def close(self) -> None:
        """Finish what is under way and let go of files and connections that the engine opened itself."""
        ...


class AsyncEngine(Protocol):
    """An engine whose answers are awaited."""

    async def perform(self, operation: Operation[Result]) -> Result:
        """Carry out one operation; what cannot be done raises an `EngineError`."""
        ...

    async def close(self) -> None:
        """Finish what is under way and let go of files and connections that the engine opened itself."""
        ...


class FromThread:
    """An asynchronous engine as one that answers at once, for threads beside that of its event loop."""

    def __init__(self, engine: AsyncEngine, loop: asyncio.AbstractEventLoop) -> None:
        self._engine = engine
        self._loop = loop

    def begin(self, operation: Operation[Result]) -> Future[Result]:
        """Let the event loop carry out one operation, which whoever waits for it can cancel."""
        return asyncio.run_coroutine_threadsafe(self._engine.perform(operation), self._loop)

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out one operation."""
        return self.begin(operation).result()

    def close(self) -> None:
        """Leave the engine open."""


class StoppableEngine:
    """An engine for the threads of one piece of work: once that is stopped, it begins nothing and waits for nothing."""

    def __init__(self, engine: Engine, stop: Stop | None = None) -> None:
        self._engine = engine
        self.stop = stop or Stop()

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out one operation."""
        if isinstance(self._engine, FromThread):
            return self.stop.result(self._engine.begin(operation))
        self.stop.check()
        return self._engine.perform(operation)

    def close(self) -> None:
        """Leave the engine open."""

    @contextmanager
    def stopped_by_errors(self) -> Iterator[None]:
        """Within it, an error or an interruption ends the work of all threads; the first is raised in each."""
        try:
            yield
        except StoppedError as stopped:
            reason = self.stop.reason or stopped
            raise reason from reason.__cause__
        except BaseException as error:
            self.stop.set(error)
            raise

    def leave(self, plan: Plan[Any], seconds: float = MOMENT) -> bool:
        """Tidy up, also where the work was stopped; return whether it was done in so many seconds."""
        return leave(plan, self._engine, seconds)


def leave(plan: Plan[Any], engine: Engine, seconds: float = MOMENT) -> bool:
    """Tidy up after an error or an interruption; return whether it was done in so many seconds."""
    return in_a_moment(partial(run, plan, engine), seconds)


def run(plan: Plan[Result], engine: Engine) -> Result:
    """What a plan comes to on an engine."""
    sleep = engine.stop.sleep if isinstance(engine, StoppableEngine) else time.sleep
    reply: Any = None
    send = plan.send
    while True:
        try:
            operation = send(reply)
        except StopIteration as end:
            result: Result = end.value
            return result
        try:
            reply, send = None, plan.send
            if isinstance(operation, Wait):
                sleep(operation.seconds)
            else:
                reply = engine.perform(operation)
        except Exception as error:
            reply, send = error, plan.throw


async def run_async(plan: Plan[Result], engine: AsyncEngine) -> Result:
    """What a plan comes to on an asynchronous engine."""
    reply: Any = None
    send = plan.send
    while True:
        try:
            operation = send(reply)
        except StopIteration as end:
            result: Result = end.value
            return result
        try:
            reply, send = None, plan.send
            if isinstance(operation, Wait):
                await asyncio.sleep(operation.seconds)
            else:
                reply = await engine.perform(operation)
        except Exception as error:
            reply, send = error, plan.throw
