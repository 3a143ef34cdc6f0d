"""Running a backfill over an engine: reading, fingerprinting and writing overlap, in each of several slices."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, closing
from functools import partial
from itertools import count, takewhile
from typing import TYPE_CHECKING, TypeVar, cast

from es_simhash._core.prefetch import BRIEFLY, ahead
from es_simhash.documents.rejected import OnReject
from es_simhash.engines.base import Engine, StoppableEngine, leave, run
from es_simhash.errors import EngineError
from es_simhash.live.backfill.passes import Pass, passes, settings_for
from es_simhash.live.backfill.scope import BackfillOptions, RunOptions
from es_simhash.live.backfill.survey import survey
from es_simhash.live.sweep.progress import OnProgress, Pace, Progress, Teller
from es_simhash.live.sweep.reading import Reading, close_all, common_reader
from es_simhash.live.sweep.temporary_settings import all_set_back
from es_simhash.live.sweep.work import Fingerprinting, Work
from es_simhash.live.sweep.writing import Outcome, write
from es_simhash.plans.bulk import RequestSize

if TYPE_CHECKING:
    from es_simhash.documents.documents import Documents
    from es_simhash.live.doctor.finding import Finding
    from es_simhash.live.sweep.found import Prepared
    from es_simhash.plans.operations import Operation

Item = TypeVar("Item")
Result = TypeVar("Result")

# How many requests of a slice are on their way to the engine at once: while one is answered, the next is taken.
WRITERS = 2


class Runner:
    """An engine, which can be used by several threads, that also does passes: some work on all documents of an index.

    The ``teller`` hears what becomes of them.
    """

    def __init__(self, engine: Engine, work: Work, options: RunOptions, teller: Teller) -> None:
        self._engine = engine
        self._work = work
        self._options = options
        self._pace = Pace(options.max_rate)
        self._teller = teller

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation, by the engine unless it is a pass."""
        if isinstance(operation, Pass):
            _Passing(self._engine, self._work, self._options, self._pace, self._teller).go_through(operation)
            return cast("Result", None)
        return self._engine.perform(operation)

    def close(self) -> None:
        """Leave the engine open."""


class _Passing(StoppableEngine):
    """The threads of one pass, which its first error, or an interruption, ends."""

    def __init__(self, engine: Engine, work: Work, options: RunOptions, pace: Pace, teller: Teller) -> None:
        super().__init__(engine)
        self._work = work
        self._options = options
        self._pace = pace
        self._teller = teller

    def go_through(self, operation: Pass) -> None:
        """Do the work on all documents, in as many slices as the options say."""
        index, options = operation.index, self._options
        common = run(common_reader(index, options), self) if len(options.shares) > 1 else None
        readings = [
            Reading(index, operation.query, self._work.source, share, options.patience, common)
            for share in options.shares
        ]
        with ExitStack() as stack:
            stack.callback(self.leave, close_all(readings, common), BRIEFLY)
            stack.enter_context(self.stopped_by_errors())
            if len(readings) == 1:
                self._slice(operation, readings[0])
                return
            slices = ahead(partial(self._slice, operation), readings, len(readings), self.stop)
            for _ in stack.enter_context(closing(slices)):
                continue

    def _slice(self, operation: Pass, reading: Reading) -> None:
        with self.stopped_by_errors(), ExitStack() as stack:
            pages = stack.enter_context(closing(self._ahead(lambda _: run(reading.next(), self), count())))
            ready = stack.enter_context(closing(self._ahead(self._work.prepare, takewhile(bool, pages))))
            written = stack.enter_context(closing(self._ahead(partial(self._write, RequestSize()), ready, WRITERS)))
            for outcome in written:
                self._teller.add(outcome, operation.again)

    def _ahead(
        self, make: Callable[[Item], Result], items: Iterable[Item], threads: int = 1
    ) -> Generator[Result, None, None]:
        return ahead(make, items, threads, self.stop)

    def _write(self, pressure: RequestSize, prepared: Prepared) -> Outcome:
        run(self._pace.turn(len(prepared.updates)), self)
        return run(write(self._work, prepared, pressure, self._options.patience), self)


class Backfill:
    """One run over an index, or over the indices behind a name.

    Those without our fields are left out, unless the caller ``brings_fields`` to them before it runs. Settings that are
    changed meanwhile are set back, unless the engine is away by then (``is_set_back``); the next run does that first.
    """

    is_set_back = True

    def __init__(
        self,
        engine: Engine,
        index: str,
        documents: Documents,
        options: BackfillOptions | None = None,
        brings_fields: bool = False,
    ) -> None:
        self._engine = engine
        self._documents = documents
        self._options = options or BackfillOptions()
        self.survey = run(survey(index, documents, self._options, brings_fields), engine)
        self.progress = Progress.of(index, self.survey.parts, self.survey.left_out)

    @property
    def findings(self) -> list[Finding]:
        """What the doctor says of the indices that something is due in."""
        return self.survey.findings

    def run(self, on_progress: OnProgress | None = None, on_undone: OnReject | None = None) -> Progress:
        """Do what is to be done; the result counts it. If the doctor found what stops it, that is raised."""
        self.survey.check()
        parts = self.survey.parts
        indices = [part.index for part in parts]
        teller = Teller(self.progress, on_progress, on_undone)
        runner = Runner(self._engine, Fingerprinting(self._documents), self._options, teller)
        try:
            for part in parts:
                run(settings_for(part, self._options), runner)
            run(passes(parts, self._documents, self._options, self.progress), runner)
        except BaseException:
            self.is_set_back = not self._options.settings or leave(all_set_back(indices), self._engine)
            raise
        try:
            run(all_set_back(indices), runner)
        except EngineError:
            self.is_set_back = False
        return self.progress
