"""Writing groups into documents: only fields that differ, and never over changes of others.

A run that is killed has written some of them; the next run finds the same groups with the same names, and writes the
rest. Of two runs at the same time, the one that finds a group of the other where it wanted to write stops with an
`InUseError`, so that no group is half of one run and half of the other (see `group_and_write`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Protocol

import numpy as np

from es_simhash._core.arguments import check_types
from es_simhash._core.batches import OnProgress, Stop, chunks, counting, prefetched, stage
from es_simhash._core.environment import PATIENCE
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import Rejected
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.errors import DocumentError, InputError, InUseError
from es_simhash.groups.groups import Groups
from es_simhash.groups.losses import Alarm, alarms_of_new
from es_simhash.groups.of_index.corpus import IndexCorpus, group
from es_simhash.groups.of_index.stored_fingerprints import BEGUN
from es_simhash.groups.options import GroupOptions, as_asked, deciding_options
from es_simhash.groups.pairs.stored_rows import Spools
from es_simhash.live.doctor.facts import Finding, check_accepted, losses, refusal, stopped
from es_simhash.live.sweep.reading import DocumentRef
from es_simhash.live.sweep.writing import Outcome, Pace, Prepared, Update, read_again, write
from es_simhash.plans.bulk import RequestSize
from es_simhash.plans.init import bring
from es_simhash.plans.open_index import grouping_noted, groups_note, note, note_where_allowed, noted
from es_simhash.plans.operations import Action, Count, GetMappings, Plan, Refresh, Wait, retry, retry_delays, retry_each
from es_simhash.plans.text_fields import foreign_in
from es_simhash.scheme import mapping
from es_simhash.scheme.mapping import SIZE
from es_simhash.scheme.own_fields import content_hash
from es_simhash.scheme.scope import Scope

_AT_ONCE, _WRITERS = 500, 2
_NOTED_AT_ONCE = 20 * _AT_ONCE
# How often groups are made again because their documents were changed in the meantime; the rest is for the next run.
_ROUNDS = 5


@dataclass
class GroupsWritten:
    """The counts of documents: ``written``; ``lost`` ones were changed or deleted by others, and are in no group now.

    ``rejected`` lists those that could not be written, with the reasons. The ``alarms`` name what has implausibly many
    duplicates among new documents. The groups are by the ``options``; ``changed_options`` has those of the run before,
    as far as they differ. If a filter left documents out, `Index.sync` goes on with those of the run before.
    """

    written: int = 0
    conflicts: int = 0
    refusals: int = 0
    lost: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    alarms: tuple[Alarm, ...] = ()
    options: Json = field(default_factory=dict)
    changed_options: Json = field(default_factory=dict)


@dataclass(frozen=True)
class WriteOptions:
    """The options of writing groups.

    With ``singles``, and where the policy groups documents as they come, documents in no group get one of their own, of
    size 1, as ``collapse`` needs it. At most
    ``max_rate`` documents a second are written. The engine is waited for ``patience`` seconds while it is away or
    overloaded. ``accept`` has the codes of findings that do not stop it.

    >>> with index.group() as found:
    ...     index.write_groups(found, singles=True).written
    3
    """

    singles: bool = False
    max_rate: float | None = None
    patience: float = PATIENCE
    accept: Collection[str] = ()

    def __post_init__(self) -> None:
        check_types(self)


def examine_writing(indices: Iterable[str], accepted: Collection[str] = ()) -> Plan[list[Finding]]:
    """Return the doctor's findings about writing groups into these indices, and raise those that stop it.

    No index can be left out: a group would then be written into some of its members only.
    """
    check_accepted(accepted)
    names = sorted(indices)
    findings = yield from losses(names, accepted)
    if stopped(names, findings):
        raise refusal(", ".join(names), findings)
    return findings


def write_groups(
    engine: Engine,
    groups: Groups[IndexCorpus],
    documents: Documents,
    options: WriteOptions | None = None,
    on_progress: OnProgress[GroupsWritten] | None = None,
    stop: Stop | None = None,
) -> GroupsWritten:
    """Write the fields of groups into their members, and remove them from documents that are no longer in a group.

    Findings of the doctor that stop it are raised (see `examine_writing`). Another thread can end it by ``stop``.
    """
    options = options or WriteOptions()
    corpus = groups.corpus
    if corpus.is_shard:
        raise InputError("A shard has no groups to write. Group without a shard when the files of all are there.")
    stoppable = StoppableEngine(engine, stop)
    with stoppable.stopped_by_errors(), stage("write"):
        run(examine_writing(corpus.indices, options.accept), stoppable)
        writing = _Writing(stoppable, groups, documents, options)
        writing.check()
        writing.prepare()
        try:
            for _ in range(_ROUNDS):
                lost = writing.go_through(on_progress or (lambda _: None))
                if not lost:
                    break
                groups.leave_out(lost)
        except InUseError:
            corpus.remove_kept()  # a run that went on with it would meet the same groups again
            raise
        writing.finish()
    return writing.done


class _Begun:
    """The documents that runs with kept stages began to write; nobody knows what an interrupted one has written.

    So those of an earlier run are written whatever they had when they were read.
    """

    def __init__(self, spools: Spools) -> None:
        self._stages = spools.stages
        self._spool = spools.spool(BEGUN)
        self.earlier = set(np.frombuffer(self._spool.read(0, len(self._spool)), dtype=np.int64).tolist())

    def noting(self, due: Iterable[tuple[int, Json]]) -> Iterator[tuple[int, Json]]:
        """Yield the same documents, and note them before."""
        for _, some in chunks(due, _NOTED_AT_ONCE if self._stages.is_kept else _AT_ONCE):
            if self._stages.is_kept:
                self._spool.write(np.array([position for position, _ in some], dtype=np.int64))
                self._stages.end(BEGUN, {})
            yield from some


def add_to_mapping(engine: Engine, name: str, documents: Documents, more: Json | None = None) -> dict[str, Json]:
    """Add the fields of groups to the mappings of the indices that have our fields; return the mappings before."""
    wanted = mapping.with_groups(documents.scheme.mapping(documents.prefix, documents.fields), more)
    mappings = engine.perform(GetMappings(name))
    ours = mapping.entries(mappings, documents.prefix)
    for index in ours:
        if ours[index]:
            run(bring(index, wanted), engine)
    return {index: mappings[index] for index in ours if ours[index]}


class _Writing:
    """One run; ``_present`` has the fields of groups that documents already have."""

    def __init__(
        self,
        engine: StoppableEngine,
        groups: Groups[IndexCorpus],
        documents: Documents,
        options: WriteOptions,
    ) -> None:
        self._engine = engine
        self._groups = groups
        self._corpus = groups.corpus
        self._documents = documents
        self._singles = options.singles or documents.policy.groups == "online"
        self._pace = Pace(options.max_rate)
        self._patience = options.patience
        self._present = self._corpus.present
        self._begun = _Begun(self._corpus.spools)
        self._noted_options: dict[str, Json] = {}
        self.done = GroupsWritten(options=deciding_options(self._corpus.options))

    def check(self) -> None:
        """Raise if documents that were not read would have to change."""
        part = self._corpus.part
        if part and part.singles != self._singles:
            raise InputError(
                f"Only new documents were read, and groups of one were {'' if part.singles else 'not '}written before. "
                f"Group with GroupOptions(singles={self._singles}) to change that."
            )

    def prepare(self) -> None:
        """Add the fields of groups to the mapping of each index; note the options, if they are others."""
        name, same = self._corpus.note
        more = self._corpus.copied.properties or {}
        if self._corpus.options.canonical.by_versions:
            more = more | mapping.SUPERSEDED_PROPERTIES
        for index in self._corpus.indices:
            for present in add_to_mapping(self._engine, index, self._documents, more).values():
                before = noted(present, name)
                asked = self._noted_options[index] = self._asked(before or {})
                if before is None:
                    run(note_where_allowed(index, name, asked), self._engine)
                elif before.get("of") != same:
                    run(note(index, name, asked), self._engine)

    def _asked(self, before: Json) -> Json:
        """Return the options to note: those of this run, unless it leaves documents out and another run did not."""
        asked, earlier = self.done.options, before.get("asked")
        if earlier is not None:
            self.done.changed_options |= changed_options(asked, earlier)
        if self._corpus.options.filter is not None and earlier is not None:
            return {"asked": earlier, "singles": before.get("singles", self._singles)}
        return {"asked": asked, "singles": self._singles}

    def go_through(self, on_progress: OnProgress[GroupsWritten]) -> set[int]:
        """Write the fields that differ; return the documents that were changed or deleted in the meantime."""
        lost: set[int] = set()
        pressure = RequestSize()
        write_batch = partial(self._write, pressure)
        batches = (dict(some) for _, some in chunks(self._begun.noting(self._due()), _AT_ONCE))
        with closing(prefetched(write_batch, batches, _WRITERS, self._engine.stop)) as outcomes:
            for outcome, positions in outcomes:
                lost |= positions
                self.done.written += outcome.written
                self.done.conflicts += outcome.conflicts
                self.done.refusals += outcome.refusals
                self.done.rejected += outcome.rejected
                self.done.lost += len(positions) - len(outcome.rejected)
                on_progress(self.done)
        return lost

    def finish(self) -> None:
        """Make the groups visible, and note up to which changes of each index they were found.

        If the login may not change the mapping, an older note, or none, means that more is compared next time.
        """
        (name, same), members = self._corpus.note, self._members()
        for index, changes in self._corpus.indices.items():
            run(retry(Refresh(index), self._patience), self._engine)
            there = {**self._noted_options[index], "of": same, "changes": changes or [], "members": members[index]}
            run(note_where_allowed(index, name, there), self._engine)

    def _members(self) -> Counter[str]:
        """Count the documents of each index that are now in groups of several."""
        members = self._in_groups_of_several(self._present)
        if part := self._corpus.part:
            members.update(part.members)
            members.subtract(self._in_groups_of_several(dict(self._corpus.refs.stored_groups())))
        return members

    def _in_groups_of_several(self, present: Mapping[int, Json]) -> Counter[str]:
        several = [place for place, own in present.items() if mapping.is_settled(own) and own[SIZE] > 1]
        return Counter(index for index, _ in self._corpus.keys(several))

    def _due(self) -> Iterator[tuple[int, Json]]:
        """Yield the documents whose fields must change, and the new fields; none to remove them."""
        earlier = self._begun.earlier
        stale = {*self._present, *earlier}
        for position, own in self._fields():
            stale.discard(position)
            if position in earlier or self._known(position) != own:
                yield position, own
        for position in sorted(stale - self._groups.left_out):
            if position in earlier or self._present[position]:
                yield position, {}

    def _known(self, position: int) -> Json:
        """Return the fields that a document has; a run that adds to groups leaves what earlier versions wrote."""
        there = self._present.get(position, {})
        return mapping.as_written_now(there) if self._corpus.is_incremental else there

    def _fields(self) -> Iterator[tuple[int, Json]]:
        """Yield the fields of each member, those copied from the canonical document as well."""
        corpus, copied = self._corpus, self._corpus.copied
        for _, some in chunks(self._groups.fields(self._singles), _AT_ONCE):
            own = dict(some)
            if copied.paths:
                duplicates = [position for position in own if not own[position][mapping.IS_CANONICAL]]
                canonicals = self._groups.canonicals[duplicates].tolist()
                there = zip(duplicates, canonicals, strict=True)
                copied.add({position: (own[position], canonical) for position, canonical in there}, corpus.hits)
            yield from own.items()

    def _write(self, pressure: RequestSize, batch: dict[int, Json]) -> tuple[Outcome, set[int]]:
        """Write a batch; return its outcome, and the documents that were changed, deleted or rejected."""
        refs = dict(zip(batch, self._corpus.refs.take(list(batch)), strict=True))
        positions = {_key(refs[each]): each for each in batch}
        unsure = self._begun.earlier
        settling = Settling(self._documents, self._corpus, positions, batch, self._present, unsure)
        there = {position: self._present.get(position, {}) for position in batch}
        updates = [(refs[position], settling.update(refs[position], position, there[position])) for position in batch]
        run(self._pace.turn(len(updates)), self._engine)
        outcome = run(write(settling, Prepared(updates=updates), pressure, self._patience), self._engine)
        unwritten = {(each.index, each.id) for each in outcome.rejected} | set(map(_key, outcome.missing))
        lost = settling.lost | {position for key, position in settling.positions.items() if key in unwritten}
        self._present.update((position, own) for position, own in batch.items() if position not in lost)
        unsure.difference_update(batch)
        return outcome, lost


class Members(Protocol):
    """The documents of groups, as they were read."""

    @property
    def scope_paths(self) -> tuple[str, ...]:
        """The fields of the scope."""
        ...

    def has(self, position: int, document: Json, content: str) -> bool:
        """Return whether a document still has the values of the scope that were read, and its text this hash."""
        ...


@dataclass(frozen=True)
class Settling:
    """The updates of a batch, and what to do about documents that have changed since they were read.

    ``present`` has the groups that documents had; with it, other groups are those of another run, which is an error,
    except on documents in ``unsure``, which an interrupted run may have written.
    """

    documents: Documents
    grouped: Members
    positions: dict[tuple[str, str], int]
    wanted: dict[int, Json]
    present: Mapping[int, Json] | None = None
    unsure: Collection[int] = ()
    lost: set[int] = field(default_factory=set)

    def update(self, ref: DocumentRef, position: int, there: Json) -> Action:
        """Make the update of a document that has the fields ``there``."""
        return self._update(ref, mapping.replacing(there, self.wanted[position]))

    def _update(self, ref: DocumentRef, own: Json) -> Action:
        return Action("update", ref.id, {"doc": {self.documents.prefix: own}}, ref.index, ref.metadata)

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        """Repeat updates if only other fields have changed; if the text has, the document leaves its group."""
        prepared = Prepared()
        source = [*self.documents.fields, self.documents.prefix, *self.grouped.scope_paths]
        for index in sorted({ref.index for ref, _ in conflicts}):
            there = [update for update in conflicts if update[0].index == index]
            replies = yield from read_again(index, there, source, patience)
            for (ref, _), reply in zip(there, replies, strict=True):
                self._settle(self.positions[_key(ref)], reply, prepared)
        return prepared

    def _settle(self, position: int, reply: Json, prepared: Prepared) -> None:
        if not reply["found"]:
            self.lost.add(position)
            prepared.gone += 1
            return
        ref, source = DocumentRef.of(reply), reply.get("_source") or {}
        stored: Json = {} if foreign_in(self.documents, source) else source.get(self.documents.prefix) or {}
        if self._is_as_it_was(position, reply, stored):
            there = mapping.stored_in(stored)
            if there == self.wanted[position]:
                prepared.current += 1
                return
            if self._is_of_another_run(position, there):
                raise InUseError(
                    f"Another program writes groups of the index {ref.index!r} at the same time. "
                    "Run this again when that has ended."
                )
            prepared.updates.append((ref, self.update(ref, position, there)))
            return
        self.lost.add(position)
        if stale := mapping.stored_in(stored):
            prepared.updates.append((ref, self._update(ref, dict.fromkeys(stale))))

    def _is_of_another_run(self, position: int, there: Json) -> bool:
        if self.present is None or position in self.unsure:
            return False
        return mapping.is_settled(there) and there != self.present.get(position, {})

    def _is_as_it_was(self, position: int, reply: Json, stored: Json) -> bool:
        """Return whether the text still matches the fingerprint, and this and the scope those that were read."""
        source = reply.get("_source") or {}
        try:
            content = content_hash(self.documents.text_of(source))
        except DocumentError:
            return False
        same_scheme = stored.get("scheme") == self.documents.scheme.id
        return same_scheme and stored.get("content") == content and self.grouped.has(position, source, content)


def _key(ref: DocumentRef) -> tuple[str, str]:
    return ref.index, ref.id


# How often groups are made again while other programs write groups of the same index.
_MOST_MET = 4
_ALL: Json = {"match_all": {}}


def reconcile(
    engine: Engine, index: str, documents: Documents, patience: float = PATIENCE, stop: Stop | None = None
) -> GroupsWritten | None:
    """Group what is new, and write the groups, if the policy of the index says so."""
    if documents.policy.groups != "online":
        return None
    last = run(retry_each(last_run(index, documents), patience), StoppableEngine(engine, stop))
    options = as_asked(last.asked, documents.fields, incremental=True, patience=patience)
    how = WriteOptions(singles=last.singles, patience=patience)
    return group_and_write(engine, index, documents, options, how, stop=stop)


@dataclass(frozen=True)
class LastRun:
    """The options that the last run which wrote groups ``asked`` for (see `deciding_options`)."""

    asked: Json
    singles: bool


def last_run(index: str, documents: Documents, given: Collection[str] = ()) -> Plan[LastRun]:
    """Read the options of the last run from the notes of the indices behind a name.

    The indices must agree, except in options that are ``given``. An index without a note has no groups yet, or the
    login may not change its mapping.
    """
    mappings = yield GetMappings(index)
    notes = {name: grouping_noted(mapping, documents) for name, mapping in sorted(mappings.items())}
    runs = {name: LastRun(**each) for name, each in notes.items() if each}
    first = next(iter(runs), None)
    for name, each in runs.items():
        assert first
        differing = {key for key in each.asked | runs[first].asked if each.asked.get(key) != runs[first].asked.get(key)}
        if missing := sorted(differing - set(given)):
            raise InputError(
                f"The groups of {first!r} and {name!r} were written with different options: {', '.join(missing)}. "
                f"Write those of {index!r} once by group, with the options that count."
            )
    return runs[first] if first else LastRun({}, singles=False)


def changed_options(options: Json, before: Json) -> Json:
    """Return the options of a run before that are others now; None stands for the default."""
    return {name: before.get(name) for name in options | before if options.get(name) != before.get(name)}


def changes_in_words(options: Json, changed: Json) -> Iterator[str]:
    """Say which options are others now than in the run before."""
    for name, before in changed.items():
        what = "Canonical documents are now by" if name == "canonical" else f"Groups are now by {name}"
        yield f"{what} {_in_words(options.get(name))} (before: {_in_words(before)})."


def _in_words(value: Any) -> str:
    if value is None:
        return "the default"
    return str(Scope.from_json(value)) if isinstance(value, dict) else str(value)


def group_and_write(
    engine: Engine,
    index: str,
    documents: Documents,
    options: GroupOptions,
    how: WriteOptions,
    on_written: OnProgress[GroupsWritten] = lambda _: None,
    stop: Stop | None = None,
) -> GroupsWritten:
    """Group the documents of an index, and write the groups.

    If another program writes groups of it at the same time, all documents are grouped again when it may have ended. So
    the program that ends last leaves the groups as if it had been alone.
    """
    waits = islice(retry_delays(options.patience), _MOST_MET)
    while True:
        try:
            return _group_and_write(engine, index, documents, options, how, on_written, Stop(stop))
        except InUseError:
            if (seconds := next(waits, None)) is None:
                raise
        run(_wait(seconds), StoppableEngine(engine, stop))


def _group_and_write(
    engine: Engine,
    index: str,
    documents: Documents,
    options: GroupOptions,
    how: WriteOptions,
    on_written: OnProgress[GroupsWritten],
    stop: Stop,
) -> GroupsWritten:
    total = run(retry(Count(index, _ALL), options.patience), StoppableEngine(engine, stop))
    with ExitStack() as stack:
        with counting("Reading what to group", total) as advance:
            # All texts may be empty.
            found = group(engine, index, documents, options, advance, stop, may_be_nothing=True)
            grouped = stack.enter_context(found)
        alarms = alarms_of_new(grouped)
        with counting("Writing groups", total) as advance:

            def show(done: GroupsWritten) -> None:
                advance(done.written)
                on_written(done)

            try:
                return replace(write_groups(engine, grouped, documents, how, show, stop), alarms=alarms)
            except InUseError:
                # Nothing can be added to groups that two programs have written: the next run reads everything.
                for each in grouped.corpus.indices:
                    run(_forget_changes(each, documents), engine)
                raise


def _forget_changes(index: str, documents: Documents) -> Plan[None]:
    """Keep only the options in the note about groups."""
    kept = grouping_noted((yield GetMappings(index))[index], documents)
    yield from note_where_allowed(index, groups_note(documents), kept)


def _wait(seconds: float) -> Plan[None]:
    yield Wait(seconds)
