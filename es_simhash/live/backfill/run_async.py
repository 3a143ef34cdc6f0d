"""Running a backfill over an asynchronous engine: as `es_simhash.live.backfill.run`, with tasks in place of threads."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from es_simhash._core.prefetch import BRIEFLY
from es_simhash.documents.rejected import OnReject
from es_simhash.engines.base import AsyncEngine, leave_async, run_async
from es_simhash.errors import EngineError
from es_simhash.live.backfill.passes import Pass, passes, settings_for
from es_simhash.live.backfill.run import WRITERS
from es_simhash.live.backfill.scope import BackfillOptions, RunOptions
from es_simhash.live.backfill.survey import Survey, survey
from es_simhash.live.sweep.found import Prepared
from es_simhash.live.sweep.progress import OnProgress, Pace, Progress, Teller
from es_simhash.live.sweep.reading import Reading, close_all, common_reader
from es_simhash.live.sweep.temporary_settings import all_set_back
from es_simhash.live.sweep.work import Fingerprinting, Work
from es_simhash.live.sweep.writing import Outcome, write
from es_simhash.plans.bulk import RequestSize

if TYPE_CHECKING:
    from es_simhash.documents.documents import Documents
    from es_simhash.live.doctor.finding import Finding
    from es_simhash.plans.operations import Operation, Plan

Result = TypeVar("Result")


class AsyncRunner:
    """See `es_simhash.live.backfill.run.Runner`."""

    def __init__(self, engine: AsyncEngine, work: Work, options: RunOptions, teller: Teller) -> None:
        self._engine = engine
        self._work = work
        self._options = options
        self._pace = Pace(options.max_rate)
        self._teller = teller

    async def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation, by the engine unless it is a pass."""
        if isinstance(operation, Pass):
            await self._pass(operation)
            return cast("Result", None)
        return await self._engine.perform(operation)

    async def close(self) -> None:
        """Leave the engine open."""

    async def _pass(self, operation: Pass) -> None:
        index, options = operation.index, self._options
        common = await self._run(common_reader(index, options)) if len(options.shares) > 1 else None
        readings = [
            Reading(index, operation.query, self._work.source, share, options.patience, common)
            for share in options.shares
        ]
        slices = [asyncio.ensure_future(self._slice(operation, reading)) for reading in readings]
        try:
            await asyncio.gather(*slices)
        finally:
            await _end(slices)
            await leave_async(close_all(readings, common), self._engine, BRIEFLY)

    async def _slice(self, operation: Pass, reading: Reading) -> None:
        pressure = RequestSize()
        coming = asyncio.ensure_future(self._run(reading.next()))
        writing: deque[asyncio.Future[Outcome]] = deque()
        try:
            while hits := await coming:
                coming = asyncio.ensure_future(self._run(reading.next()))
                prepared = await asyncio.to_thread(self._work.prepare, hits)
                if len(writing) == WRITERS:
                    self._teller.add(await writing.popleft(), operation.again)
                writing.append(asyncio.ensure_future(self._write(prepared, pressure)))
            while writing:
                self._teller.add(await writing.popleft(), operation.again)
        finally:
            await _end([coming, *writing])

    async def _write(self, prepared: Prepared, pressure: RequestSize) -> Outcome:
        await self._run(self._pace.turn(len(prepared.updates)))
        return await self._run(write(self._work, prepared, pressure, self._options.patience))

    async def _run(self, plan: Plan[Result]) -> Result:
        return await run_async(plan, self._engine)


class AsyncBackfill:
    """One run over an index, or over the indices behind a name.

    It changes settings of indices and sets them back, unless the engine is away by then (``is_set_back``); the next run
    does that first.
    """

    is_set_back = True

    def __init__(
        self,
        engine: AsyncEngine,
        index: str,
        documents: Documents,
        survey: Survey,
        options: BackfillOptions,
    ) -> None:
        self._engine = engine
        self._documents = documents
        self._options = options
        self.survey = survey
        self.progress = Progress.of(index, survey.parts, survey.left_out)

    @property
    def findings(self) -> list[Finding]:
        """What the doctor says of the indices that something is due in."""
        return self.survey.findings

    @classmethod
    async def begin(
        cls,
        engine: AsyncEngine,
        index: str,
        documents: Documents,
        options: BackfillOptions | None = None,
        brings_fields: bool = False,
    ) -> AsyncBackfill:
        """A run, with what is to be done already known."""
        options = options or BackfillOptions()
        found = await run_async(survey(index, documents, options, brings_fields), engine)
        return cls(engine, index, documents, found, options)

    async def run(self, on_progress: OnProgress | None = None, on_undone: OnReject | None = None) -> Progress:
        """Do what is to be done; the result counts it. If the doctor found what stops it, that is raised."""
        self.survey.check()
        parts = self.survey.parts
        indices = [part.index for part in parts]
        teller = Teller(self.progress, on_progress, on_undone)
        runner = AsyncRunner(self._engine, Fingerprinting(self._documents), self._options, teller)
        try:
            for part in parts:
                await run_async(settings_for(part, self._options), runner)
            await run_async(passes(parts, self._documents, self._options, self.progress), runner)
        except BaseException:
            self.is_set_back = not self._options.settings or await leave_async(all_set_back(indices), self._engine)
            raise
        try:
            await run_async(all_set_back(indices), runner)
        except EngineError:
            self.is_set_back = False
        return self.progress


async def _end(tasks: Sequence[asyncio.Future[Any]]) -> None:
    """Stop what is still under way."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
