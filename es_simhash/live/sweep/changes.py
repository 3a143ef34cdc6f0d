"""The changes of an index, which servers number shard by shard, and how to notice those of others.

If an index has had more changes since a moment than we have made, others write as well, and we must read again what
they changed: a text may have changed after it was fingerprinted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.plans.operation_retry import attempt, retry
from es_simhash.plans.operations import GetResource, Plan, Refresh


@dataclass(frozen=True)
class Changes:
    """For each shard, the number of the ``last`` change, and that of the highest ``safe`` one.

    Every copy of the shard has the safe change (the global checkpoint) and all before it, and no failure undoes them.
    """

    last: list[int]
    safe: list[int]

    def since(self, safe: Sequence[int]) -> int:
        """Count the changes since those that were safe earlier; a missing shard counts as changed."""
        count = sum(self.last) - sum(safe)
        return count if len(self.last) == len(safe) else max(1, count)


def make_visible(index: str, patience: float) -> Plan[Changes | None]:
    """Refresh an index, and return its changes just before: from now on, searches see all safe ones.

    The order matters: documents written between the two requests have higher numbers, so they are read again. The other
    way round they would count as seen by a search that could not see them.
    """
    changes = yield from changes_of(index, patience)
    yield from retry(Refresh(index), patience)
    return changes


def changes_of(index: str, patience: float) -> Plan[Changes | None]:
    """Return the changes of an index so far; None if the engine does not number them, or does not show the numbers."""
    fields = "indices.*.shards.*.seq_no,indices.*.shards.*.routing.primary"
    stats = GetResource(f"/{index}/_stats?level=shards&filter_path={fields}", index)
    reply = (yield from attempt(retry(stats, patience))) or {}
    found: list[Json] = [
        copy["seq_no"]
        for there in reply.get("indices", {}).values()
        for copies in there["shards"].values()
        for copy in copies
        if copy["routing"]["primary"]
    ]
    if not found:
        return None
    return Changes([each["max_seq_no"] for each in found], [each["global_checkpoint"] for each in found])
