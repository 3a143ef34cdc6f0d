"""What a backfill takes on the disks of the nodes, and what they have.

An update writes a document anew, with the fields, and the old one stays until segments are merged. So until then each
shard copy grows by its share of the documents due: their bytes as they are, and those of the fields.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.live.doctor.facts import Disk, Facts, IndexFacts
from es_simhash.live.doctor.finding import Finding
from es_simhash.scheme import own_fields
from es_simhash.scheme.scheme import Scheme

# What a key takes in the index beside the document, measured in docs/benchmarks.md, and a little more.
_BYTES_A_KEY = 6
# Fingerprints have the same size whatever the text, once it is long enough.
_TOKENS = [f"token{number}" for number in range(100)]
_DEFAULTS = {"high": "90%", "flood_stage": "95%"}
_UNITS = {"b": 0, "kb": 10, "mb": 20, "gb": 30, "tb": 40, "pb": 50}


def json_bytes(scheme: Scheme) -> int:
    """How long the fields of a fingerprint are as JSON."""
    tokens = [(token, 1.0) for token in _TOKENS] if scheme.weights == "own" else _TOKENS
    [batch] = scheme.fingerprint_batches_of_tokens([tokens])
    [stored] = own_fields.write(scheme, scheme.id, [""], batch)
    return len(json.dumps(stored, separators=(",", ":")))


def bytes_a_document(scheme: Scheme) -> int:
    """What the fields add to an index for each document, at most: their JSON as if it were not compressed, and keys."""
    blocks = scheme.simhash.blocks if scheme.simhash else 0
    bands = scheme.minhash.bands if scheme.minhash else 0
    return json_bytes(scheme) + _BYTES_A_KEY * (blocks + bands)


def growth(there: IndexFacts, added: int) -> Mapping[str, int]:
    """How many bytes each node must have for one index until segments are merged, if a document gets ``added``."""
    needed: dict[str, int] = defaultdict(int)
    copies = there.copies or []
    share = there.due / there.documents if there.documents else 0.0
    primaries = sum(copy.is_primary for copy in copies)
    for copy in copies:
        # Those in a copy are about those of the index by its number of shards; its own number counts nested ones too.
        needed[copy.node] += round(share * copy.bytes + there.due / primaries * added)
    return needed


@dataclass(frozen=True)
class Watermarks:
    """How many bytes of a disk must stay free, so that shards stay there (``high``), and take writes (``flood``)."""

    high: int
    flood: int

    @classmethod
    def of(cls, disk: Json, total: int) -> Watermarks:
        """Those of a disk of so many bytes, by the settings ``cluster.routing.allocation.disk``."""
        if str(disk.get("threshold_enabled", "true")).lower() == "false":
            return cls(0, 0)
        marks: Json = disk.get("watermark") or {}
        return cls(_to_stay_free("high", marks, total), _to_stay_free("flood_stage", marks, total))


def _to_stay_free(name: str, marks: Json, total: int) -> int:
    """The bytes to stay free by a watermark, which gives them, or how full the disk may be: ``90%``, ``0.9``.

    Of a large disk no more than a headroom need stay free then.
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
    """The bytes that an engine's size means; None if it is no size."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgtp]?b)", text.lower())
    return int(float(match[1]) * 2 ** _UNITS[match[2]]) if match else None


def check_disks(facts: Facts, scheme: Scheme) -> Iterator[Finding]:
    """Whether the backfill fits on the disks."""
    needed: dict[str, int] = defaultdict(int)
    for there in facts.indices:
        for node, size in growth(there, bytes_a_document(scheme)).items():
            needed[node] += size
    if facts.engine.distribution == "embedded" or not any(there.due for there in facts.indices):
        return
    settings = facts.cluster.get("routing", {}).get("allocation", {}).get("disk", {})
    for node, size in needed.items():
        if disk := facts.disks.get(node):
            yield _of_disk(disk, size, Watermarks.of(settings, disk.total))
    if not needed or needed.keys() - facts.disks.keys():
        yield Finding(
            "disk-unknown",
            "note",
            "How much room there is on the nodes' disks is not told to this login.",
            f"See that there are about {in_words(sum(needed.values()))} free." if needed else "See that there is room.",
        )


def _of_disk(disk: Disk, needed: int, marks: Watermarks) -> Finding:
    left = disk.free - needed
    message = f"The node {disk.node!r} has {in_words(disk.free)} free and needs up to {in_words(needed)}"
    remedy = "Make room, or do a part at a time (--query, --since) and let segments merge in between."
    if left < marks.flood:
        limit = f"; below {in_words(marks.flood)} it takes no more writes" if marks.flood else ""
        return Finding("disk", "stop", f"{message}{limit}.", remedy)
    if left < marks.high:
        return Finding("disk", "warning", f"{message}; below {in_words(marks.high)} it loses its shards.", remedy)
    return Finding("disk", "ok", f"{message}.")


def in_words(size: int) -> str:
    """A number of bytes for people."""
    for unit, power in (("GB", 30), ("MB", 20), ("kB", 10)):
        if size >= 1 << power:
            return f"{size / (1 << power):,.1f} {unit}"
    return f"{size} bytes"
