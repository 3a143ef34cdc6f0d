"""Backfilling in the cluster: the server sends what is due through a pipeline of ours, by ``_update_by_query``.

What holds where the client backfills holds here:

- Only what is due is written, and only on the version that was found: a document that others change meanwhile is a
  conflict. The pipeline replaces our object and nothing else, and refuses a document if that object may have anything
  of others. A final pipeline would run, too, so an index that has one is refused. (The names within a document may come
  in another order.)
- What the server has not done is still due: conflicts, texts that the pipeline defers, documents that the pipeline or
  the server refuses. The client does these in its own pass just after, and rejects what cannot be done.
- Each document written is one change of the index, which is counted as ours, so changes of others are still noticed.
  Where a count was lost, too many changes count as theirs: then there is one look too many.
- A run that ends early cancels its task. A killed one cannot; the next finds it by its mark, and follows it. If
  the server was done before, the next run removes the pipeline, and so does the removal of the fields.
- A task that is lost with its node, or has met a server with too much to do, is begun again: all that is done is no
  longer due. A task that somebody has cancelled is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import quote

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.painless.ingest_pipeline import backfill_name, backfill_pipeline
from es_simhash.errors import EngineError, IndexStateError, MissingError, UnavailableError, UnreachableError
from es_simhash.live.backfill.options import BackfillOptions
from es_simhash.live.doctor.finding import Finding
from es_simhash.live.sweep.writing import Outcome
from es_simhash.plans.install_pipeline import path_of_pipeline
from es_simhash.plans.operation_retry import attempt, retry, retry_delays
from es_simhash.plans.operations import (
    CancelTask,
    Count,
    DeleteResource,
    FindTask,
    GetResource,
    GetSettings,
    GetTask,
    Plan,
    PutResource,
    Refresh,
    Task,
    UpdateByQuery,
    Wait,
    is_server,
)
from es_simhash.scheme.own_fields import DEFERRED

# How often a task is looked at, in seconds: soon at first, then more and more seldom.
_SOON, _GROWTH, _LONGEST = 0.05, 1.3, 2.0
# The most documents that a slice takes at a time.
_MOST = 1_000
# So many documents that the server refuses are left out by their ids; with more, the rest is left to the client.
_MOST_REFUSED = 5_000
_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


def check_cluster(index: str, documents: Documents) -> Plan[None]:
    """Raise unless this is a server that can compute the scheme."""
    if not (yield from is_server()):
        raise EngineError(
            "The embedded engine has no cluster that could do the backfill. "
            "Run it without --in-cluster (in_cluster=True)."
        )
    backfill_pipeline(index, documents)


def check_final_pipeline(index: str) -> Plan[list[Finding]]:
    """Find a pipeline that would run as well as ours."""
    settings = (yield from attempt(GetSettings(index))) or {}
    final = settings.get(index, {}).get("index.final_pipeline", "_none")
    if final == "_none":
        return []
    message = f"The index {index!r} has the final_pipeline {final!r}, which the cluster would run on each document."
    return [Finding("pipeline", "stop", message, "Run the backfill without --in-cluster (in_cluster=True).", index)]


def remove_left_pipeline(index: str, prefix: str) -> Plan[None]:
    """Remove the pipeline that a killed run has left on a server, unless its task goes on."""
    name = backfill_name(index, prefix)
    if (yield from attempt(GetResource(path_of_pipeline(name)))):
        try:
            is_used = yield FindTask(quote(name))
        except EngineError:
            return
        if not is_used:
            yield from attempt(DeleteResource(path_of_pipeline(name)))


@dataclass
class ClusterUpdate:
    """One update of an index by its server; ``count`` is called with what has come of documents since the last call.

    ``task`` is the id of the task under way, if there is one.
    """

    index: str
    query: Json
    documents: Documents
    options: BackfillOptions
    count: Callable[[Outcome], object]
    task: str | None = None
    _size: int = _MOST
    _written: int = 0
    _is_again: bool = False
    _refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if rate := self.options.max_rate:
            # The server waits between its requests: so about a second.
            self._size = max(1, min(_MOST, int(rate / self.options.parallel)))

    def run(self) -> Plan[int]:
        """Update what is due; return the number of documents that are due after that."""
        patience = self.options.patience
        waits, written = retry_delays(patience), 0
        while len(self._refused) <= _MOST_REFUSED:
            problem, is_done = yield from self._tried()
            if is_done:
                break
            if written < self._written:
                waits, written = retry_delays(patience), self._written
            if problem:
                if (delay := next(waits, None)) is None:
                    raise problem
                yield Wait(delay)
        yield from attempt(retry(DeleteResource(self._path), patience))
        return (yield from self._left())

    def cancel(self) -> Plan[None]:
        """Cancel the task under way, wait until it is over, and remove the pipeline."""
        self.task = self.task or (yield FindTask(self._mark))
        if task := self.task:
            yield CancelTask(task)
            self.task = None
            while not (yield GetTask(task)).is_over:
                yield Wait(_SOON)
        yield DeleteResource(self._path)

    @property
    def _path(self) -> str:
        return path_of_pipeline(self._pipeline)

    @property
    def _pipeline(self) -> str:
        return backfill_name(self.index, self.documents.prefix)

    @property
    def _mark(self) -> str:
        return quote(self._pipeline)

    def _tried(self) -> Plan[tuple[EngineError | None, bool]]:
        """Follow the task of an earlier run, or begin one; return why to wait before the next, and if all is done."""
        try:
            # A killed run may have left one, or the answer was lost to the request that began it.
            self.task = yield FindTask(self._mark)
            is_ours = self.task is None
            if is_ours:
                yield Refresh(self.index)
                if not (yield Count(self.index, self._due)):
                    return None, True
                yield PutResource(self._path, backfill_pipeline(self.index, self.documents))
                self.task = yield self._update
            over = yield from self._followed(str(self.task), is_ours)
        except (UnreachableError, UnavailableError) as error:
            return error, False
        self.task, self._is_again = None, True
        problem = self._problem(over)
        return problem, is_ours and not problem and not over.refused

    @property
    def _update(self) -> UpdateByQuery:
        options = self.options
        return UpdateByQuery(
            self.index, self._due, self._pipeline, self._mark, options.parallel, options.max_rate, self._size
        )

    @property
    def _due(self) -> Json:
        """The query for what is due, without what this run has found to be the client's."""
        others: list[Json] = [{"ids": {"values": self._refused}}] if self._refused else []
        if self._is_again:
            others.append(self._deferred)
        return {"bool": {"filter": [self.query], "must_not": others}}

    @property
    def _deferred(self) -> Json:
        return {"term": {f"{self.documents.prefix}.status": DEFERRED}}

    def _followed(self, id_: str, is_ours: bool) -> Plan[Task]:
        """Look at a task until it is over, and count what it has done since it began, or since it is followed."""
        before, wait = Task(False, 0, 0) if is_ours else None, _SOON
        while True:
            try:
                now = yield from retry(GetTask(id_), self.options.patience)
            except MissingError as error:
                raise UnavailableError(str(error)) from error
            before = before or now
            written, conflicts = max(0, now.updated - before.updated), max(0, now.conflicts - before.conflicts)
            self._written += written
            self.count(Outcome(written=written, conflicts=conflicts))
            if now.is_over:
                return now
            before = now
            yield Wait(wait)
            wait = min(_GROWTH * wait, _LONGEST)

    def _problem(self, over: Task) -> EngineError | None:
        """Return why a task that is over must wait before it goes on; raise what would end any."""
        if over.is_cancelled:
            raise IndexStateError(
                f"Somebody has cancelled the update of {self.index!r} in the cluster. Ask whether it was in the way, "
                "then run the command again for the rest, with --max-rate (max_rate=…), say."
            )
        busy = over.error
        for each in over.refused:
            if each.index_error:
                raise each.index_error
            if each.status in _BUSY:
                busy = UnavailableError(str(each.error))
            else:
                self._refused.append(each.id)
        if isinstance(busy, (UnavailableError, UnreachableError)):
            self._size = max(1, self._size // 2)
        elif busy:
            raise busy
        return busy

    def _left(self) -> Plan[int]:
        """Count what is due, and what of it the pipeline has deferred."""
        patience = self.options.patience
        yield from retry(Refresh(self.index), patience)
        deferred = {"bool": {"filter": [self.query, self._deferred]}}
        count = min(self._written, (yield from retry(Count(self.index, deferred), patience)))
        # The server has written these, but without a fingerprint.
        self.count(Outcome(written=-count, deferred=count))
        left: int = yield from retry(Count(self.index, self.query), patience)
        return left
