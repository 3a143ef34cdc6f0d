"""Grouping what a job has left without a group, in an index whose documents get their groups as they come.

A backfill may have many documents. One run over all of them takes less time than a search for each, and leaves groups
that are settled.
"""

from __future__ import annotations

from contextlib import ExitStack

from es_simhash._core.environment import PATIENCE
from es_simhash._core.prefetch import Stop
from es_simhash._core.stages import counting
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.groups.of_index.run import group
from es_simhash.groups.of_index.writing import GroupsWritten, WriteOptions, write_groups
from es_simhash.groups.options import GroupOptions
from es_simhash.plans.operation_retry import retry
from es_simhash.plans.operations import Count


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
