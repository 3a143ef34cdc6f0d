"""Checks of the engine: what it is, what the name stands for, the room on its disks, and what the login may do."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from es_simhash._core.humanize import with_unit
from es_simhash._core.json_codec import Json, is_false, is_true
from es_simhash.errors import AccessError
from es_simhash.live.doctor.facts import Disk, Facts, Finding, IndexFacts, rights_in
from es_simhash.plans.operations import GetInfo, Plan
from es_simhash.scheme.mapping import Change
from es_simhash.scheme.own_fields import bytes_a_document
from es_simhash.scheme.scheme import Scheme

# The releases that every change of this package is tested with.
TESTED = {"elasticsearch": (8, 9), "opensearch": (2, 3)}
_TITLES = {"elasticsearch": "Elasticsearch", "opensearch": "OpenSearch", "embedded": "the embedded engine"}


def check_engine(facts: Facts) -> Iterator[Finding]:
    """Check whether the engine is a tested one."""
    distribution, version = facts.engine.distribution, ".".join(map(str, facts.engine.version))
    title = f"{_TITLES.get(distribution, distribution)} {version}"
    tested = TESTED.get(distribution, facts.engine.version[:1])
    if not facts.engine.version:
        yield Finding(
            "engine",
            "note",
            f"You named the engine {_TITLES.get(distribution, distribution)}; its version is unknown.",
            f"Check that its version is known to work: {_known_to_work()}.",
        )
    elif facts.engine.version[0] in tested:
        yield Finding("engine", "ok", f"This is {title}.")
    else:
        remedy = f"Try it on a copy of the index first: known to work are {_known_to_work()}."
        yield Finding("engine", "warning", f"This is {title}, which es_simhash is not tested with.", remedy)


def _known_to_work() -> str:
    return "; ".join(f"{_TITLES[name]} {' and '.join(map(str, majors))}" for name, majors in TESTED.items())


def check_names(name: str, facts: Facts) -> Iterator[Finding]:
    """Check what a name stands for, unless it is an index."""
    concrete = [each.name for each in facts.indices]
    streams = [each["name"] for each in facts.behind.get("data_streams", [])]
    if streams:
        yield Finding.of(
            "indices",
            f"{name!r} has data streams ({_listed(streams)}): documents are updated in the indices behind them.",
            "Fields of indices that are made later come from the stream's template: give it those that "
            "`es-simhash init INDEX --field FIELD --template` prints.",
        )
    if concrete != [name]:
        what = "the index" if len(concrete) == 1 else f"{len(concrete)} indices:"
        yield Finding.of(
            "indices",
            f"{name!r} stands for {what} {_listed(concrete)}.",
            "Name fewer if not all are meant.",
        )


def _listed(names: list[str]) -> str:
    """List the first names, and count the rest."""
    more = len(names) - 10
    return ", ".join(names[:10]) + (f" and {more} more" if more > 0 else "")


def check_cluster(facts: Facts) -> Iterator[Finding]:
    """Check the blocks of the whole cluster."""
    blocks: Json = facts.cluster.get("blocks") or {}
    for name in ("read_only", "read_only_allow_delete"):
        if is_true(blocks.get(name)):
            yield Finding.of(
                "read-only",
                f"The cluster is set to cluster.blocks.{name}, so it takes no updates.",
                "Ask the person who set the block to remove it.",
            )


# ---- disks
#
# An update writes the whole document again, with the fields, and the old one stays until segments are merged. Until
# then each shard copy grows by its share of the due documents: their present bytes, and those of the fields.

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
        yield Finding.of(
            "disk-unknown",
            "This login cannot see how much room there is on the nodes' disks.",
            f"Check that there {room}.",
        )


def _of_disk(disk: Disk, needed: int, marks: Watermarks) -> Finding:
    left = disk.free - needed
    message = f"The node {disk.node!r} has {with_unit(disk.free)} free and needs up to {with_unit(needed)}"
    remedy = "Make room, or do a part at a time (--filter) and let segments merge in between."
    if left < marks.flood:
        limit = f"; below {with_unit(marks.flood)} it refuses writes" if marks.flood else ""
        return Finding("disk", "stop", f"{message}{limit}.", remedy)
    if left < marks.high:
        return Finding("disk", "warning", f"{message}; below {with_unit(marks.high)} it loses its shards.", remedy)
    return Finding("disk", "ok", f"{message}.")


# ---- rights

# How OpenSearch's security plugin refuses updates by somebody who sees parts only.
_HIDDEN_PARTS = "FLS or DLS or Fieldmasking"
# The privileges that every backfill needs, and the purpose of each.
_ALWAYS = {
    "read": "read documents",
    "view_index_metadata": "read mappings and settings",
    "index": "update documents (index, or write)",
    "maintenance": "refresh (maintenance, or manage)",
}


def check_rights(facts: Facts) -> Iterator[Finding]:
    """Check which privileges the login lacks, and whether it sees whole documents."""
    if facts.hides_rights:
        yield Finding.of(
            "privileges-unknown",
            "This engine does not show what a login may do with an index.",
            "Check that it may read, write (also bulk requests), refresh, and change the mapping.",
        )
    yield from _refused(facts.refused_updates)
    if facts.rights is None:
        return
    found = [finding for there in facts.indices for finding in _of_index(facts, there, facts.rights)]
    yield from found or [Finding("privileges", "ok", "The login may do all that a backfill does.")]


def _of_index(facts: Facts, there: IndexFacts, rights: Mapping[str, Mapping[str, bool]]) -> Iterator[Finding]:
    has = rights.get(there.name, {})
    needed = {**_ALWAYS, **({"manage": "change the mapping or settings"} if _needs_manage(facts, there) else {})}
    if missing := _missing(has, needed, there.name):
        yield missing
    yield from _hidden(there.name, facts.roles)


def _refused(updates: Mapping[str, str]) -> Iterator[Finding]:
    for index, reason in updates.items():
        if _HIDDEN_PARTS in reason:
            yield Finding.of(
                "hidden-parts",
                f"The login sees the index {index!r} in part, or masked, and the engine then refuses updates.",
                "Use a login without restrictions of documents and fields, and without masks.",
                index,
            )
        else:
            problem, _, remedy = reason.partition(". ")
            yield Finding("privileges", "stop", f"{problem}.", remedy or "Have the privilege granted.", index)


def _missing(has: Mapping[str, bool], needed: Mapping[str, str], index: str) -> Finding | None:
    missing = {name: what for name, what in needed.items() if not has.get(name)}
    if not missing:
        return None
    problem = f"The login may not {', '.join(missing.values())} in the index {index!r}."
    return Finding("privileges", "stop", problem, f"Have these privileges granted: {', '.join(missing)}.", index)


def check_rights_in_new(index: str) -> Plan[None]:
    """Refuse to create an index that the login may not fill, if the server shows its privileges."""
    if (yield GetInfo()).distribution != "elasticsearch":
        return
    rights = yield from rights_in([index])
    if rights and (missing := _missing(rights.get(index, {}), _ALWAYS, index)):
        raise AccessError(f"{missing.message} {missing.remedy}")


def _needs_manage(facts: Facts, there: IndexFacts) -> bool:
    change = facts.documents and there.change(facts.documents)
    return facts.changes_settings or bool(isinstance(change, Change) and change.body)


def _hidden(index: str, roles: Sequence[Json]) -> Iterator[Finding]:
    """Check whether roles hide parts of an index; one role without restrictions shows everything."""
    grants = [role for role in roles if any(fnmatchcase(index, pattern) for pattern in role["names"])]
    for key, what in (("field_security", "fields"), ("query", "documents")):
        if grants and all(role.get(key) for role in grants):
            yield Finding.of(
                "hidden-parts",
                f"The login does not see all {what} of the index {index!r}, and the engine then refuses updates.",
                f"Use a login without restrictions of {what}.",
                index,
            )
