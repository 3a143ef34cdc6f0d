"""The disk space that a backfill needs on each node, and the space that is free.

An update writes the whole document again, with the fields, and the old one stays until segments are merged. Until then
each shard copy grows by its share of the due documents: their present bytes, and those of the fields.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from es_simhash._core.humanize import with_unit
from es_simhash._core.json_codec import Json, is_false
from es_simhash.live.doctor.facts import Disk, Facts, IndexFacts
from es_simhash.live.doctor.finding import Finding
from es_simhash.scheme.field_bytes import bytes_a_document
from es_simhash.scheme.scheme import Scheme

_DEFAULTS = {"high": "90%", "flood_stage": "95%"}
_UNITS = {"b": 0, "kb": 10, "mb": 20, "gb": 30, "tb": 40, "pb": 50}


def growth(there: IndexFacts, added: int) -> Mapping[str, int]:
    """Return the bytes that each node needs for an index until segments are merged; each document gets ``added``."""
    needed: dict[str, int] = defaultdict(int)
    copies = there.copies or []
    share = there.due / there.documents if there.documents else 0.0
    primaries = sum(copy.is_primary for copy in copies)
    for copy in copies:
        # A copy holds about its part of the documents; its own count includes nested documents.
        needed[copy.node] += round(share * copy.bytes + there.due / primaries * added)
    return needed


@dataclass(frozen=True)
class Watermarks:
    """The free bytes that a disk needs to keep its shards (``high``), and to take writes (``flood``)."""

    high: int
    flood: int

    @classmethod
    def of(cls, disk: Json, total: int) -> Watermarks:
        """Compute the watermarks of a disk of ``total`` bytes from the settings ``cluster.routing.allocation.disk``."""
        if is_false(disk.get("threshold_enabled")):
            return cls(0, 0)
        marks: Json = disk.get("watermark") or {}
        return cls(_to_stay_free("high", marks, total), _to_stay_free("flood_stage", marks, total))


def _to_stay_free(name: str, marks: Json, total: int) -> int:
    """Return the bytes that a watermark keeps free: a size, or how full the disk may be (``90%``, ``0.9``).

    On a large disk, a relative watermark keeps no more than a headroom free.
    """
    mark = str(marks.get(name, _DEFAULTS[name]))
    size = _bytes(mark)
    if size is not None:
        return size
    full = float(mark.removesuffix("%")) / (100 if mark.endswith("%") else 1)
    headroom = _bytes(str(marks.get(f"{name}.max_headroom")))
    free = round(total * (1 - full))
    return free if headroom is None else min(free, headroom)


def _bytes(text: str) -> int | None:
    """Parse a size in the engine's notation; None if it is not one."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgtp]?b)", text.lower())
    return int(float(match[1]) * 2 ** _UNITS[match[2]]) if match else None


def check_disks(facts: Facts, scheme: Scheme) -> Iterator[Finding]:
    """Check whether the backfill fits on the disks."""
    needed: dict[str, int] = defaultdict(int)
    for there in facts.indices:
        for node, size in growth(there, bytes_a_document(scheme, there.texts)).items():
            needed[node] += size
    if facts.engine.distribution == "embedded" or not any(there.due for there in facts.indices):
        return
    settings = facts.cluster.get("routing", {}).get("allocation", {}).get("disk", {})
    for node, size in needed.items():
        if disk := facts.disks.get(node):
            yield _of_disk(disk, size, Watermarks.of(settings, disk.total))
    if not needed or needed.keys() - facts.disks.keys():
        room = f"are about {with_unit(sum(needed.values()))} free" if needed else "is room"
        yield Finding(
            "disk-unknown",
            "note",
            "This login cannot see how much room there is on the nodes' disks.",
            f"Check that there {room}.",
        )


def _of_disk(disk: Disk, needed: int, marks: Watermarks) -> Finding:
    left = disk.free - needed
    message = f"The node {disk.node!r} has {with_unit(disk.free)} free and needs up to {with_unit(needed)}"
    remedy = "Make room, or do a part at a time (--filter, --since) and let segments merge in between."
    if left < marks.flood:
        limit = f"; below {with_unit(marks.flood)} it refuses writes" if marks.flood else ""
        return Finding("disk", "stop", f"{message}{limit}.", remedy)
    if left < marks.high:
        return Finding("disk", "warning", f"{message}; below {with_unit(marks.high)} it loses its shards.", remedy)
    return Finding("disk", "ok", f"{message}.")
