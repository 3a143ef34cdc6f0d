"""Running a backfill over an engine: reading, fingerprinting and writing overlap, in each of several slices."""

from __future__ import annotations

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from itertools import count, takewhile
from threading import Event
from typing import TYPE_CHECKING, TypeVar, cast

from es_simhash.ahead import ahead
from es_simhash.backfill.found import prepare, sources
from es_simhash.backfill.passes import Pass, passes, settings_for
from es_simhash.backfill.progress import OnProgress, OnUndone, Pace, Progress, Teller
from es_simhash.backfill.reading import Reading
from es_simhash.backfill.scope import BackfillOptions, Part, resolve
from es_simhash.backfill.tuning import set_back
from es_simhash.backfill.writing import Pressure, write
from es_simhash.engines.base import Engine, run
from es_simhash.errors import EngineError

if TYPE_CHECKING:
    from es_simhash.documents import Documents
    from es_simhash.operations import Operation, Plan, Share

Result = TypeVar("Result")


class Backfill:
    """One run over an index, or over the indices behind a name, by an engine that can be used by several threads."""

    def __init__(
        self,
        engine: Engine,
        index: str,
        documents: Documents,
        options: BackfillOptions | None = None,
    ) -> None:
        self._engine = engine
        self._documents = documents
        self._options = options or BackfillOptions()
        self._pace = Pace(self._options.max_rate)
        self._is_stopped = Event()
        self.parts: list[Part] = run(resolve(index, documents, self._options), engine)
        self.progress = Progress.of(index, self.parts)
        self._teller = Teller(self.progress)

    def run(self, on_progress: OnProgress | None = None, on_undone: OnUndone | None = None) -> Progress:
        """Do what is to be done; the result counts it."""
        self._teller = Teller(self.progress, on_progress, on_undone)
        try:
            for part in self.parts:
                self._run(settings_for(part, self._options))
            run(passes(self.parts, self._documents, self._options, self.progress), self)
        finally:
            # If the engine is away for good, the next run does it.
            with suppress(EngineError):
                for part in self.parts:
                    self._run(set_back(part.index))
        return self.progress

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation, by the engine unless it is a pass."""
        if isinstance(operation, Pass):
            self._pass(operation)
            return cast("Result", None)
        return self._engine.perform(operation)

    def close(self) -> None:
        """Leave the engine open."""

    def _pass(self, operation: Pass) -> None:
        shares = self._options.shares
        if len(shares) == 1:
            self._slice(operation, shares[0])
            return
        with ThreadPoolExecutor(len(shares)) as threads:
            slices = [threads.submit(self._slice, operation, share) for share in shares]
            try:
                done, _ = wait(slices, return_when=FIRST_EXCEPTION)
            except BaseException:
                self._is_stopped.set()
                raise
            if any(each.exception() for each in done):
                self._is_stopped.set()
        for each in slices:
            each.result()

    def _slice(self, operation: Pass, share: Share | None) -> None:
        patience, pressure = self._options.patience, Pressure()
        reading = Reading(operation.index, operation.query, sources(self._documents), share, patience)
        try:
            pages = takewhile(bool, ahead(lambda _: self._run(reading.next()), count()))
            for prepared in ahead(partial(prepare, self._documents), pages):
                self._run(self._pace.turn(len(prepared.updates)))
                self._teller.add(self._run(write(self._documents, prepared, pressure, patience)), operation.again)
                if self._is_stopped.is_set():
                    return
        finally:
            self._run(reading.close())

    def _run(self, plan: Plan[Result]) -> Result:
        return run(plan, self._engine)
