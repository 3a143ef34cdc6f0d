"""How many documents are asked for at once, so that no reply is larger than a few megabytes.

How long documents are is not known before they are read. So the first request is for a few of them, and each further
one for at most as many as were read before, which have shown how long they are. They are read in an order that has
nothing to do with their length, that of a hash of their ids, wherever nothing else demands another: so the first ones
are like the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from zlib import crc32

from es_simhash._core.json_codec import Json, json_length
from es_simhash.errors import EngineError, TooLargeError, UnansweredError, UnreachableError
from es_simhash.plans.operation_retry import retry
from es_simhash.plans.operations import GetDocuments, Plan, Sample, Search

Item = TypeVar("Item")

# The bytes that a reply is to have, if documents are as long as those before.
REPLY_BYTES = 1 << 20
# Documents in the first reply, which may be of a megabyte each, and in any.
FIRST_DOCUMENTS, MOST_DOCUMENTS = 8, 1_000


@dataclass
class ReplySize:
    """How long documents have been so far, in bytes: by that, how many more a reply may have."""

    documents: int = 0
    bytes: int = 0
    _last: float = 0.0

    @property
    def length(self) -> float:
        """The length of a document to expect: that of the last ones, if they are longer than the others."""
        return max(1.0, self._last, self.bytes / self.documents if self.documents else 0.0)

    def at_once(self, most: int = MOST_DOCUMENTS) -> int:
        """Return how many documents to ask for."""
        return max(1, min(most, max(FIRST_DOCUMENTS, self.documents), int(REPLY_BYTES / self.length)))

    def note(self, lengths: Sequence[int]) -> None:
        """Take in the lengths of the documents in a reply."""
        if lengths:
            self.documents += len(lengths)
            self.bytes += sum(lengths)
            self._last = sum(lengths) / len(lengths)

    def explained(self, error: EngineError, count: int) -> EngineError:
        """Return the error of a request for documents; if they are long, it says so: the cluster may be well."""
        is_for_long = self.documents and count * self.length > REPLY_BYTES / 4
        if not is_for_long or not isinstance(error, UnreachableError | UnansweredError | TooLargeError):
            return error
        return type(error)(
            f"{error} Asked for: {count} document(s) at once, of some {self.length / 1024:,.0f} kB each, as those "
            "before were. Give requests more time, or keep such long texts out of what is compared."
        )


def in_slices(
    items: Sequence[Item],
    ask: Callable[[Sequence[Item]], Plan[list[Any]]],
    size: ReplySize,
    length: Callable[[Any], int] = lambda reply: json_length((reply or {}).get("_source")),
    most: int = MOST_DOCUMENTS,
) -> Plan[list[Any]]:
    """Return the answers about items, one each, asked for as many at once as a reply holds.

    Each is of a ``length`` in bytes.
    """
    answers: list[Any] = []
    while len(answers) < len(items):
        some = items[len(answers) : len(answers) + size.at_once(most)]
        try:
            found = yield from ask(some)
        except TooLargeError as error:
            if len(some) == 1:
                raise size.explained(error, 1) from error
            most = len(some) // 2
            continue
        except EngineError as error:
            if (explained := size.explained(error, len(some))) is error:
                raise
            raise explained from error
        size.note(list(map(length, found)))
        answers += found
    return answers


def documents_by_id(
    index: str,
    ids: Sequence[str],
    source: Sequence[str] | None,
    routings: Sequence[str | None] | None = None,
    *,
    patience: float = 0.0,
    size: ReplySize | None = None,
) -> Plan[list[Json]]:
    """Read documents as `GetDocuments` does, in requests whose replies stay within a few megabytes."""
    if source is not None and not source:
        return (yield from retry(GetDocuments(index, ids, source, routings), patience))
    by_hash = list(range(len(ids)))
    if len(ids) > FIRST_DOCUMENTS:
        by_hash.sort(key=lambda place: crc32(ids[place].encode("utf-8", "surrogatepass")))

    def ask(places: Sequence[int]) -> Plan[list[Json]]:
        given = [routings[place] for place in places] if routings and any(routings) else None
        return (yield from retry(GetDocuments(index, [ids[place] for place in places], source, given), patience))

    replies = yield from in_slices(by_hash, ask, size or ReplySize())
    return [reply for _, reply in sorted(zip(by_hash, replies, strict=True), key=lambda each: each[0])]


def sampled(index: str, size: int, source: Sequence[str], query: Json) -> Plan[list[Json]]:
    """Draw documents at random, and return them as hits with these parts."""
    return (yield from with_source(index, (yield Sample(index, size, query)), source))


def with_source(
    index: str, hits: Sequence[Json], source: Sequence[str] | bool, size: ReplySize | None = None
) -> Plan[list[Json]]:
    """Return hits with these parts of their documents, which are searched for by their ids.

    They are found by the same name, such as that of an alias, to which the rights of a login may be bound. Those that
    no search shows any more are left out.
    """
    # An index may have several with one id, by their routing.
    there = Counter(hit["_id"] for hit in hits)

    def ask(some: Sequence[Json]) -> Plan[list[Json | None]]:
        ids = list(dict.fromkeys(hit["_id"] for hit in some))
        body = {
            "query": {"ids": {"values": ids}},
            "size": len(ids) + sum(there[id_] for id_ in ids),
            "_source": source if isinstance(source, bool) else list(source),
            "seq_no_primary_term": True,
            "track_total_hits": False,
        }
        found: dict[tuple[str, str, str | None], Json] = {}
        for hit in (yield Search(index, body))["hits"]["hits"]:
            found[_place(hit)] = hit
            # Matches have no routing.
            found.setdefault((hit["_index"], hit["_id"], None), hit)
        return [found.get(_place(hit)) for hit in some]

    found = yield from in_slices(hits, ask, size or ReplySize())
    return [hit for hit in found if hit is not None]


def _place(hit: Json) -> tuple[str, str, str | None]:
    return hit["_index"], hit["_id"], hit.get("_routing")
