"""Bringing an index up to date in one run: fingerprints of new and changed texts, then groups.

Each index behind the name keeps a note of the changes up to which all texts were compared with their fingerprints. The
next run reads only what was changed since then; an index without a note, or whose engine does not number changes, is
read as a whole. The note is written last, so a run can be killed anywhere and begun again.

Several runs at once make the same fingerprints, and the last one to end leaves the groups as if it had been alone (see
`es_simhash.groups.of_index.writing.group_and_write`).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isqrt
from typing import Any

from es_simhash._core.batches import OnProgress, Stop, counting
from es_simhash._core.environment import PATIENCE
from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import OnReject
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.errors import AccessError, IndexStateError
from es_simhash.groups.canonical import Canonical
from es_simhash.groups.losses import Alarm
from es_simhash.groups.of_index.writing import (
    GroupsWritten,
    WriteOptions,
    changed_options,
    changes_in_words,
    group_and_write,
    last_run,
)
from es_simhash.groups.options import as_asked, deciding_options
from es_simhash.live.backfill import Backfill, BackfillOptions, begin, begun, fingerprints
from es_simhash.live.doctor.facts import Finding
from es_simhash.live.learning import Learnt
from es_simhash.live.sweep.reading import Changes, changes_of, make_visible
from es_simhash.live.sweep.writing import Progress
from es_simhash.plans.init import init
from es_simhash.plans.open_index import check_may_note, note_where_allowed, noted
from es_simhash.plans.operations import Count, GetMappings, Plan, attempt, retry_each
from es_simhash.scheme.mapping import GROUP, IS_CANONICAL, SIZE, entries
from es_simhash.scheme.scope import Policy, Scope
from es_simhash.scheme.verification import Level

_ALL: Json = {"match_all": {}}


@dataclass(frozen=True)
class Synced(Result):
    """What a run of `sync` did, and what the index has now.

    Of the ``documents``, those ``fingerprinted`` had no fingerprint, or that of an older text; ``rejected`` ones could
    not be read or written. The groups of ``regrouped`` documents were written. ``new_groups`` and ``new_duplicates``
    count what was added since the last run, less what has gone; they are None at the first run. ``late_changes``
    counts the changes of others that the next run reads. The indices ``left_out`` were not processed, as ``findings``,
    those of the doctor, say. The groups are by the ``options``; ``changed_options`` has those of the last run
    that were others. ``alarms`` name what has implausibly many duplicates among new documents.
    """

    JSON = (
        *("index", "documents", "fingerprinted", "up_to_date", "rejected", "regrouped", "groups", "duplicates"),
        *("new_groups", "new_duplicates", "late_changes", "left_out", "findings", "seconds"),
        *("options", "changed_options", "alarms"),
    )

    index: str
    documents: int
    fingerprinted: int
    rejected: int
    regrouped: int
    groups: int
    duplicates: int
    new_groups: int | None
    new_duplicates: int | None
    late_changes: int
    left_out: tuple[str, ...]
    findings: tuple[Finding, ...]
    seconds: float
    options: Json
    changed_options: Json
    alarms: tuple[Alarm, ...] = ()
    learnt: Learnt = field(default=None, repr=False)

    @property
    def up_to_date(self) -> int:
        """The number of documents that had the fingerprint of their text."""
        return max(0, self.documents - self.fingerprinted - self.rejected)

    @property
    def is_first(self) -> bool:
        """Whether no run before has ended."""
        return self.new_groups is None

    @property
    def has_news(self) -> bool:
        """Whether the run has changed anything, or there is something to do about it."""
        return bool(self.fingerprinted or self.rejected or self.regrouped or self.left_out)

    def shown(self) -> Shown:
        """Return it in two sentences, and what else matters."""
        return Shown(self._of_documents(), notes=list(self._notes()))

    def _of_documents(self) -> str:
        counts = {"fingerprinted": self.fingerprinted, "up to date": self.up_to_date, "rejected": self.rejected}
        parts = [f"{count:,} {what}" for what, count in counts.items() if count]
        is_idle = self.up_to_date == self.documents
        return f"{counted(self.documents, 'document')}: {'all up to date' if is_idle else ', '.join(parts)}"

    def _notes(self) -> Iterator[str]:
        found = f"{counted(self.groups, 'group')}, {counted(self.duplicates, 'duplicate')}"
        news = [
            counted(abs(count), f"{'new' if count > 0 else 'fewer'} {what}")
            for what, count in (("group", self.new_groups), ("duplicate", self.new_duplicates))
            if count
        ]
        since = f"; {' and '.join(news)} since the last run" if news else ""
        yield f"{found}{since}." if self.groups or news else "No near-duplicates."
        yield from changes_in_words(self.options, self.changed_options)
        if self.late_changes:
            yield f"{counted(self.late_changes, 'change')} came during the run. The next run reads them."
        elif not (self.has_news or self.is_first):
            yield "Nothing to do."


@dataclass(frozen=True)
class SyncOptions:
    """The options of a run: those of `GroupOptions` with these names, and which findings to ``accept``.

    ``canonical`` is an order of documents, or its name. One that is None is as in the last run.
    """

    similarity: float | Level | None = None
    canonical: Canonical | str | None = None
    scope: Scope | None = None
    accept: frozenset[str] = frozenset()
    patience: float = PATIENCE

    @property
    def given(self) -> Json:
        """The options that replace those of the last run."""
        named = {"similarity": self.similarity, "canonical": self.canonical, "scope": self.scope}
        return {name: value for name, value in named.items() if value is not None}


def sync(
    engine: Engine,
    index: str,
    documents: Documents,
    options: SyncOptions,
    on_progress: OnProgress[Progress] | None = None,
    on_reject: OnReject | None = None,
    stop: Stop | None = None,
    *,
    brings_fields: bool = False,
) -> Synced:
    """Fingerprint what has no fingerprint, or that of an older text; then group what is new, and write the groups.

    Indices without our fields are left out, unless the caller ``brings_fields``. A finding that stops it is raised.
    """
    job = _Sync(engine, index, documents, options, stop or Stop())
    return job.run(on_progress or (lambda _: None), on_reject or (lambda _: None), brings_fields)


@dataclass(frozen=True)
class _Done:
    """The note of a run in an index: ``changes`` of its shards were seen, and it had as many ``fingerprints``.

    Its index had this ``name``; it left these ``groups`` and ``duplicates``.
    """

    scheme: str
    changes: list[int]
    fingerprints: int
    name: str
    groups: int
    duplicates: int

    @classmethod
    def noted(cls, mapping: Json, documents: Documents) -> _Done | None:
        """Return the note in a mapping, if it is of the same scheme."""
        found: Any = noted(mapping, _note_name(documents))
        return cls(**found) if found and found["scheme"] == documents.scheme.id else None

    def is_before(self, changes: Changes) -> bool:
        """Return whether these are later changes of the same shards; those of a restored index may not be."""
        return len(self.changes) == len(changes.last) and all(
            seen <= last for seen, last in zip(self.changes, changes.last, strict=True)
        )


def _note_name(documents: Documents) -> str:
    return f"_synced_{documents.prefix}"


class _Sync:
    """One run."""

    def __init__(self, engine: Engine, index: str, documents: Documents, options: SyncOptions, stop: Stop) -> None:
        self._engine, self._stop = engine, stop
        self._index, self._documents, self._options = index, documents, options
        self._last = self._ask(last_run(index, documents, options.given))
        fixed = {"incremental": True, "patience": options.patience}
        self._grouping = as_asked(self._last.asked, documents.fields, **options.given, **fixed)
        # What cannot be grouped so is refused before anything is written.
        self._grouping.criteria(documents.scheme)
        self._started = time.monotonic()

    def run(self, on_progress: OnProgress[Progress], on_reject: OnReject, brings_fields: bool) -> Synced:
        """Do it all."""
        before = self._ask(_notes(self._index, self._documents))
        is_read_whole = not self._ask(_begun_where_noted(before, self._documents))
        backfill = self._backfill(is_read_whole, brings_fields)
        with counting("Fingerprinting", backfill.progress.total) as advance:

            def show(progress: Progress) -> None:
                advance(progress.done)
                on_progress(progress)

            progress = backfill.run(show, on_reject)
        written = self._groups(progress, on_progress)
        for rejected in written.rejected:
            on_reject(rejected)
        counts = self._ask(_counts(self._index, self._documents))
        self._ask(self._noting(before, progress, written, counts))
        return self._result(before, progress, written, counts, backfill.findings)

    def _ask(self, plan: Plan[Any]) -> Any:
        return run(retry_each(plan, self._options.patience), StoppableEngine(self._engine, self._stop))

    def _backfill(self, is_read_whole: bool, brings_fields: bool) -> Backfill:
        """Examine the index, and return what will fingerprint its documents; add the fields where they are missing."""
        documents, given = self._documents, self._options
        how = BackfillOptions(refresh_stale=is_read_whole, patience=given.patience, accept=given.accept)
        backfill = Backfill(self._engine, self._index, documents, how, brings_fields, self._stop)
        backfill.survey.check()
        if brings_fields:
            policy = documents.policy if documents.policy != Policy() else None
            for part in backfill.survey.parts:
                self._ask(init(part.index, documents, policy=policy))
        return backfill

    def _groups(self, progress: Progress, on_progress: OnProgress[Progress]) -> GroupsWritten:
        """Write the groups; all are made again if the options are not as before."""
        options = self._grouping
        how = WriteOptions(singles=self._last.singles, patience=options.patience, accept=self._options.accept)

        def show(done: GroupsWritten) -> None:
            on_progress(
                replace(
                    progress,
                    written=progress.written + done.written,
                    conflicts=progress.conflicts + done.conflicts,
                    refusals=progress.refusals + done.refusals,
                )
            )

        return group_and_write(self._engine, self._index, self._documents, options, how, show, self._stop)

    def _noting(
        self, before: Mapping[str, _Done | None], progress: Progress, written: GroupsWritten, counts: _Counts
    ) -> Plan[None]:
        """Note in each index what was seen of it, for the next run."""
        documents = self._documents
        there = yield from _notes(self._index, documents)
        seen = {name: progress.seen.get(name) or _changes(before.get(name)) for name in there}
        if progress.rejected or written.rejected:
            # They are to be read again.
            seen = {name: _changes(before.get(name)) for name in there}
        elif all(seen.values()):
            seen = yield from _with_groups(seen, written.written)
        for name, changes in seen.items():
            earlier = before.get(name)
            is_as_before = earlier and earlier.changes == changes
            made = earlier.fingerprints if earlier and is_as_before else (yield from fingerprints(name, documents))
            done = _Done(documents.scheme.id, changes, made, self._index, counts.groups, counts.duplicates)
            yield from note_where_allowed(name, _note_name(documents), asdict(done))

    def _result(
        self,
        before: Mapping[str, _Done | None],
        progress: Progress,
        written: GroupsWritten,
        counts: _Counts,
        findings: Collection[Finding],
    ) -> Synced:
        last = next((done for done in before.values() if done and done.name == self._index), None)
        options, asked_before = deciding_options(self._grouping), self._last.asked
        return Synced(
            index=self._index,
            documents=counts.documents,
            fingerprinted=progress.written,
            rejected=progress.rejected + len(written.rejected),
            regrouped=written.written,
            groups=counts.groups,
            duplicates=counts.duplicates,
            new_groups=counts.groups - last.groups if last else None,
            new_duplicates=counts.duplicates - last.duplicates if last else None,
            late_changes=progress.unsettled,
            left_out=tuple(progress.left_out),
            findings=tuple(each for each in findings if each.level in ("warning", "stop")),
            seconds=round(time.monotonic() - self._started, 3),
            options=options,
            changed_options=changed_options(options, asked_before) if asked_before else {},
            alarms=written.alarms,
            learnt=progress.learnt,
        )


# ---- what was seen before


def _notes(index: str, documents: Documents) -> Plan[dict[str, _Done | None]]:
    """Return the note of the last run in each index that has our fields."""
    mappings = yield GetMappings(index)
    own = entries(mappings, documents.prefix)
    return {name: _Done.noted(mappings[name], documents) for name, entry in sorted(own.items()) if entry}


def _begun_where_noted(before: Mapping[str, _Done | None], documents: Documents) -> Plan[bool]:
    """Let the backfill begin where the last run has ended; return whether it will, in all indices.

    Of an index without a note, all texts may have changed after their fingerprints.
    """
    can_begin = True
    for name, done in before.items():
        begins = yield from attempt(_begin(name, done, documents))
        can_begin = can_begin and begins is not False
    return can_begin


def _begin(index: str, done: _Done | None, documents: Documents) -> Plan[bool]:
    changes = yield from make_visible(index, 0)
    if changes is None:
        return False
    if done and done.is_before(changes):
        seen, made = done.changes, done.fingerprints
    else:
        made = yield from fingerprints(index, documents)
        seen = [-1] * len(changes.last) if made else changes.safe
    if not changes.since(seen):
        return True
    try:
        yield from check_may_note(index)
    except AccessError:
        return False
    except IndexStateError:
        # Nobody changes texts in an index that is blocked.
        return True
    yield from begin(index, documents, seen, made)
    return begun((yield GetMappings(index))[index], documents) is not None


def _changes(done: _Done | None) -> list[int]:
    return done.changes if done else []


def _with_groups(seen: dict[str, list[int]], written: int) -> Plan[dict[str, list[int]]]:
    """Return the changes of each index that were seen; with those of the written groups, if there were no others."""
    now = {}
    for name in seen:
        now[name] = yield from changes_of(name, 0)
    if None in now.values() or sum(there.since(seen[name]) for name, there in now.items() if there) != written:
        return seen
    return {name: there.safe for name, there in now.items() if there}


# ---- counts


@dataclass(frozen=True)
class _Counts:
    documents: int
    groups: int
    duplicates: int


def _counts(index: str, documents: Documents) -> Plan[_Counts]:
    field = f"{documents.prefix}.{{}}".format
    total = yield Count(index, _ALL)
    in_group, size = {"exists": {"field": field(GROUP)}}, field(SIZE)
    are_duplicates = [in_group, {"exists": {"field": size}}, {"term": {field(IS_CANONICAL): False}}]
    duplicates = yield Count(index, {"bool": {"filter": are_duplicates}})
    groups = (yield from _groups_of(index, in_group, size, 2, total)) if total > 1 else 0
    return _Counts(total, groups, duplicates)


def _groups_of(index: str, in_group: Json, size: str, least: int, most: int) -> Plan[int]:
    """Count the groups of these sizes: of one size, groups have that many times as many documents."""
    found = yield Count(index, {"bool": {"filter": [in_group, {"range": {size: {"gte": least, "lte": most}}}]}})
    if not found or least == most:
        return int(found) // least
    middle = isqrt(least * most)
    lower = yield from _groups_of(index, in_group, size, least, middle)
    return lower + (yield from _groups_of(index, in_group, size, middle + 1, most))
