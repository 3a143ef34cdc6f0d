"""Grouping the documents of an index: read their fingerprints, link near-duplicates, make groups of links."""

from __future__ import annotations

from contextlib import ExitStack

from es_simhash._core.environment import PATIENCE
from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json
from es_simhash._core.prefetch import Stop
from es_simhash._core.stages import OnProgress, counting, rarely_collected, stage
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.errors import InputError, ReaderLostError
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_index.corpus import IndexCorpus
from es_simhash.groups.of_index.reading import IndexReading
from es_simhash.groups.of_index.writing import GroupsWritten, WriteOptions, write_groups
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.spool import Spools
from es_simhash.live.sweep.reading import MOST_LOSSES
from es_simhash.plans.open_index import without_fingerprints
from es_simhash.plans.operation_retry import retry
from es_simhash.plans.operations import Count, Plan

_ALL: Json = {"match_all": {}}


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
    options, how = GroupOptions(incremental=True, patience=patience), WriteOptions(patience=patience)
    count = run(retry(Count(index, {"match_all": {}}), patience), StoppableEngine(engine, stop))
    with ExitStack() as stack:
        with counting("Reading what to group", count) as advance:
            # All texts may be empty.
            found = group(engine, index, documents, options, advance, stop, may_be_nothing=True)
            grouped = stack.enter_context(found)
        with counting("Writing groups", count) as advance:
            return write_groups(engine, grouped, documents, how, lambda done: advance(done.written), stop)
