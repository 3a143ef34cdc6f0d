"""The changes of an index, which servers number shard by shard: what has been seen of them, and whether others write.

If an index has more changes since a moment than we have written, others write as well, and what they changed has to be
looked at once more: a text may have changed after its fingerprint was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.errors import EngineError, UnavailableError, UnreachableError
from es_simhash.plans.operations import GetResource, Plan, Refresh
from es_simhash.plans.retry import retry


@dataclass(frozen=True)
class Changes:
    """The numbers of the changes of each shard: the ``last`` one, and the highest ``safe`` one.

    Every copy of the shard has the safe one (the global checkpoint) and all before it, and no failure takes them back.
    """

    last: list[int]
    safe: list[int]

    def since(self, safe: Sequence[int]) -> int:
        """Count the changes since those that were safe at another moment; a shard that is away counts as changed."""
        count = sum(self.last) - sum(safe)
        return count if len(self.last) == len(safe) else max(1, count)


def make_visible(index: str, patience: float) -> Plan[Changes | None]:
    """Refresh an index, and return its changes as of just before: from now on searches see every safe one of them.

    The order matters. What is written between the two requests is above these numbers, and so is looked at once more;
    the other way round it would count as seen by a search that cannot have seen it.
    """
    changes = yield from changes_of(index, patience)
    yield from retry(Refresh(index), patience)
    return changes


def changes_of(index: str, patience: float) -> Plan[Changes | None]:
    """Return the changes of an index so far; None where the engine has no numbers for them, or keeps them secret."""
    fields = "indices.*.shards.*.seq_no,indices.*.shards.*.routing.primary"
    try:
        reply = yield from retry(GetResource(f"/{index}/_stats?level=shards&filter_path={fields}", index), patience)
    except (UnreachableError, UnavailableError):
        raise
    except EngineError:
        return None
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
