"""Blocks and states that keep an index from being written to."""

from __future__ import annotations

from collections.abc import Iterator

from es_simhash._core.json_codec import Json, is_true
from es_simhash.live.doctor.facts import Facts, IndexFacts
from es_simhash.live.doctor.finding import Finding
from es_simhash.plans.open_index import CLOSED

_BLOCKS = ("read_only", "read_only_allow_delete", "write", "metadata", "read")
# `index.store.type` of Elasticsearch and of OpenSearch.
_SNAPSHOTS = ("snapshot", "remote_snapshot")


def check_cluster(facts: Facts) -> Iterator[Finding]:
    """Check the blocks of the whole cluster."""
    blocks: Json = facts.cluster.get("blocks") or {}
    for name in ("read_only", "read_only_allow_delete"):
        if is_true(blocks.get(name)):
            yield Finding(
                "read-only",
                "stop",
                f"The cluster is set to cluster.blocks.{name}, so it takes no updates.",
                "Ask the person who set the block to remove it.",
            )


def check_index(there: IndexFacts) -> Iterator[Finding]:
    """Check whether an index can be written to."""
    found = list(_reasons(there))
    yield from found or [Finding("writable", "ok", f"The index {there.name!r} can be written to.", index=there.name)]


def is_closed(there: IndexFacts) -> bool:
    """Return whether an index is closed; its settings then say so."""
    return there.is_set(CLOSED)


def _reasons(there: IndexFacts) -> Iterator[Finding]:
    name = there.name
    if is_closed(there):
        remedy = f"Open it with POST {name}/_open, or leave it out."
        yield Finding("closed", "stop", f"The index {name!r} is closed.", remedy, name)
    if there.settings.get("index.store.type") in _SNAPSHOTS or there.is_set("index.frozen"):
        yield Finding(
            "searchable-snapshot",
            "stop",
            f"The index {name!r} is a searchable snapshot, or frozen, and is never written to.",
            "Leave it out, or restore the snapshot as a plain index and name that.",
            name,
        )
        return  # its blocks come with that
    for block in _BLOCKS:
        if there.is_set(f"index.blocks.{block}"):
            yield Finding("read-only", "stop", *_of_block(name, block), name)


def _of_block(index: str, block: str) -> tuple[str, str]:
    """Describe a block of an index, and its remedy."""
    message = f"The index {index!r} is set to index.blocks.{block}"
    if block == "read_only_allow_delete":
        return f"{message}: its disk is nearly full.", "Make room; the engine then removes the block itself."
    return f"{message}.", "Ask the person who set the block to remove it, or leave the index out."
