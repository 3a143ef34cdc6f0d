"""Running a long job over an engine: in each slice, reading, preparing and writing overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import count, takewhile
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from es_simhash._core.json_codec import Json
from es_simhash._core.prefetch import BRIEFLY, Stop, prefetched
from es_simhash._core.stages import OnProgress, rarely_collected, stage
from es_simhash.documents.rejected import OnReject
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.live.sweep.reading import Reading, close_all, common_reader
from es_simhash.live.sweep.writing import Outcome, Pace, Progress, Tally, write
from es_simhash.plans.bulk import RequestSize
from es_simhash.plans.open_index import note, noted
from es_simhash.plans.operation_retry import retry_each
from es_simhash.plans.operations import GetMappings, GetSettings, Operation, Plan, PutSettings

if TYPE_CHECKING:
    from es_simhash.live.sweep.options import RunOptions
    from es_simhash.live.sweep.writing import Prepared, Work

Item = TypeVar("Item")
Result = TypeVar("Result")
Seen = TypeVar("Seen")
How = TypeVar("How", bound="RunOptions")

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


class Job(Generic[Seen, How]):
    """One run over an engine that several threads can use, and the ``survey`` before it, which may be shown.

    Another thread can end it by ``stop``.
    """

    def __init__(self, engine: Engine, survey: Plan[Seen], options: How, stop: Stop | None) -> None:
        self._engine, self._options, self._stop = engine, options, stop or Stop()
        with stage("survey"):
            plan = retry_each(survey, options.patience)
            self.survey: Seen = run(plan, StoppableEngine(engine, self._stop))

    def _runner(
        self, work: Work, progress: Progress, on_progress: OnProgress[Progress] | None, on_reject: OnReject | None
    ) -> Runner:
        tally = Tally(progress, on_progress, on_reject)
        return Runner(self._engine, work, self._options, tally, self._stop)


class Runner(StoppableEngine):
    """An engine that also performs passes, and counts in a tally what becomes of documents.

    The engine is one that several threads can use. Another thread can end the job by ``stop``.
    """

    def __init__(self, engine: Engine, work: Work, options: RunOptions, tally: Tally, stop: Stop | None = None) -> None:
        super().__init__(engine, stop)
        self.pace = Pace(options.max_rate)
        self.work, self.options, self.tally = work, options, tally

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation, or a pass."""
        if isinstance(operation, Pass):
            with rarely_collected():
                _Passing(self, self._engine, operation).run()
            return cast("Result", None)
        return super().perform(operation)


class _Passing(StoppableEngine):
    """The threads of one pass; its first error, an interruption, or the end of the job ends them all."""

    def __init__(self, job: Runner, engine: Engine, operation: Pass) -> None:
        super().__init__(engine, Stop(job.stop))
        self._job, self._pass = job, operation

    def run(self) -> None:
        """Do the work in as many slices as the options say."""
        index, query, options = self._pass.index, self._pass.query, self._job.options
        slices = options.slices
        common = run(common_reader(index, options), self) if len(slices) > 1 else None
        source, patience = self._job.work.source, options.patience
        readings = [Reading(index, query, source, each, patience, common) for each in slices]
        with ExitStack() as stack:
            stack.callback(self.leave, close_all(readings, common), BRIEFLY)
            stack.enter_context(self.stopped_by_errors())
            if len(readings) == 1:
                self._slice(readings[0], _WRITERS)
                return
            done = prefetched(partial(self._slice, writers=1), readings, len(readings), self.stop)
            for _ in stack.enter_context(closing(done)):
                continue

    def _slice(self, reading: Reading, writers: int) -> None:
        with self.stopped_by_errors(), ExitStack() as stack:

            def ahead(make: Callable[[Item], Result], items: Iterable[Item], threads: int = 1) -> Iterator[Result]:
                return stack.enter_context(closing(prefetched(make, items, threads, self.stop)))

            pages = ahead(lambda _: run(reading.next(), self), count())
            ready = ahead(self._prepare, takewhile(bool, pages))
            for outcome in ahead(partial(self._write, RequestSize()), ready, writers):
                self._job.tally.add(outcome, self._pass.again)

    def _prepare(self, hits: Sequence[Json]) -> Prepared:
        with stage("prepare"):
            return self._job.work.prepare(hits)

    def _write(self, pressure: RequestSize, prepared: Prepared) -> Outcome:
        # At once, since the next page may not come for as long as the run is patient.
        with self.stopped_by_errors():
            run(self._job.pace.turn(len(prepared.updates)), self)
            return run(write(self._job.work, prepared, pressure, self._job.options.patience), self)


# ---- settings that are changed while a job runs
# The mapping's ``_meta`` keeps the former values, so that a run that is killed cannot lose them: the next run,
# on any machine, restores them first.

_KEPT = "_settings_before_backfill"


def change(index: str, settings: Json) -> Plan[None]:
    """Change settings of an index, and note their former values."""
    present = (yield GetSettings(index))[index]
    yield from note(index, _KEPT, {name: present.get(name) for name in settings})
    yield PutSettings(index, settings)


def are_changed(mapping: Json) -> bool:
    """Return whether an index with this mapping has settings to set back."""
    return bool(noted(mapping, _KEPT))


def set_back(index: str) -> Plan[Json | None]:
    """Set the settings of an index back to the noted values, and return these; None if there are none."""
    before: Json | None = noted((yield GetMappings(index))[index], _KEPT)
    if before:
        yield PutSettings(index, before)
        yield from note(index, _KEPT, None)
    return before


def all_set_back(indices: Iterable[str]) -> Plan[None]:
    """Set the settings of several indices back."""
    for index in indices:
        yield from set_back(index)
