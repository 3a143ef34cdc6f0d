"""Running a backfill over an engine."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter

from es_simhash._core.json_codec import Json, parse_json
from es_simhash._core.prefetch import Stop
from es_simhash._core.stages import OnProgress, stage
from es_simhash.documents.documents import Documents
from es_simhash.documents.files.output import whole_file
from es_simhash.documents.rejected import OnReject
from es_simhash.engines.base import Engine, StoppableEngine, leave, run
from es_simhash.errors import DocumentError, EngineError, InputError
from es_simhash.live.backfill.options import BackfillOptions, due_query
from es_simhash.live.backfill.plan import passes, settings_for
from es_simhash.live.backfill.survey import survey
from es_simhash.live.doctor.facts import Part
from es_simhash.live.doctor.finding import Finding
from es_simhash.live.learning import LowestContents, learn_once, now
from es_simhash.live.sweep.reading import DocumentRef, Reading, Survey, named_by
from es_simhash.live.sweep.runner import Job, all_set_back
from es_simhash.live.sweep.writing import Prepared, Progress, Work
from es_simhash.plans.operation_retry import retry_each
from es_simhash.plans.operations import Action, Plan
from es_simhash.plans.text_fields import foreign_in
from es_simhash.scheme.mapping import of_empty
from es_simhash.scheme.own_fields import DEFERRED, content_hash


class Backfill(Job[Survey, BackfillOptions]):
    """One run over an index, or over the indices behind a name.

    Indices without our fields are left out, unless the caller ``brings_fields`` to them before it runs. Settings that
    are changed for the run are set back; if the engine is then away (``is_set_back`` is false), the next run does that
    first.
    """

    is_set_back = True

    def __init__(
        self,
        engine: Engine,
        index: str,
        documents: Documents,
        options: BackfillOptions | None = None,
        brings_fields: bool = False,
        stop: Stop | None = None,
    ) -> None:
        options = options or BackfillOptions()
        super().__init__(engine, survey(index, documents, options, brings_fields), options, stop)
        self._index, self._documents = index, documents
        self.progress = Progress.of(index, self.survey.parts, self.survey.left_out)

    @property
    def findings(self) -> list[Finding]:
        """The doctor's findings about the indices that have documents to do."""
        return self.survey.findings

    def trial(self) -> Trial | None:
        """Try how fast some documents are read and fingerprinted; nothing is written."""
        return run(
            try_some(self.survey.parts, self._documents, self._options), StoppableEngine(self._engine, self._stop)
        )

    def run(self, on_progress: OnProgress[Progress] | None = None, on_reject: OnReject | None = None) -> Progress:
        """Do it, and return the counts. A finding that stops it is raised."""
        self.survey.check()
        parts = self.survey.parts
        indices = [part.index for part in parts]
        work = Fingerprinting(self._documents)
        runner = self._runner(work, self.progress, on_progress, on_reject)
        try:
            for part in parts:
                run(settings_for(part, self._options), runner)
            with stage("documents"):
                run(passes(parts, self._documents, self._options, self.progress), runner)
        except BaseException:
            self.is_set_back = not self._options.settings or leave(all_set_back(indices), self._engine)
            raise
        try:
            run(retry_each(all_set_back(indices), self._options.patience), runner)
        except EngineError:
            self.is_set_back = False
        with stage("learn"):
            # A run over everything, if that was never done.
            if self._options.is_alone and not self._options.filters:
                given = self._index, self._documents, now(), self._options.patience, work.lowest
                self.progress.learnt = run(learn_once(*given), runner)
        return self.progress


# ---- trying

_MOST = 300


@dataclass(frozen=True)
class Trial:
    """The number of documents tried, how many a second that was, and the seconds that all would take, but for writing.

    A run may not be faster than its ``max_rate``.
    """

    documents: int
    documents_per_second: float
    seconds: float


def try_some(parts: Sequence[Part], documents: Documents, options: BackfillOptions) -> Plan[Trial | None]:
    """Read and fingerprint some documents of the index that has the most to do; None if nothing is due."""
    largest = max(parts, key=lambda part: part.due, default=None)
    if largest is None:
        return None
    work = Fingerprinting(documents)
    reading = Reading(largest.index, due_query(documents, options), work.source, None, options.patience)
    read, started = 0, perf_counter()
    while read < _MOST and (hits := (yield from reading.next())):
        work.prepare(hits)
        read += len(hits)
    rate = min(read / (perf_counter() - started), options.max_rate or float("inf"))
    yield from reading.close()
    return Trial(read, round(rate, 1), round(sum(part.due for part in parts) / rate, 1)) if read else None


# ---- totals of several runs

