"""Grouping the documents of an index: read their fingerprints, link near-duplicates, make groups of links."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice

from es_simhash._core.environment import PATIENCE
from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json
from es_simhash._core.prefetch import Stop
from es_simhash._core.stages import OnProgress, counting, rarely_collected, stage
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.errors import InputError, InUseError, ReaderLostError
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_index.corpus import IndexCorpus
from es_simhash.groups.of_index.reading import IndexReading
from es_simhash.groups.of_index.writing import GroupsWritten, WriteOptions, write_groups
from es_simhash.groups.options import GroupOptions, as_asked
from es_simhash.groups.pairs.spool import Spools
from es_simhash.live.sweep.reading import MOST_LOSSES
from es_simhash.plans.open_index import grouping_noted, groups_note, note_where_allowed, without_fingerprints
from es_simhash.plans.operation_retry import retry, retry_delays, retry_each
from es_simhash.plans.operations import Count, GetMappings, Plan, Wait

_ALL: Json = {"match_all": {}}

# How often groups are made again while other programs write groups of the same index.
_MOST_MET = 4


def group(
    engine: Engine,
    index: str,
    documents: Documents,
    options: GroupOptions | None = None,
    on_progress: OnProgress[int] | None = None,
    stop: Stop | None = None,
    *,
    may_be_nothing: bool = False,
) -> Groups[IndexCorpus]:
    """Find all groups of near-duplicates in an index, or in those behind a name.

    Documents that all lack a fingerprint are an error, unless there ``may_be_nothing`` to group.
    ``on_progress`` is called with the number of documents read. Another thread can end the job by ``stop``.
    """
    options = options or GroupOptions()
    stoppable = StoppableEngine(engine, stop)
    losses = 0
    with stoppable.stopped_by_errors():
        while True:
            spools = Spools.within(options.memory, options.directory)
            try:
                reading = IndexReading(stoppable, documents, options, spools)
                with rarely_collected(), stage("read"):
                    reading.read(index, on_progress or (lambda _: None))
                if not may_be_nothing:
                    run(_check(index, documents, options, reading), stoppable)
                with stage("compare"):
                    return IndexCorpus(stoppable, documents, reading).grouped()
            except ReaderLostError:
                # Reading on would read some documents twice, which would count as near-duplicates of themselves.
                spools.close()
                losses += 1
                if losses > MOST_LOSSES:
                    raise
            except BaseException:
                spools.close()
                raise


def _check(index: str, documents: Documents, options: GroupOptions, reading: IndexReading) -> Plan[None]:
    """Raise if there are documents, and nothing was read of them from which groups could follow."""
    if len(reading.refs) or reading.in_shard or reading.part:
        return
    count = yield Count(index, _ALL)
    matching = (yield Count(index, options.filter)) if count and options.filter else count
    if count and not matching:
        raise InputError(f"None of {counted(count, 'document')} of {index!r} matches the filter. Correct it.")
    if matching and options.shard is None:
        raise without_fingerprints(index, documents, matching)


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
    """The options that the last run which wrote groups ``asked`` for (see `es_simhash.groups.options.asked`)."""

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
        with counting("Writing groups", total) as advance:

            def show(done: GroupsWritten) -> None:
                advance(done.written)
                on_written(done)

            try:
                return write_groups(engine, grouped, documents, how, show, stop)
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
