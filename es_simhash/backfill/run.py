"""Running a backfill over an engine: reading, fingerprinting and writing overlap, in each of several slices."""

from __future__ import annotations

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, suppress
from functools import partial
from itertools import count, takewhile
from threading import Event
from typing import TYPE_CHECKING, TypeVar, cast

from es_simhash.ahead import ahead
from es_simhash.backfill.passes import Pass, passes, settings_for
from es_simhash.backfill.progress import OnProgress, OnUndone, Pace, Progress, Teller
from es_simhash.backfill.reading import Reading, close, common_reader
from es_simhash.backfill.scope import BackfillOptions, RunOptions
from es_simhash.backfill.survey import survey
from es_simhash.backfill.tuning import set_back
from es_simhash.backfill.work import Fingerprinting, Work
from es_simhash.backfill.writing import Outcome, write
from es_simhash.engines.base import Engine, run
from es_simhash.errors import EngineError
from es_simhash.plans.sending import Pressure

if TYPE_CHECKING:
    from es_simhash.backfill.found import Prepared
    from es_simhash.doctor.finding import Finding
    from es_simhash.documents import Documents
    from es_simhash.operations import Operation, Plan, Reader, Share

Result = TypeVar("Result")

# How many requests of a slice are on their way to the engine at once: while one is answered, the next is taken.
WRITERS = 2


class _StoppedError(Exception):
    """What ends a wait in one slice when another has failed, or the run is interrupted."""


class Runner:
    """An engine, which can be used by several threads, that also does passes: some work on all documents of an index.

    Of what becomes of them the ``teller`` is told.
    """

    def __init__(self, engine: Engine, work: Work, options: RunOptions, teller: Teller) -> None:
        self._engine = engine
        self._work = work
        self._options = options
        self._pace = Pace(options.max_rate)
        self._teller = teller
        self._is_stopped = Event()

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation, by the engine unless it is a pass."""
        if isinstance(operation, Pass):
            self._pass(operation)
            return cast("Result", None)
        return self._engine.perform(operation)

    def close(self) -> None:
        """Leave the engine open."""

    def _pass(self, operation: Pass) -> None:
        self._is_stopped.clear()
        shares = self._options.shares
        if len(shares) == 1:
            self._slice(operation, shares[0])
            return
        with ExitStack() as stack, ThreadPoolExecutor(len(shares)) as threads:
            common = self._run(common_reader(operation.index, self._options))
            stack.callback(lambda: self._run(close(common)))
            slices = [threads.submit(self._slice, operation, share, common) for share in shares]
            try:
                wait(slices, return_when=FIRST_EXCEPTION)
            finally:
                if not all(each.done() and not each.exception() for each in slices):
                    self._is_stopped.set()
        for error in filter(None, (each.exception() for each in slices)):
            if not isinstance(error, _StoppedError):
                raise error

    def _slice(self, operation: Pass, share: Share | None, common: Reader | None = None) -> None:
        index, patience = operation.index, self._options.patience
        reading = Reading(index, operation.query, self._work.source, share, patience, common)
        with ExitStack() as stack:
            stack.callback(lambda: self._run(reading.close()))
            pages = stack.enter_context(closing(ahead(lambda _: self._run(reading.next()), count())))
            ready = stack.enter_context(closing(ahead(self._work.prepare, takewhile(bool, pages))))
            written = stack.enter_context(closing(ahead(partial(self._write, Pressure()), ready, WRITERS)))
            stack.push(self._stop_at_error)
            for outcome in written:
                self._teller.add(outcome, operation.again)
                if self._is_stopped.is_set():
                    return

    def _write(self, pressure: Pressure, prepared: Prepared) -> Outcome:
        self._run(self._pace.turn(len(prepared.updates)))
        return self._run(write(self._work, prepared, pressure, self._options.patience))

    def _stop_at_error(self, kind: type[BaseException] | None, *_: object) -> None:
        """Whoever reads ahead, or another slice, must not go on waiting for an engine then."""
        if kind is not None:
            self._is_stopped.set()

    def _run(self, plan: Plan[Result]) -> Result:
        return run(plan, self._engine, self._sleep)

    def _sleep(self, seconds: float) -> None:
        if self._is_stopped.wait(seconds):
            raise _StoppedError


class Backfill:
    """One run over an index, or over the indices behind a name."""

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
        self.survey = run(survey(index, documents, self._options), engine)
        self.progress = Progress.of(index, self.survey.parts, self.survey.left_out)

    @property
    def findings(self) -> list[Finding]:
        """What the doctor says of the indices that something is due in."""
        return self.survey.findings

    def run(self, on_progress: OnProgress | None = None, on_undone: OnUndone | None = None) -> Progress:
        """Do what is to be done; the result counts it. If the doctor found what stops it, that is raised."""
        self.survey.check()
        parts = self.survey.parts
        teller = Teller(self.progress, on_progress, on_undone)
        runner = Runner(self._engine, Fingerprinting(self._documents), self._options, teller)
        try:
            for part in parts:
                run(settings_for(part, self._options), runner)
            run(passes(parts, self._documents, self._options, self.progress), runner)
        finally:
            # If the engine is away for good, the next run does it.
            with suppress(EngineError):
                for part in parts:
                    run(set_back(part.index), runner)
        return self.progress