_SECONDS_BETWEEN_WRITES = 2.0


@dataclass
class Totals:
    """The totals of all runs so far."""

    runs: int = 0
    written: int = 0
    seconds: float = 0.0


class TotalsFile:
    """The totals of one backfill, whose ``key`` names index, scheme and shard; a file with another key is ignored."""

    def __init__(self, path: Path, key: str) -> None:
        self._path = path
        self._key = key
        self.before = self._read()
        self.before.runs += 1
        self._written = float("-inf")

    def _read(self) -> Totals:
        try:
            found = parse_json(self._path.read_bytes())
            kept = Totals(**found["totals"])
            is_sound = all(isinstance(each, int | float) and 0 <= each < float("inf") for each in vars(kept).values())
            return kept if found["key"] == self._key and is_sound else Totals()
        except (OSError, ValueError, KeyError, TypeError):
            # Only rates and totals are lost.
            return Totals()

    def totals(self, progress: Progress) -> Totals:
        """Add this run to the earlier ones."""
        before = self.before
        return Totals(before.runs, before.written + progress.written, before.seconds + progress.seconds)

    def update(self, progress: Progress) -> None:
        """Write the file, if the last time is a while ago."""
        if time.monotonic() - self._written >= _SECONDS_BETWEEN_WRITES:
            self.write(progress)

    def write(self, progress: Progress) -> None:
        """Write the file."""
        self._written = time.monotonic()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(str(self._path)) as out:
            out.write(json.dumps({"key": self._key, "totals": asdict(self.totals(progress))}))

    def remove(self) -> None:
        """Delete the file of a complete backfill."""
        self._path.unlink(missing_ok=True)


# ---- the work


@dataclass(slots=True)
class ReadDocument(DocumentRef):
    """A document as it was read: its text, or the problem with it, and our fields."""

    text: str
    problem: str | None
    fields: Json

    @classmethod
    def parse(cls, documents: Documents, hit: Json) -> ReadDocument:
        """Parse a hit of a search, or of a reply to a multi-get."""
        source = hit.get("_source") or {}
        text, problem = "", None
        try:
            text = documents.text_of(source)
        except DocumentError as error:
            problem = error.problem
        problem = foreign_in(documents, source) or problem
        own = source.get(documents.prefix)
        return cls(*named_by(hit), text, problem, own if isinstance(own, dict) else {})

    def is_current(self, scheme_id: str) -> bool:
        """Return whether the fields are those of this text under a scheme."""
        own = self.fields
        is_done = own.get("scheme") == scheme_id and own.get("status") != DEFERRED
        return is_done and own.get("content") == content_hash(self.text)

    def update(self, documents: Documents, fields: Json) -> Action:
        """Make the action that replaces our fields, unless the document has changed since it was read."""
        # An update is merged into the old fields, so obsolete ones need a null. The group belongs to the old text.
        if self.fields:
            fields = {name: None for name in documents.all_names if name in self.fields} | fields
        return Action("update", self.id, {"doc": {documents.prefix: fields}}, self.index, self.metadata)


@dataclass(frozen=True)
class Fingerprinting(Work):
    """The work: each document gets the fields of its text; the ``lowest`` contents are there to learn from."""

    documents: Documents
    lowest: LowestContents = field(default_factory=LowestContents)

    @property
    def source(self) -> Sequence[str]:
        """The source fields, and the object of our own."""
        # The whole object: where somebody else has a plain value, paths within it find nothing.
        return (*self.documents.fields, self.documents.prefix)

    def prepare(self, hits: Sequence[Json]) -> Prepared:
        """Fingerprint the documents whose fields are not those of their texts."""
        documents, prepared = self.documents, Prepared()
        due: list[ReadDocument] = []
        done: list[tuple[object, DocumentRef]] = []
        for document in (ReadDocument.parse(documents, hit) for hit in hits):
            prepared.characters += len(document.text)
            if document.problem is not None:
                prepared.rejected.append(document.rejected(document.problem))
            elif document.is_current(documents.scheme.id):
                prepared.current += 1
                done.append((document.fields["content"], document))
            else:
                due.append(document)
        for document, fields in zip(due, documents.fields_of([each.text for each in due]), strict=True):
            if isinstance(fields, InputError):
                prepared.rejected.append(document.rejected(fields.problem))
            else:
                # All others are grouped in the end.
                gets_group = documents.policy.groups == "online" and fields["status"] == "empty"
                own = of_empty(document.index, document.id, fields["content"]) if gets_group else {}
                prepared.updates.append((document, document.update(documents, fields | own)))
                done.append((fields["content"], document))
        self.lowest.add(done)
        return prepared
