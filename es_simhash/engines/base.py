"""Engines: the two protocols, and how plans run on them.

A new engine implements one of the protocols and passes the suites in `tests/conformance`.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from es_simhash._core.batches import MOMENT, Stop, StoppedError, in_a_moment
from es_simhash.plans.operations import Operation, Plan, Wait

if TYPE_CHECKING:
    import asyncio

Result = TypeVar("Result")
Step = TypeVar("Step")


class Engine(Protocol):
    """A synchronous engine."""

    def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation; raise an `EngineError` if it fails."""
        ...

    def close(self) -> None:
        """Finish pending work, and close the files and connections that the engine opened itself."""
        ...


class AsyncEngine(Protocol):
    """An asynchronous engine."""

    async def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation; raise an `EngineError` if it fails."""
        ...

    async def close(self) -> None:
        """Finish pending work, and close the files and connections that the engine opened itself."""
        ...


class FromThread:
    """An asynchronous engine made synchronous, for threads other than that of its event loop."""

    def __init__(self, engine: AsyncEngine, loop: asyncio.AbstractEventLoop) -> None:
        self._engine = engine
        self._loop = loop

    def begin(self, operation: Operation[Result]) -> Future[Result]:
        """Submit one operation to the event loop; the future can be cancelled."""
        import asyncio  # takes synchronous programs a tenth of their start

        return asyncio.run_coroutine_threadsafe(self._engine.perform(operation), self._loop)

    def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation."""
        return self.begin(operation).result()

    def close(self) -> None:
        """Leave the engine open."""


class StoppableEngine:
    """An engine for the threads of one job: once stopped, it starts nothing and waits for nothing."""

    def __init__(self, engine: Engine, stop: Stop | None = None) -> None:
        self._engine = engine
        self.stop = stop or Stop()

    def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation."""
        if isinstance(self._engine, FromThread):
            return self.stop.result(self._engine.begin(operation))
        self.stop.check()
        return self._engine.perform(operation)

    def close(self) -> None:
        """Leave the engine open."""

    @contextmanager
    def stopped_by_errors(self) -> Iterator[None]:
        """Stop all threads on an error or interruption inside the block; each raises the first one."""
        try:
            yield
        except StoppedError as stopped:
            reason = self.stop.reason or stopped
            raise reason from reason.__cause__
        except BaseException as error:
            self.stop.set(error)
            raise

    def leave(self, plan: Plan[Any], seconds: float = MOMENT) -> bool:
        """Clean up, even after a stop; return whether that took at most ``seconds``."""
        return leave(plan, self._engine, seconds)


def leave(plan: Plan[Any], engine: Engine, seconds: float = MOMENT) -> bool:
    """Clean up after an error or interruption; return whether that took at most ``seconds``."""
    return in_a_moment(partial(run, plan, engine), seconds)


def run(plan: Plan[Result], engine: Engine) -> Result:
    """Run a plan on an engine, and return its result."""
    sleep = engine.stop.sleep if isinstance(engine, StoppableEngine) else time.sleep

    def do(operation: Operation[Any]) -> Any:
        return sleep(operation.seconds) if isinstance(operation, Wait) else engine.perform(operation)

    return driven(plan, do)


async def run_async(plan: Plan[Result], engine: AsyncEngine) -> Result:
    """Run a plan on an asynchronous engine, and return its result."""

    async def do(operation: Operation[Any]) -> Any:
        if not isinstance(operation, Wait):
            return await engine.perform(operation)
        import asyncio

        return await asyncio.sleep(operation.seconds)

    return await driven_async(plan, do)


def driven(steps: Generator[Step, Any, Result], do: Callable[[Step], Any]) -> Result:
    """Do each step, send its result to what yields the steps, or raise its error there; return the last result."""
    reply: Any = None
    send = steps.send
    while True:
        try:
            step = send(reply)
        except StopIteration as end:
            result: Result = end.value
            return result
        try:
            reply, send = do(step), steps.send
        except Exception as error:
            reply, send = error, steps.throw


async def driven_async(steps: Generator[Step, Any, Result], do: Callable[[Step], Awaitable[Any]]) -> Result:
    """Do each step, as `driven`, asynchronously."""
    reply: Any = None
    send = steps.send
    while True:
        try:
            step = send(reply)
        except StopIteration as end:
            result: Result = end.value
            return result
        try:
            reply, send = await do(step), steps.send
        except Exception as error:
            reply, send = error, steps.throw
