"""Running a backfill over an asynchronous engine: as `es_simhash.backfill.run`, with tasks in place of threads."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

from es_simhash.backfill.found import Prepared, prepare, sources
from es_simhash.backfill.passes import Pass, passes, settings_for
from es_simhash.backfill.progress import OnProgress, OnUndone, Pace, Progress, Teller
from es_simhash.backfill.reading import Reading
from es_simhash.backfill.scope import BackfillOptions, Part, resolve
from es_simhash.backfill.tuning import set_back
from es_simhash.backfill.writing import Outcome, Pressure, write
from es_simhash.engines.base import AsyncEngine, run_async
from es_simhash.errors import EngineError

if TYPE_CHECKING:
    from es_simhash.documents import Documents
    from es_simhash.operations import Operation, Plan, Share

Result = TypeVar("Result")


class AsyncBackfill:
    """One run over an index, or over the indices behind a name."""

    def __init__(
        self,
        engine: AsyncEngine,
        index: str,
        documents: Documents,
        parts: list[Part],
        options: BackfillOptions,
    ) -> None:
        self._engine = engine
        self._documents = documents
        self._options = options
        self._pace = Pace(options.max_rate)
        self.parts = parts
        self.progress = Progress.of(index, parts)
        self._teller = Teller(self.progress)

    @classmethod
    async def begin(
        cls,
        engine: AsyncEngine,
        index: str,
        documents: Documents,
        options: BackfillOptions | None = None,
    ) -> AsyncBackfill:
        """A run, with what is to be done already known."""
        options = options or BackfillOptions()
        parts = await run_async(resolve(index, documents, options), engine)
        return cls(engine, index, documents, parts, options)

    async def run(self, on_progress: OnProgress | None = None, on_undone: OnUndone | None = None) -> Progress:
        """Do what is to be done; the result counts it."""
        self._teller = Teller(self.progress, on_progress, on_undone)
        try:
            for part in self.parts:
                await self._run(settings_for(part, self._options))
            await run_async(passes(self.parts, self._documents, self._options, self.progress), self)
        finally:
            # If the engine is away for good, the next run does it.
            with suppress(EngineError):
                for part in self.parts:
                    await self._run(set_back(part.index))
        return self.progress

    async def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation, by the engine unless it is a pass."""
        if isinstance(operation, Pass):
            await self._pass(operation)
            return cast("Result", None)
        return await self._engine.perform(operation)

    async def close(self) -> None:
        """Leave the engine open."""

    async def _pass(self, operation: Pass) -> None:
        slices = [asyncio.ensure_future(self._slice(operation, share)) for share in self._options.shares]
        try:
            await asyncio.gather(*slices)
        finally:
            await _end(slices)

    async def _slice(self, operation: Pass, share: Share | None) -> None:
        pressure = Pressure()
        reading = Reading(operation.index, operation.query, sources(self._documents), share, self._options.patience)
        coming = asyncio.ensure_future(self._run(reading.next()))
        writing: asyncio.Future[Outcome] | None = None
        try:
            while hits := await coming:
                coming = asyncio.ensure_future(self._run(reading.next()))
                prepared = await asyncio.to_thread(prepare, self._documents, hits)
                if writing:
                    self._teller.add(await writing, operation.again)
                writing = asyncio.ensure_future(self._write(prepared, pressure))
            if writing:
                self._teller.add(await writing, operation.again)
        finally:
            await _end([coming, writing] if writing else [coming])
            await self._run(reading.close())

    async def _write(self, prepared: Prepared, pressure: Pressure) -> Outcome:
        await self._run(self._pace.turn(len(prepared.updates)))
        return await self._run(write(self._documents, prepared, pressure, self._options.patience))

    async def _run(self, plan: Plan[Result]) -> Result:
        return await run_async(plan, self._engine)


async def _end(tasks: Sequence[asyncio.Future[Any]]) -> None:
    """Stop what is still under way."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
