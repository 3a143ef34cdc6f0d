"""Writing what a sweep made, conditional on the versions that were read, and counting it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from itertools import count, takewhile
from threading import Lock
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar, cast

from es_simhash._core.batches import BRIEFLY, OnProgress, Stop, prefetched, rarely_collected, stage
from es_simhash._core.json_codec import Json
from es_simhash.documents.sources import OnReject, Rejected
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.errors import EngineError
from es_simhash.live.doctor.facts import IndexPart
from es_simhash.live.sweep.reading import DocumentRef, Reading, close_all, common_reader
from es_simhash.plans.bulk import RequestSize, send
from es_simhash.plans.open_index import note, noted
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    GetMappings,
    GetSettings,
    Operation,
    Plan,
    PutSettings,
    Wait,
    retry_delays,
    retry_each,
)
from es_simhash.plans.reply_size import documents_by_id
from es_simhash.scheme.learnt_rarity import LearntRarity

if TYPE_CHECKING:
    from es_simhash.live.sweep.reading import RunOptions


# How often a document is read again if others keep changing it before it is written.
_ROUNDS = 10


@dataclass
class Unwritten:
    """Counts of documents that were not written: how many are ``current``, or ``gone``, and which are rejected.

    The ``unfit`` ones are written, without a fingerprint. The texts of all have this many ``characters``.
    """

    current: int = 0
    gone: int = 0
    characters: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    unfit: list[Rejected] = field(default_factory=list)


@dataclass
class Prepared(Unwritten):
    """The ``updates`` of some documents, and the counts of those that need none."""

    updates: list[Update] = field(default_factory=list)


@dataclass
class Outcome(Unwritten):
    """The results for some documents: also how many were ``written``, and what was met on the way.

    ``missing`` lists the gone ones that were noticed by writing them. Of the written ones, ``resent`` were done by a
    request whose reply was lost: sent again, they met their own change.
    """

    written: int = 0
    conflicts: int = 0
    resent: int = 0
    refusals: int = 0
    missing: list[DocumentRef] = field(default_factory=list)

    def add(self, prepared: Prepared) -> None:
        """Count the documents that need no writing."""
        self.current += prepared.current
        self.gone += prepared.gone
        self.rejected += prepared.rejected
        self.unfit += prepared.unfit


def write(work: Settling, prepared: Prepared, pressure: RequestSize, patience: float) -> Plan[Outcome]:
    """Write the updates of some documents until each is done or rejected."""
    outcome = Outcome(characters=prepared.characters)
    outcome.add(prepared)
    updates, waits = prepared.updates, retry_delays(patience)
    for _ in range(_ROUNDS):
        refused, doubtful = yield from _send_all(updates, outcome, pressure, patience)
        updates = []
        for conflicts, may_be_done in ((refused, False), (doubtful, True)):
            if conflicts:
                again = yield from work.settle(conflicts, patience)
                # What a lost request of ours has done is as it would be done now.
                done = again.current if may_be_done else 0
                outcome.add(replace(again, current=again.current - done))
                outcome.written += done
                outcome.resent += done
                outcome.conflicts += len(conflicts) - done
                updates += again.updates
        if not updates:
            return outcome
        yield Wait(next(waits, 0.0))
    reason = "is changed by others again and again. Try later."
    outcome.rejected += [ref.rejected(reason, may_pass=True) for ref, _ in updates]
    return outcome


def _send_all(
    updates: Sequence[Update], outcome: Outcome, pressure: RequestSize, patience: float
) -> Plan[tuple[list[Update], list[Update]]]:
    """Send updates until the engine has answered each; return those in conflict with changes, perhaps of their own.

    The first ones are in conflict with changes of others, the second ones maybe with themselves. An error that would
    stop every document is raised.
    """
    conflicts: list[Update] = []
    doubtful: list[Update] = []

    def take(positions: Sequence[int], results: Sequence[ActionResult]) -> None:
        for (ref, action), result in zip((updates[i] for i in positions), results, strict=True):
            if result.error is None:
                outcome.written += 1
            elif result.index_error:
                raise result.index_error
            elif result.status == HTTPStatus.CONFLICT:
                (doubtful if result.may_be_done else conflicts).append((ref, action))
            elif result.status == HTTPStatus.NOT_FOUND:
                outcome.gone += 1
                outcome.missing.append(ref)
            else:
                outcome.rejected.append(ref.rejected(f"was refused: {result.error}", may_pass=result.may_pass))

    if updates:
        actions = [action for _, action in updates]
        outcome.refusals += yield from send(Bulk(str(actions[0].index), actions), take, pressure, patience)
    return conflicts, doubtful


# A document, and the action that changes it.
Update: TypeAlias = tuple[DocumentRef, Action]


class Settling(Protocol):
    """Work that knows what to do about documents changed by others."""

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        """Prepare new updates for documents with a newer version."""
        ...


class Work(Settling, Protocol):
    """Work on all documents of an index; those that others have changed are read and prepared again."""

    @property
    def source(self) -> Sequence[str] | bool:
        """The parts of documents to read: paths, or True for all of them."""
        ...

    def prepare(self, hits: Sequence[Json]) -> Prepared:
        """Prepare the updates of the documents of hits."""
        ...

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        """Prepare new updates for the documents as they are now."""
        by_index: dict[str, list[Update]] = defaultdict(list)
        for ref, action in conflicts:
            by_index[ref.index].append((ref, action))
        hits = []
        for index, some in by_index.items():
            replies = yield from read_again(index, some, self.source, patience)
            hits += [reply for reply in replies if reply["found"]]
        prepared = self.prepare(hits)
        prepared.gone += len(conflicts) - len(hits)
        return prepared


def read_again(
    index: str, updates: Sequence[Update], source: Sequence[str] | bool, patience: float
) -> Plan[list[Json]]:
    """Read the documents of updates from an index."""
    ids, routings = [ref.id for ref, _ in updates], [ref.routing for ref, _ in updates]
    paths = None if isinstance(source, bool) else source
    return (yield from documents_by_id(index, ids, paths, routings, patience=patience))


class Pace:
    """A limit of documents a second for all threads together."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._next = time.monotonic()
        self._lock = Lock()

    def turn(self, documents: int) -> Plan[None]:
        """Wait until this number of documents may be written."""
        if self._limit is None or not documents:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(self._next, now)
            self._next = turn + documents / self._limit
        yield Wait(turn - now)


