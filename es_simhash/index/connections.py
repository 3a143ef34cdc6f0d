"""The connections of an `Index` and an `AsyncIndex`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from threading import Lock
from typing import Any, TypeVar

from es_simhash._core.batches import Stop
from es_simhash._core.urls import is_url
from es_simhash.engines.base import AsyncEngine, Engine, FromThread, leave, run, run_async
from es_simhash.engines.connect import Target, connect, connect_async, place_of
from es_simhash.errors import EngineError
from es_simhash.plans.operations import Plan

Result = TypeVar("Result")


class Connection:
    """The engine for a target, connected to at once; what was opened here is closed here."""

    def __init__(self, target: Target) -> None:
        self._engine = connect(target)
        self._is_own = self._engine is not target
        self._target = target

    def __str__(self) -> str:
        """Write where the engine is."""
        return place_of(self._target)

    def engine(self) -> Engine:
        """Return the engine."""
        return self._engine

    def run(self, plan: Plan[Result]) -> Result:
        """Run a plan, and return its result."""
        return run(plan, self._engine)

    def work(self, job: Callable[[Engine, Stop | None], Result]) -> Result:
        """Run a long job."""
        return job(self._engine, None)

    def clean_up(self, plan: Plan[Any], error: BaseException) -> None:
        """Run a plan after an error, or for a moment after an interruption."""
        if not isinstance(error, Exception):
            leave(plan, self._engine)
            return
        with suppress(EngineError):
            run(plan, self._engine)

    def close(self) -> None:
        """Close what was opened here."""
        if self._is_own:
            self._engine.close()


class AsyncConnection:
    """The engine for a target.

    The client of a URL belongs to an event loop, so each loop has one of its own. All other engines serve every loop.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._clients: dict[asyncio.AbstractEventLoop, asyncio.Task[AsyncEngine]] = {}
        self._shared: AsyncEngine | None = None
        self._connecting = Lock()

    def __str__(self) -> str:
        """Write where the engine is."""
        return place_of(self._target)

    async def engine(self) -> AsyncEngine:
        """Return the engine, and connect to it the first time; if that fails, the next call tries again.

        Of several tasks that wait for it, each can be cancelled.
        """
        if not (isinstance(self._target, str) and is_url(self._target)):
            with self._connecting:
                if self._shared is None:
                    # Nothing is awaited in it.
                    self._shared = await connect_async(self._target)
            return self._shared
        loop = asyncio.get_running_loop()
        if (client := self._clients.get(loop)) is None:
            client = self._clients[loop] = loop.create_task(connect_async(self._target))
            client.add_done_callback(self._forget_if_failed)
        return await asyncio.shield(client)

    async def run(self, plan: Plan[Result]) -> Result:
        """Run a plan, and return its result."""
        return await run_async(plan, await self.engine())

    async def work(self, job: Callable[[Engine, Stop | None], Result]) -> Result:
        """Run a long job in a thread, and end it if the task is cancelled."""
        engine, stop = FromThread(await self.engine(), asyncio.get_running_loop()), Stop()
        working = asyncio.ensure_future(asyncio.to_thread(job, engine, stop))
        try:
            await asyncio.wait([working])
        except BaseException:
            stop.set()
            await asyncio.wait([working])
            # Unless somebody asks for the exception, asyncio logs it.
            if working.exception() is None and isinstance(done := working.result(), AbstractContextManager):
                done.__exit__(None, None, None)
            raise
        return await working

    async def clean_up(self, plan: Plan[Any], error: BaseException) -> None:
        """Run a plan after an error; a cancelled task awaits nothing more."""
        if isinstance(error, Exception):
            with suppress(EngineError):
                await self.run(plan)

    async def close(self) -> None:
        """Close what was opened here; a loop that has ended has left nothing to close."""
        shared, self._shared = self._shared, None
        clients, self._clients = self._clients, {}
        if shared is not None and shared is not self._target:
            await shared.close()
        here = asyncio.get_running_loop()
        for loop, client in clients.items():
            if loop is here:
                await _close(client)
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_close(client), loop))

    def _forget_if_failed(self, client: asyncio.Task[AsyncEngine]) -> None:
        # Asking for the exception also keeps asyncio from logging it where all who waited were cancelled.
        if client.cancelled() or client.exception():
            self._clients = {loop: each for loop, each in self._clients.items() if each is not client}


async def _close(client: asyncio.Task[AsyncEngine]) -> None:
    """Close a client, also one that is being made for tasks which were cancelled."""
    client.cancel()
    await asyncio.wait([client])
    if not client.cancelled() and not client.exception():
        await client.result().close()
