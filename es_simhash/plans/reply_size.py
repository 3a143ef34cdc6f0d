"""How much is asked for at once: replies of a few megabytes at most, and what costs less than another request would.

How long documents are is not known before they are read. So the first request is for a few of them, and each further
one for at most as many as were read before, which have shown how long they are. They are read in an order that has
nothing to do with their length, that of a hash of their ids, wherever nothing else demands another: so the first ones
are like the others.

Searches have shown more. Measured on both servers, through their clients: another request takes more than a
millisecond. In that time 300 kB more come with the first reply on one machine, and half as much over a network of a
gigabit a second, so the texts of a few documents do. To leave parts of a document out costs a server more than to send
some kilobytes of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar
from zlib import crc32

from es_simhash._core.json_codec import Json, json_length
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.errors import EngineError, TooLargeError, UnansweredError, UnreachableError
from es_simhash.plans.operations import GetDocuments, Plan, Sample, Search, retry

Item = TypeVar("Item")

# The bytes that a reply is to have, if documents are as long as those before.
REPLY_BYTES = 1 << 20
# Documents in the first reply, which may be of a megabyte each, and in any.
FIRST_DOCUMENTS, MOST_DOCUMENTS = 8, 1_000
# Bytes that cost as much as a second request, and as much as leaving them out of a document.
_SECOND_REQUEST, _LEFT_OUT = 256 << 10, 4 << 10
# Documents that are read whole to learn their length, and the share of the newest in what is known.
_FIRST, _NEWEST = 3, 1 / 8
# Until more documents have shown how long they are, this is how many are asked for with more than their fingerprints.
_UNSEEN = 16
# The length of an ordinary text.
_ORDINARY = 8 << 10
# As many documents are measured as a first list may have. Until then, a search that may have many candidates asks for
# whole documents now and then only, since their list has to be short.
_MEASURED, _PASS = 100, 8
# Candidates of a search before any is known.
_CANDIDATES = 8.0


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


def searched(index: str, query: Json, size: int, source: Sequence[str] | bool) -> Plan[list[Json]]:
    """Search for documents, which may be long, and return them as hits with these parts."""
    body = {"query": query, "size": size, "_source": False, "track_total_hits": False}
    return (yield from with_source(index, (yield Search(index, body))["hits"]["hits"], source))


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
            found[place_of(hit)] = hit
            # Matches have no routing.
            found.setdefault((hit["_index"], hit["_id"], None), hit)
        return [found.get(place_of(hit)) for hit in some]

    found = yield from in_slices(hits, ask, size or ReplySize())
    return [hit for hit in found if hit is not None]


def place_of(hit: Json) -> tuple[str, str, str | None]:
    """Return the index, the id and the routing of the document of a hit."""
    return hit["_index"], hit["_id"], hit.get("_routing")


class DocumentPart(Enum):
    """The parts of documents to ask for."""

    FINGERPRINTS = "fingerprints"
    TEXTS = "fingerprints and texts"
    WHOLE = "whole documents"


@dataclass
class SearchExperience:
    """How many ``documents`` an index has, how many candidates its searches have, and how long texts are, in bytes.

    The latter are averages of the latest searches; lengths are None until one is known. Near-duplicates are about as
    long as a text itself, which counts where that is longer. ``replies`` are those to several searches at once,
    ``hits`` those of the caller's own searches, and ``texts`` those read by the ids of candidates. A search has also
    shown whether the server ``refuses_scripts``.
    """

    candidates: float = _CANDIDATES
    document: float | None = None
    text: float | None = None
    refuses_scripts: bool = False
    documents: int = 0
    replies: ReplySize = field(default_factory=ReplySize)
    hits: ReplySize = field(default_factory=ReplySize)
    texts: ReplySize = field(default_factory=ReplySize)
    _whole: int = 0
    _searches: int = 0

    def read(self, index: str, documents: Documents) -> Plan[None]:
        """Count the documents and look at some of them, unless their length is known."""
        if self.document is None:
            body = {"query": {"match_all": {}}, "size": _FIRST, "_source": True, "track_total_hits": True}
            found = (yield Search(index, body))["hits"]
            self.documents = found["total"]["value"]
            for hit in found["hits"]:
                self._measure(documents, hit, DocumentPart.WHOLE)

    def part(self, count: float, *, with_texts: bool, own: int = 0) -> DocumentPart:
        """Return what to ask for of ``count`` documents; ``with_texts`` if these are wanted sooner or later.

        The text that is searched for has ``own`` bytes.
        """
        if self.document is None or self.text is None:
            return DocumentPart.FINGERPRINTS
        text, document = self._lengths(own)
        come = with_texts and count * text <= _SECOND_REQUEST
        needed = text if come else 0.0
        is_known = self._whole >= _MEASURED or self.candidates < _CANDIDATES or self._searches % _PASS == _PASS - 1
        if is_known and document <= needed + _LEFT_OUT and count * document <= REPLY_BYTES:
            return DocumentPart.WHOLE
        return DocumentPart.TEXTS if come else DocumentPart.FINGERPRINTS

    def fitting(self, part: DocumentPart, count: int, own: int = 0) -> int:
        """Return how many documents of ``count`` to ask for at once.

        Texts are about as long as the own one; how long the rest of documents is, or texts if ``own`` is 0, only those
        before show.
        """
        if part is DocumentPart.FINGERPRINTS:
            return count
        text, document = self._lengths(own)
        fitting = int(REPLY_BYTES / max(1.0, text if part is DocumentPart.TEXTS else document))
        if part is DocumentPart.WHOLE or not own:
            fitting = min(fitting, max(_UNSEEN, self._whole))
        return max(1, min(count, fitting))

    def size_of_texts(self, own: int) -> ReplySize:
        """Return what shows how many texts to read at once; those of a far longer text show it again."""
        return self.texts if own <= max(_ORDINARY, 4 * self.texts.length) else ReplySize()

    def _lengths(self, own: int) -> tuple[float, float]:
        """Return the lengths to expect of the text of a candidate, and of the whole document."""
        assert self.text is not None
        assert self.document is not None
        text = max(self.text, own)
        return text, self.document - self.text + text

    def note(self, documents: Documents, hits: Sequence[Json], part: DocumentPart) -> None:
        """Take in what the first reply of a search shows: all lengths at first, then one, since measuring takes time.

        Measurements let later replies have as many documents.
        """
        self.candidates = _average(self.candidates, len(hits))
        self._searches += 1
        if part is not DocumentPart.FINGERPRINTS:
            for hit in hits[: 1 if self._whole >= _MEASURED else None]:
                self._measure(documents, hit, part)

    def _measure(self, documents: Documents, hit: Json, part: DocumentPart) -> None:
        source = hit.get("_source") or {}
        self.text = _average(self.text, json_length(readable_text(documents, source) or ""))
        if part is DocumentPart.WHOLE:
            self._whole += 1
            self.document = _average(self.document, json_length(source))


def _average(known: float | None, newest: float) -> float:
    return newest if known is None else known + _NEWEST * (newest - known)
