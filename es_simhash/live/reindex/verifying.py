"""Verifying a copy of an index: the number of documents, and a sample of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from es_simhash._core.json_codec import Json
from es_simhash._core.stages import counted_each, counting
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.live.reindex.survey import Copying
from es_simhash.live.sweep.reading import Reading
from es_simhash.plans.operation_retry import retry
from es_simhash.plans.operations import Count, GetInfo, Plan, Refresh, Search, Slice
from es_simhash.plans.reply_size import documents_by_id

_EVERYTHING: Json = {"match_all": {}}
_AT_A_TIME = 50
# The most documents that one search finds (index.max_result_window).
_MOST_FOUND = 10_000


@dataclass
class Verified:
    """The comparison: the ``documents`` of the source, the ``copies`` in the destination, the number ``compared``.

    ``different`` documents have no correct copy; ``extra`` copies are of documents no longer in the source.
    """

    JSON = ("*", "missing")

    documents: int = 0
    copies: int = 0
    compared: int = 0
    different: list[Rejected] = field(default_factory=list)
    extra: int = 0

    @property
    def missing(self) -> int:
        """The number of documents without a copy."""
        return max(0, self.documents - (self.copies - self.extra))

    @property
    def is_whole(self) -> bool:
        """Whether the comparison found nothing wrong."""
        return self.documents == self.copies and not self.different


def verify(source: str, copying: Copying, sample: int, patience: float) -> Plan[Verified]:
    """Compare an index with its copy."""
    verified = Verified()
    for index in (source, copying.destination):
        yield from retry(Refresh(index), patience)
    verified.documents = yield from retry(Count(source, _EVERYTHING), patience)
    verified.copies = yield from retry(Count(copying.destination, _EVERYTHING), patience)
    chosen = yield from _sample(source, min(sample, verified.documents), verified.documents, patience)
    verified.compared = len(chosen)
    verified.different = yield from differences(source, copying, chosen, patience)
    return verified


def _sample(index: str, size: int, documents: int, patience: float) -> Plan[list[Json]]:
    """Draw documents of an index at random, without their source."""
    if not size:
        return []
    if (yield from retry(GetInfo(), patience)).distribution == "embedded":
        return (yield from _sample_by_share(index, size, documents, patience))
    drawn = {"random_score": {"seed": random.getrandbits(31), "field": "_seq_no"}}
    query = {"function_score": {"query": _EVERYTHING, **drawn}}
    body = {"query": query, "size": min(size, _MOST_FOUND), "_source": False}
    reply = yield from retry(Search(index, body), patience)
    hits: list[Json] = reply["hits"]["hits"]
    return hits


def _sample_by_share(index: str, size: int, documents: int, patience: float) -> Plan[list[Json]]:
    """Draw documents from an engine without random scores: a random slice of about ``size`` documents."""
    count = max(1, documents // size)
    reading = Reading(index, _EVERYTHING, False, Slice(random.randrange(count), count), patience)
    chosen: list[Json] = []
    while len(chosen) < size and (hits := (yield from reading.next())):
        chosen += hits
    yield from reading.close()
    return chosen[:size]


def differences(source: str, copying: Copying, chosen: Sequence[Json], patience: float) -> Plan[list[Rejected]]:
    """Find the documents whose copies differ from copies made now."""
    different: list[Rejected] = []
    starts = range(0, len(chosen), _AT_A_TIME)
    for start in counted_each("Verifying", starts, len(starts), "parts"):
        found = yield from _documents(source, chosen[start : start + _AT_A_TIME], None, patience)
        hits = [hit for hit in found if hit["found"]]
        copies = yield from _documents(copying.destination, hits, None, patience)
        bodies, _ = copying.bodies(hits)
        for hit, copy, body in zip(hits, copies, bodies, strict=True):
            if copy.get("_source") != body:
                how = "is another document" if copy["found"] else "is missing"
                reason = f"The copy of it in {copying.destination!r} {how}. Run the reindexing again."
                different.append(Rejected(index=hit["_index"], id=hit["_id"], reason=reason))
    return different


def find_extra(source: str, destination: str, copies: int, patience: float, on_reject: OnReject) -> Plan[int]:
    """Count and report the documents, among about this many ``copies``, that were deleted in the source."""
    extra: set[tuple[str, str | None]] = set()
    reading, done = Reading(destination, _EVERYTHING, False, None, patience), 0
    with counting("Looking for deleted documents", copies) as advance:
        while hits := (yield from reading.next()):
            found = yield from _documents(source, hits, [], patience)
            for hit, there in zip(hits, found, strict=True):
                if not there["found"] and (key := (hit["_id"], hit.get("_routing"))) not in extra:
                    extra.add(key)
                    reason = f"It is no longer in {source!r}. Delete this copy of it, then run the reindexing again."
                    on_reject(Rejected(index=destination, id=hit["_id"], reason=reason))
            done += len(hits)
            advance(done)
    return len(extra)


def _documents(index: str, hits: Sequence[Json], source: Sequence[str] | None, patience: float) -> Plan[list[Json]]:
    """Read the documents of hits from an index."""
    ids, routings = [hit["_id"] for hit in hits], [hit.get("_routing") for hit in hits]
    return (yield from documents_by_id(index, ids, source, routings, patience=patience))