# ---- progress


@dataclass
class Progress:
    """The counts of a long job.

    Of ``total`` documents, ``done`` are ``written``, ``current``, ``gone`` or ``rejected``. ``conflicts`` with changes
    of others and ``refusals`` of an overloaded engine were met on the way. Of the written ones, ``resent`` were done by
    requests whose replies were lost, as turned out when these were sent again. The indices ``left_out`` were not
    touched.
    ``unfit`` copies were written without a fingerprint. If others kept changing texts, ``unsettled`` counts their
    changes after the last look; ``seen`` has, by index, the changes of its shards until then. ``learnt`` is how rare
    features are, if the job has learnt that, or why it could not.
    """

    JSON = ("*", "done", "seconds", "seconds_left", "documents_per_second", "megabytes_per_second")

    index: str
    total: int
    written: int = 0
    current: int = 0
    gone: int = 0
    rejected: int = 0
    unfit: int = 0
    unsettled: int = 0
    conflicts: int = 0
    resent: int = 0
    refusals: int = 0
    characters: int = field(default=0, repr=False)
    left_out: Sequence[str] = ()
    learnt: LearntRarity | EngineError | None = None
    seen: dict[str, list[int]] = field(default_factory=dict, repr=False)
    started: float = field(default_factory=time.monotonic, repr=False)

    @classmethod
    def of(cls, index: str, parts: Sequence[IndexPart], left_out: Sequence[str] = ()) -> Progress:
        """Begin the counts of a job over these parts."""
        return cls(index, sum(part.due for part in parts), left_out=left_out)

    @property
    def done(self) -> int:
        """The number of documents done; one written again, because others changed it, counts again."""
        return self.written + self.current + self.gone + self.rejected

    @property
    def seconds(self) -> float:
        """The seconds since the job began."""
        return round(time.monotonic() - self.started, 3)

    @property
    def documents_per_second(self) -> float:
        """The documents done per second."""
        return round(self.done / self.seconds, 1) if self.seconds else 0.0

    @property
    def megabytes_per_second(self) -> float:
        """Millions of characters of text per second: a little less than bytes."""
        return round(self.characters / 1e6 / self.seconds, 3) if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The seconds that the rest takes at this speed; None if nothing is done yet."""
        left = max(0, self.total - self.done)
        return round(left * self.seconds / self.done, 1) if self.done else None


class Tally:
    """Counts what becomes of documents in several threads, and reports it."""

    def __init__(
        self, progress: Progress, on_progress: OnProgress[Progress] | None = None, on_reject: OnReject | None = None
    ) -> None:
        self.progress = progress
        self._on_progress = on_progress
        self._on_reject = on_reject
        self._reported: set[tuple[str, str, str | None]] = set()
        self._lock = Lock()

    def add(self, outcome: Outcome, again: bool = False) -> None:
        """Count what became of some documents; of those met ``again``, count only the written ones."""
        with self._lock:
            now = self.progress
            now.written += outcome.written
            if not again:
                now.current += outcome.current
                now.gone += outcome.gone
            now.conflicts += outcome.conflicts
            now.resent += outcome.resent
            now.refusals += outcome.refusals
            now.characters += outcome.characters
            now.rejected += sum(self._report("rejected", each) for each in outcome.rejected)
            now.unfit += sum(self._report("unfit", each) for each in outcome.unfit)
            if self._on_progress:
                self._on_progress(now)

    def _report(self, kind: str, rejected: Rejected) -> bool:
        """Report a document unless it was reported before: an index that is read again brings it up again."""
        key = (kind, rejected.index, rejected.id)
        if key in self._reported:
            return False
        self._reported.add(key)
        if self._on_reject:
            self._on_reject(rejected)
        return True


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
