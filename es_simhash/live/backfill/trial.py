"""How fast documents are read and fingerprinted, tried on some of them before a backfill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from es_simhash.documents.documents import Documents
from es_simhash.live.backfill.fingerprinting import Fingerprinting
from es_simhash.live.backfill.options import BackfillOptions, due_query
from es_simhash.live.sweep.reading import Part, Reading
from es_simhash.plans.operations import Plan

_MOST = 300


@dataclass(frozen=True)
class Trial:
    """The number of documents tried, how many a second that was, and the seconds that all would take, but for writing.

    A run may not be faster than its ``max_rate``.
    """

    documents: int
    documents_per_second: float
    seconds: float


def try_some(parts: Sequence[Part], documents: Documents, options: BackfillOptions) -> Plan[Trial | None]:
    """Read and fingerprint some documents of the index that has the most to do; None if nothing is due."""
    largest = max(parts, key=lambda part: part.due, default=None)
    if largest is None:
        return None
    work = Fingerprinting(documents)
    reading = Reading(largest.index, due_query(documents, options), work.source, None, options.patience)
    read, started = 0, perf_counter()
    while read < _MOST and (hits := (yield from reading.next())):
        work.prepare(hits)
        read += len(hits)
    rate = min(read / (perf_counter() - started), options.max_rate or float("inf"))
    yield from reading.close()
    return Trial(read, round(rate, 1), round(sum(part.due for part in parts) / rate, 1)) if read else None
