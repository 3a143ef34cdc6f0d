"""What every engine can do: carry out operations, and be closed.

A new engine implements one of the two protocols and passes the conformance suite in `es_simhash.testing`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from es_simhash.operations import Operation, Plan, Wait

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

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out one operation."""
        return asyncio.run_coroutine_threadsafe(self._engine.perform(operation), self._loop).result()

    def close(self) -> None:
        """Leave the engine open."""


def run(plan: Plan[Result], engine: Engine, sleep: Callable[[float], object] | None = None) -> Result:
    """What a plan comes to on an engine; ``sleep`` lets time go by where the plan waits."""
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
                (sleep or time.sleep)(operation.seconds)
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
