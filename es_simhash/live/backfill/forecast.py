"""What a backfill will take, before it begins: hours, disk, heap and machines, from the live index."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from time import perf_counter, thread_time

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.live.backfill.fingerprinting import Fingerprinting
from es_simhash.live.backfill.options import BackfillOptions, due_query
from es_simhash.live.backfill.simulation import Cluster, Failures, Forecast, forecast
from es_simhash.live.doctor.disk import growth
from es_simhash.live.doctor.facts import Due, Facts, gather
from es_simhash.live.sweep.reading import Reading
from es_simhash.plans.operation_retry import attempt
from es_simhash.plans.operations import Count, GetMappings, GetResource, Plan
from es_simhash.scheme.field_bytes import bytes_a_document

NODES = (1, 2, 4, 8, 16)
# Measured (docs/benchmarks.md, "Backfills by size, Elasticsearch"): documents a second of a million, of this many bytes
# with the fields, on one node with two cores.
MEASURED_RATE, MEASURED_BYTES, MEASURED_CORES = 8_073.0, 1_945.0, 2
# A server counts bytes of requests that it has not answered, and refuses more than this share of its heap.
_PRESSURE = 0.1
# What the requests of one slice take there: two pages on their way, parsed.
_BYTES_A_SLICE, _COPIES_PARSED = 2 << 20, 3
# The least heap that was measured with, and a client's memory.
_LEAST_HEAP, CLIENT_BYTES = 512 << 20, 150 << 20
# A slice computes for this share of a core's time at most.
_BUSY = 0.8


@dataclass(frozen=True)
class Trial:
    """What was measured on the index: of ``documents`` read, seconds to read one, and of a core to fingerprint it."""

    documents: int
    reading: float
    computing: float


@dataclass(frozen=True)
class Node:
    """A node that holds data: its processors and its heap, in bytes."""

    name: str
    cores: int
    heap: int


@dataclass(frozen=True)
class Needs:
    """What a number of nodes takes: the forecast, slices to start, and bytes of each node's heap and disk."""

    forecast: Forecast
    slices: int
    heap: int
    disk: int


@dataclass(frozen=True)
class BackfillForecast:
    """The plan of a backfill of the ``due`` ones among ``documents``.

    ``bytes`` is what a document takes now, and ``added`` what its fields add, at most; ``peak`` is what the disks need
    in all until segments are merged; ``free`` is what they have, None if that is unknown. ``rate`` is how many
    documents a node writes a second: ``by`` "given", or "benchmark".
    """

    index: str
    documents: int
    due: int
    shards: int
    replicas: int
    bytes: int
    added: int
    peak: int
    free: int | None
    nodes: Sequence[Node]
    trial: Trial | None
    rate: float
    by: str
    needs: Sequence[Needs]


@dataclass(frozen=True)
class ForecastOptions:
    """The assumptions: a node's measured ``rate``, if there is one, ``failures``, documents to try, and a seed."""

    rate: float | None = None
    failures: Failures = field(default_factory=Failures)
    trial: int = 300
    seed: int = 0


def plan_backfill(index: str, documents: Documents, options: ForecastOptions) -> Plan[BackfillForecast]:
    """Measure reading and fingerprinting of some documents, and simulate the backfill on 1 to 16 nodes.

    Nothing is written.
    """
    query = due_query(documents, BackfillOptions())
    dues = []
    for name in sorted((yield GetMappings(index))):
        dues.append(Due(name, (yield Count(name, query)), (yield Count(name, {"match_all": {}}))))
    facts = yield from gather(index, documents, dues, changes_settings=False)
    nodes = (yield from _nodes()) or [Node("here", os.cpu_count() or 1, 0)]
    trial = (yield from _try(dues, documents, query, options.trial)) if options.trial else None
    return _planned(index, facts, documents, nodes, trial, options)


def _try(dues: Sequence[Due], documents: Documents, query: Json, most: int) -> Plan[Trial | None]:
    """Read some documents of the index with most of them, and fingerprint them."""
    largest = max(dues, key=lambda each: each.due)
    work = Fingerprinting(documents)
    reading = Reading(largest.index, query, work.source, None, patience=0)
    read, seconds, computing = 0, 0.0, 0.0
    while read < most:
        started = perf_counter()
        hits = yield from reading.next()
        seconds += perf_counter() - started
        if not hits:
            break
        started = thread_time()
        work.prepare(hits)
        computing += thread_time() - started
        read += len(hits)
    yield from reading.close()
    return Trial(read, seconds / read, computing / read) if read else None


def _nodes() -> Plan[list[Node]]:
    """Find the nodes that hold data; none where the engine has none, or does not show them."""
    parts = "name,nodes.*.roles,nodes.*.os.allocated_processors,nodes.*.jvm.mem.heap_max_in_bytes"
    reply = (yield from attempt(GetResource(f"/_nodes/os,jvm?filter_path=nodes.*.{parts}"))) or {}
    return list(_of_reply(reply))


def _of_reply(reply: Json) -> Iterator[Node]:
    for node in (reply.get("nodes") or {}).values():
        if any(role.startswith("data") for role in node.get("roles", ["data"])):
            cores = node.get("os", {}).get("allocated_processors", MEASURED_CORES)
            yield Node(node.get("name", ""), cores, node.get("jvm", {}).get("mem", {}).get("heap_max_in_bytes", 0))


def _planned(
    index: str, facts: Facts, documents: Documents, nodes: Sequence[Node], trial: Trial | None, options: ForecastOptions
) -> BackfillForecast:
    copies = [copy for there in facts.indices for copy in there.copies or ()]
    total, due = (sum(getattr(each, name) for each in facts.indices) for name in ("documents", "due"))
    shards = sum(copy.is_primary for copy in copies) or 1
    replicas = max(round(len(copies) / shards) - 1, 0)
    of_primaries = sum(copy.bytes for copy in copies if copy.is_primary)
    size = round(of_primaries / total) if total and copies else round(MEASURED_BYTES)
    added = bytes_a_document(documents.scheme, [text for there in facts.indices for text in there.texts])
    peak = sum(sum(growth(there, added).values()) for there in facts.indices) or due * (size + added)
    cores = sum(node.cores for node in nodes) / len(nodes)
    rate = options.rate or MEASURED_RATE * cores / MEASURED_CORES * MEASURED_BYTES / (size + added)
    counts = sorted({*NODES, len(nodes)})
    clusters = [Cluster(due, due * (size + added), shards, replicas, count, rate) for count in counts]
    return BackfillForecast(
        index=index,
        documents=total,
        due=due,
        shards=shards,
        replicas=replicas,
        bytes=size,
        added=added,
        peak=peak,
        free=sum(disk.free for disk in facts.disks.values()) if facts.disks else None,
        nodes=nodes,
        trial=trial,
        rate=rate,
        by="given" if options.rate else "benchmark",
        needs=[_needs(cluster, peak, trial, options) for cluster in clusters],
    )


def _needs(cluster: Cluster, peak: int, trial: Trial | None, options: ForecastOptions) -> Needs:
    copies = min(cluster.replicas + 1, cluster.nodes)
    # Nodes without a shard do nothing.
    working = min(cluster.nodes, cluster.shards * copies)
    together = cluster.rate * working / copies
    computing = trial.computing if trial else 0.0
    slices = max(ceil(together * computing / _BUSY), 1)
    in_flight = slices * _BYTES_A_SLICE * _COPIES_PARSED * copies / working
    heap = max(_LEAST_HEAP, ceil(in_flight / _PRESSURE))
    return Needs(forecast(cluster, options.failures, options.seed), slices, heap, ceil(peak / working))
