"""Running a backfill over an engine: reading, fingerprinting and writing overlap, in each of several slices."""

from __future__ import annotations

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from itertools import count, takewhile
from threading import Event
from typing import TypeVar

from es_simhash.ahead import ahead
from es_simhash.backfill.found import prepare, sources
from es_simhash.backfill.progress import OnProgress, OnReject, Pace, Progress, Teller
from es_simhash.backfill.reading import Reading
from es_simhash.backfill.scope import BackfillOptions, Part, changed_query, changes_of, due_query, resolve
from es_simhash.backfill.writing import Pressure, write
from es_simhash.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.fields import Json
from es_simhash.operations import Plan, Refresh, Share, Wait

Result = TypeVar("Result")

# How often a pass is repeated for what others change meanwhile; what changes after that is left to the next run.
_PASSES = 5


class Backfill:
    """One run over an index, or the indices behind a name."""

    def __init__(
        self,
        engine: Engine,
        index: str,
        documents: Documents,
        options: BackfillOptions,
        on_progress: OnProgress | None = None,
        on_reject: OnReject | None = None,
    ) -> None:
        self._engine = engine
        self._documents = documents
        self._options = options
        self._pace = Pace(options.max_rate)
        self._stop = Event()
        self.parts = self._run(resolve(index, documents, options))
        progress = Progress(index, sum(part.due for part in self.parts))
        self._teller = Teller(progress, on_progress, on_reject)

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return self._teller.progress

    def run(self) -> Progress:
        """Do what is to be done; the result counts it."""
        for part in self.parts:
            if part.due:
                self._backfill(part)
        return self.progress

    def _run(self, plan: Plan[Result]) -> Result:
        return run(plan, self._engine)

    def _backfill(self, part: Part) -> None:
        written = self.progress.written
        self._pass(part.index, due_query(self._documents, self._options))
        changes = part.changes
        for _ in range(_PASSES):
            if changes is None:
                break
            now = self._run(changes_of(part.index))
            if now is None or sum(now) - sum(changes) <= self.progress.written - written:
                break
            # Others have written: what they changed may have got the fingerprint of its old text.
            since, changes, written = changes, now, self.progress.written
            self._engine.perform(Refresh(part.index))
            self._pass(part.index, changed_query(self._options, since))
        self._engine.perform(Refresh(part.index))

    def _pass(self, index: str, query: Json) -> None:
        """Bring all documents of an index that a query finds up to date."""
        shares = self._options.shares
        if len(shares) == 1:
            self._slice(index, query, shares[0])
            return
        with ThreadPoolExecutor(len(shares)) as threads:
            slices = [threads.submit(self._slice, index, query, share) for share in shares]
            try:
                wait(slices, return_when=FIRST_EXCEPTION)
            finally:
                self._stop.set()
            for each in slices:
                each.result()
        self._stop.clear()

    def _slice(self, index: str, query: Json, share: Share | None) -> None:
        patience, pressure = self._options.patience, Pressure()
        reading = Reading(index, query, sources(self._documents), share, patience)
        try:
            pages = takewhile(bool, ahead(lambda _: self._run(reading.next()), count()))
            for prepared in ahead(partial(prepare, self._documents), pages):
                if delay := self._pace.seconds_until(len(prepared.updates)):
                    self._run(_waiting(delay))
                self._teller.add(self._run(write(self._documents, prepared, pressure, patience)))
                if self._stop.is_set():
                    return
        finally:
            self._run(reading.close())


def _waiting(seconds: float) -> Plan[None]:
    yield Wait(seconds)
