"""Grouping what a job has left without a group, in an index whose documents get their groups as they come.

A backfill may have many documents. One run over all of them takes less time than a search for each, and leaves groups
that are settled.
"""

from __future__ import annotations

from es_simhash._core.environment import PATIENCE
from es_simhash._core.prefetch import Stop
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine
from es_simhash.groups.of_index.options import GroupOptions
from es_simhash.groups.of_index.run import group
from es_simhash.groups.of_index.writing import GroupsWritten, WriteOptions, write_groups


def reconcile(
    engine: Engine, index: str, documents: Documents, patience: float = PATIENCE, stop: Stop | None = None
) -> GroupsWritten | None:
    """Group what is new, and write the groups, if the policy of the index says so."""
    if documents.policy.groups != "online":
        return None
    options = GroupOptions(incremental=True, patience=patience)
    # All texts may be empty.
    with group(engine, index, documents, options, stop=stop, may_be_nothing=True) as grouped:
        return write_groups(engine, grouped, documents, WriteOptions(patience=patience), stop=stop)
