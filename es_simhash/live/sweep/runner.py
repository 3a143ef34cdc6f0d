"""Running a long job over an engine: in each slice, reading, preparing and writing overlap."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import count, takewhile
from typing import TYPE_CHECKING, TypeVar, cast

from es_simhash._core.json_codec import Json
from es_simhash._core.prefetch import BRIEFLY, Stop, prefetched
from es_simhash._core.stages import rarely_collected, stage
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.live.sweep.progress import Tally
from es_simhash.live.sweep.reading import Reading, close_all, common_reader
from es_simhash.live.sweep.writing import Outcome, Pace, write
from es_simhash.plans.bulk import RequestSize
from es_simhash.plans.operations import Operation

if TYPE_CHECKING:
    from es_simhash.live.sweep.options import RunOptions
    from es_simhash.live.sweep.writing import Prepared, Work

Item = TypeVar("Item")
Result = TypeVar("Result")

# How many requests of a single slice are on their way to the engine at once: while one is answered, the next is taken.
# Of several slices, each takes the next while others wait.
_WRITERS = 2


@dataclass(frozen=True)
class Pass(Operation[None]):
    """An operation of the runner, unknown to engines: do the work on all documents of an index that a query finds.

    ``again`` if they may have been counted before.
    """

    index: str
    query: Json
    again: bool = False


class Runner(StoppableEngine):
    """An engine that also performs passes, and counts in a tally what becomes of documents.

    The engine is one that several threads can use. Another thread can end the job by ``stop``.
    """

    def __init__(self, engine: Engine, work: Work, options: RunOptions, tally: Tally, stop: Stop | None = None) -> None:
        super().__init__(engine, stop)
        self._pace = Pace(options.max_rate)
        self._work, self._options, self._tally = work, options, tally

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation, or a pass."""
        if isinstance(operation, Pass):
            with rarely_collected():
                _Passing(self._engine, self._work, self._options, self._pace, self._tally, self.stop).run(operation)
            return cast("Result", None)
        return super().perform(operation)


class _Passing(StoppableEngine):
    """The threads of one pass; its first error, an interruption, or the end of the job ends them all."""

    def __init__(self, engine: Engine, work: Work, options: RunOptions, pace: Pace, tally: Tally, job: Stop) -> None:
        super().__init__(engine, Stop(job))
        self._work, self._options, self._pace, self._tally = work, options, pace, tally

    def run(self, operation: Pass) -> None:
        """Do the work in as many slices as the options say."""
        index, options = operation.index, self._options
        common = run(common_reader(index, options), self) if len(options.slices) > 1 else None
        readings = [
            Reading(index, operation.query, self._work.source, each, options.patience, common)
            for each in options.slices
        ]
        with ExitStack() as stack:
            stack.callback(self.leave, close_all(readings, common), BRIEFLY)
            stack.enter_context(self.stopped_by_errors())
            if len(readings) == 1:
                self._slice(operation, readings[0])
                return
            slices = prefetched(partial(self._slice, operation), readings, len(readings), self.stop)
            for _ in stack.enter_context(closing(slices)):
                continue

    def _slice(self, operation: Pass, reading: Reading) -> None:
        with self.stopped_by_errors(), ExitStack() as stack:
            pages = stack.enter_context(closing(self._ahead(lambda _: run(reading.next(), self), count())))
            ready = stack.enter_context(closing(self._ahead(self._prepare, takewhile(bool, pages))))
            writers = _WRITERS if len(self._options.slices) == 1 else 1
            written = stack.enter_context(closing(self._ahead(partial(self._write, RequestSize()), ready, writers)))
            for outcome in written:
                self._tally.add(outcome, operation.again)

    def _ahead(
        self, make: Callable[[Item], Result], items: Iterable[Item], threads: int = 1
    ) -> Generator[Result, None, None]:
        return prefetched(make, items, threads, self.stop)

    def _prepare(self, hits: Sequence[Json]) -> Prepared:
        with stage("prepare"):
            return self._work.prepare(hits)

    def _write(self, pressure: RequestSize, prepared: Prepared) -> Outcome:
        # At once, since the next page may not come for as long as the run is patient.
        with self.stopped_by_errors():
            run(self._pace.turn(len(prepared.updates)), self)
            return run(write(self._work, prepared, pressure, self._options.patience), self)
