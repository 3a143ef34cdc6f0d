"""Fingerprinting all documents of a live index, and finishing despite changes and failures.

Progress lies in the documents themselves: those without the current scheme are due, so a run can be stopped anywhere
and begun again. Each update is conditional on the version that was read, and changes our own fields only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from es_simhash._core.arguments import check_shard
from es_simhash._core.batches import OnProgress, Stop, stage
from es_simhash._core.json_codec import Json, parse_json
from es_simhash.documents.documents import Documents
from es_simhash.documents.files.output import whole_file
from es_simhash.documents.sources import OnReject
from es_simhash.engines.base import Engine, StoppableEngine, leave, run
from es_simhash.errors import (
    AccessError,
    DocumentError,
    EngineError,
    IndexStateError,
    InputError,
    MappingError,
    MissingError,
    SchemeMismatchError,
)
from es_simhash.live.doctor.examine import examine
from es_simhash.live.doctor.facts import Finding, IndexPart, accepting, of_error, stopped
from es_simhash.live.learning import LowestContents, learn_once, now
from es_simhash.live.sweep.reading import (
    Changes,
    DocumentRef,
    Reading,
    Survey,
    UpdateOptions,
    changed_after,
    changes_of,
    make_visible,
    named_by,
    part_of,
)
from es_simhash.live.sweep.writing import Job, Pass, Prepared, Progress, Work, all_set_back, change, set_back
from es_simhash.plans.open_index import closed_ones, no_fields, note, note_where_allowed, noted
from es_simhash.plans.operations import Action, Count, GetMappings, Plan, Refresh, retry, retry_each
from es_simhash.plans.text_fields import foreign_in
from es_simhash.scheme.mapping import entries, of_empty
from es_simhash.scheme.own_fields import DEFERRED, content_hash


@dataclass(frozen=True)
class BackfillOptions(UpdateOptions):
    """The options of a backfill, in addition to those of `UpdateOptions`.

    ``filter``, a query, restricts the documents. ``refresh_stale`` also reads documents that have a fingerprint, and
    replaces fingerprints of older texts. ``shard`` (its number from 0, and their count) is one machine's part.

    In the end a run over everything learns how rare features are, if that was never done.

    ``without_refresh`` turns refreshes of the index off, and back on in the end.

    >>> index.backfill(refresh_stale=True, filter={"range": {"published": {"gte": "2026-11-02"}}}).current
    2
    """

    filter: Json | None = None
    refresh_stale: bool = False
    shard: tuple[int, int] = (0, 1)
    without_refresh: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shard(self.shard)
        _, count = self.shard
        if count > 1 and self.settings:
            raise InputError(
                "One of several machines cannot know when the last has finished and settings must be set back. "
                "Change refresh_interval yourself, before and after."
            )

    @property
    def settings(self) -> Json:
        """The settings of the index while the backfill runs."""
        return {"index.refresh_interval": "-1"} if self.without_refresh else {}

    @property
    def machine(self) -> tuple[int, int]:
        """The number of this machine, from 0, and how many share the job."""
        return self.shard

    @property
    def filters(self) -> list[Json]:
        """The queries that restrict the documents."""
        return [self.filter] if self.filter else []


def due_query(documents: Documents, options: BackfillOptions) -> Json:
    """Return the query for documents without a fingerprint of the scheme; for all of them with ``refresh_stale``."""
    if options.refresh_stale:
        return {"bool": {"filter": options.filters}} if options.filters else {"match_all": {}}
    scheme = {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}
    deferred = {"term": {f"{documents.prefix}.status": DEFERRED}}
    done = {"bool": {"filter": [scheme], "must_not": [deferred]}}
    return {"bool": {"filter": options.filters, "must_not": [done]}}


def changed_query(options: BackfillOptions, changes: Sequence[int]) -> Json:
    """Return the query for documents that anybody changed after these changes of shards."""
    return {"bool": {"filter": [*options.filters, changed_after(changes)]}}


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


def try_some(parts: Sequence[IndexPart], documents: Documents, options: BackfillOptions) -> Plan[Trial | None]:
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


# The most passes over an index for documents left out or changed in the meantime; the rest is for the next run. One of
# several machines cannot distinguish the changes of the other machines from those of strangers.
_MOST_PLANNED, _MOST_SHARED = 5, 1


def settings_for(part: IndexPart, options: BackfillOptions) -> Plan[None]:
    """Set back settings that a killed run has left changed, and change those of this run."""
    yield from retry_each(set_back(part.index), options.patience)
    if part.due and options.settings:
        yield from retry_each(change(part.index, options.settings), options.patience)


def passes(parts: list[IndexPart], documents: Documents, options: BackfillOptions, progress: Progress) -> Plan[None]:
    """Do the whole backfill of these indices."""
    for part in parts:
        if part.due or part.is_begun:
            yield from _begun_and_ended(part, documents, options, progress)


def _begun_and_ended(part: IndexPart, documents: Documents, options: BackfillOptions, progress: Progress) -> Plan[None]:
    """Backfill one index, with a note in it of what was certainly seen, in case this run is killed."""
    if part.changes is None:
        yield from _unwatched(part, documents, options, progress)
        return
    index = part.index
    watch = Watch(index, part.changes, progress, progress.written, options.patience)
    before = begun((yield from retry(GetMappings(index), options.patience))[index], documents)
    if before:
        own = (yield from retry_each(fingerprints(index, documents), options.patience)) - before.fingerprints
        watch = replace(watch, seen=before.changes, made=progress.written - own)
    else:
        yield from retry_each(begin(index, documents, part.changes), options.patience)
    ends = options.is_alone and not (before and options.filters)
    yield from _watched(part, watch, ends, documents, options)
    progress.seen[index] = watch.seen


def _unwatched(part: IndexPart, documents: Documents, options: BackfillOptions, progress: Progress) -> Plan[None]:
    """Backfill one index whose changes have no numbers, so that only documents left out can be noticed."""
    query, rejected = due_query(documents, options), progress.rejected
    yield Pass(part.index, query)
    for _ in range(_most(options)):
        yield from retry(Refresh(part.index), options.patience)
        if not (yield from _are_left(part, query, options, progress.rejected - rejected)):
            return
        yield Pass(part.index, query, again=True)


def _watched(part: IndexPart, watch: Watch, ends: bool, documents: Documents, options: BackfillOptions) -> Plan[None]:
    """Backfill one index, and read again what others change in the meantime, until they change nothing more.

    If the run ``ends`` what was begun, its note is removed. If others still write after the last look, a note stays, so
    that the next run knows where to start.
    """
    index, progress = part.index, watch.progress
    query, rejected, stale = due_query(documents, options), progress.rejected, 0
    yield Pass(index, query)
    for _ in range(_most(options)):
        since = watch.seen
        if (yield from watch.look()):
            written = progress.written
            # A text may have changed after its fingerprint was made.
            yield Pass(index, changed_query(options, since), again=True)
            stale += progress.written - written
        elif (yield from _are_left(part, query, options, progress.rejected - rejected)):
            # New documents, or some that a lost reader left out.
            yield Pass(index, query, again=True)
        elif not ends:
            return
        else:
            yield from retry_each(end(index, documents), options.patience)
            # These were not read yet, so they may be stale.
            if not (unseen := (yield from _noted_again(watch, documents))):
                return
            stale += unseen
    if ends:
        unseen = yield from _noted_again(watch, documents)
        # If no look found anything stale, others write, but not texts.
        progress.unsettled += unseen if stale else 0


def _noted_again(watch: Watch, documents: Documents) -> Plan[int]:
    """Count the changes of others since the last look; if there are any, note where the next run must start."""
    unseen = max(0, (yield from watch.others()))
    if unseen:
        yield from retry_each(begin(watch.index, documents, watch.seen), watch.patience)
    return unseen


def _are_left(part: IndexPart, query: Json, options: BackfillOptions, rejected: int) -> Plan[bool]:
    """Return whether more documents are due than were rejected; one of several machines cannot know that."""
    if options.refresh_stale or not options.is_alone:
        return False
    return (yield from retry(Count(part.index, query), options.patience)) > rejected


def _most(options: BackfillOptions) -> int:
    return _MOST_PLANNED if options.is_alone else _MOST_SHARED


@dataclass
class Watch:
    """A watch for changes by others: the changes ``seen`` so far, and the number of those ``made`` by this job."""

    index: str
    seen: list[int]
    progress: Progress
    made: int
    patience: float

    def look(self) -> Plan[int]:
        """Make all changes visible, and count those of others; all changes before this look now count as seen."""
        changes = yield from make_visible(self.index, self.patience)
        others = self._others(changes)
        if changes:
            self.seen, self.made = changes.safe, self.progress.written
        return others

    def others(self) -> Plan[int]:
        """Count the changes of others not seen yet."""
        return self._others((yield from changes_of(self.index, self.patience)))

    def _others(self, changes: Changes | None) -> int:
        # Our own changes have all been acknowledged, so they are among the last ones. Some that were not safe yet at
        # the last look count twice: then there is one look too many, never one too few.
        return changes.since(self.seen) - (self.progress.written - self.made) if changes else 0


def survey(index: str, documents: Documents, options: BackfillOptions, brings_fields: bool = False) -> Plan[Survey]:
    """Count the documents that are due, and examine the indices that have some.

    An index without our fields is left out, unless the caller ``brings_fields``.
    """
    parts, unreadable = yield from _count(index, documents, options, brings_fields)
    due = [part for part in parts if part.due or part.index in unreadable]
    if not due:
        return Survey(index, parts, [], [])
    findings = yield from _examine(index, documents, due, unreadable, options)
    left_out = stopped([each.index for each in due], findings)
    return Survey(index, [part for part in parts if part.index not in left_out], left_out, findings)


def diagnose(
    index: str,
    opening: Generator[Any, Any, Documents],
    options: BackfillOptions | None = None,
    brings_fields: bool = False,
) -> Plan[list[Finding]]:
    """Examine what would go wrong with a backfill, whether or not anything is due; ``opening`` gives the documents."""
    options = options or BackfillOptions()
    try:
        documents = yield from opening
    except (MappingError, SchemeMismatchError, IndexStateError) as error:
        due = [IndexPart(name, 0, 0) for name in sorted((yield from _mappings(index)))]
        found = yield from examine(index, None, due, bool(options.settings))
        if not isinstance(error, IndexStateError):  # that an index is closed has been found already
            found.append(of_error(_code_of(error), error, index))
        return accepting(found, options.accept)
    parts, unreadable = yield from _count(index, documents, options, brings_fields)
    return (yield from _examine(index, documents, parts, unreadable, options))


def _count(
    index: str, documents: Documents, options: BackfillOptions, brings_fields: bool
) -> Plan[tuple[list[IndexPart], dict[str, EngineError]]]:
    """Count what is due in each index behind a name; the errors say why some cannot be counted."""
    query = due_query(documents, options)
    mappings = yield from _mappings(index)
    known = entries(mappings, documents.prefix)
    parts, unreadable = list[IndexPart](), dict[str, EngineError]()
    for name, there in sorted(mappings.items()):
        try:
            part = yield from part_of(name, query)
            if known[name] is None and not brings_fields:
                raise no_fields(name, documents.prefix, there)
            parts.append(replace(part, is_begun=begun(there, documents) is not None))
        except (IndexStateError, AccessError, MappingError) as error:
            unreadable[name] = error
            parts.append(IndexPart(name, 0, 0))
    return parts, unreadable


def _mappings(index: str) -> Plan[dict[str, Json]]:
    """Get the mappings of all indices behind a name; closed ones, which a pattern leaves out, have none."""
    closed: dict[str, Json] = {name: {} for name in (yield from closed_ones(index))}
    try:
        return {**closed, **(yield GetMappings(index))}
    except MissingError:
        if closed:
            return closed
        raise


def _examine(
    index: str, documents: Documents, due: list[IndexPart], unreadable: dict[str, EngineError], options: BackfillOptions
) -> Plan[list[Finding]]:
    found = yield from examine(index, documents, due, bool(options.settings))
    reported = {finding.index for finding in found if finding.level == "stop"}
    others = [of_error(_code_of(error), error, name) for name, error in unreadable.items() if name not in reported]
    # What cannot even be counted cannot be accepted.
    return [*accepting(found, set(options.accept) - set(map(_code_of, unreadable.values()))), *others]


def _code_of(error: EngineError) -> str:
    match error:
        case AccessError():
            return "privileges"
        case MappingError():
            return "no-fields"
        case SchemeMismatchError():
            return "scheme-mismatch"
    return "read-only"


@dataclass(frozen=True)
class Begun:
    """The state that runs with a scheme have certainly seen: safe changes of each shard, number of fingerprints."""

    scheme: str
    changes: list[int]
    fingerprints: int


def begun(mapping: Json, documents: Documents) -> Begun | None:
    """Return the note of runs that have not ended, or None."""
    found = noted(mapping, _name(documents))
    return Begun(**found) if found and found["scheme"] == documents.scheme.id else None


def begin(index: str, documents: Documents, changes: list[int], made: int | None = None) -> Plan[None]:
    """Note that all changes up to these were seen, and no later ones, if the login may change the mapping.

    There were as many fingerprints then as were ``made``; without it, as there are now.
    """
    beginning = Begun(
        documents.scheme.id, changes, (yield from fingerprints(index, documents)) if made is None else made
    )
    yield from note_where_allowed(index, _name(documents), asdict(beginning))


def end(index: str, documents: Documents) -> Plan[None]:
    """Remove the note."""
    with suppress(AccessError, IndexStateError):
        yield from note(index, _name(documents), None)


def fingerprints(index: str, documents: Documents) -> Plan[int]:
    """Count the documents with a fingerprint of the scheme."""
    yield Refresh(index)
    return (yield Count(index, {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}))


def _name(documents: Documents) -> str:
    return f"_backfill_begun_{documents.prefix}"
