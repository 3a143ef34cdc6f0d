"""Learning how rare features are in an index, for the comparisons of texts, and noting it in the mapping."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Collection, Iterable
from datetime import datetime, timezone
from threading import Lock
from typing import TypeAlias

from es_simhash._core.batches import OnProgress, counting
from es_simhash._core.environment import PATIENCE
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents, unchanged_text
from es_simhash.errors import EngineError, IndexStateError
from es_simhash.live.sweep.reading import DocumentRef, Reading
from es_simhash.plans.open_index import check_may_note, fingerprinted, note_rarity, noted_rarity
from es_simhash.plans.operations import GetMappings, Plan, retry, retry_each
from es_simhash.plans.reply_size import ReplySize, documents_by_id
from es_simhash.scheme.learnt_rarity import LearntRarity
from es_simhash.scheme.mapping import entries
from es_simhash.scheme.own_fields import object_in
from es_simhash.scheme.rarity import SAMPLE
from es_simhash.scheme.verifier import is_by_rarity, rarity_of

# A number that no content hash is.
_BEYOND = 1 << 64

# The rarity table, or why it could not be noted; None if it was not needed.
Learnt: TypeAlias = LearntRarity | EngineError | None


class LowestContents:
    """The documents with the lowest content hashes of those that were ``met``, which several threads may add to."""

    def __init__(self) -> None:
        self.met = 0
        self._found: dict[int, DocumentRef] = {}
        self._bound = _BEYOND + 1
        self._lock = Lock()

    def add(self, documents: Iterable[tuple[object, DocumentRef]]) -> None:
        """Add documents, each with its content hash."""
        with self._lock:
            for content, ref in documents:
                self.met += 1
                number = _number(content)
                if number < self._bound and number not in self._found:
                    # Nothing else of the document is kept, such as its text.
                    self._found[number] = DocumentRef(ref.index, ref.id, ref.routing, {})
            if len(self._found) > 2 * SAMPLE:
                lowest = sorted(self._found)[:SAMPLE]
                self._found, self._bound = {number: self._found[number] for number in lowest}, lowest[-1]

    def lie_in(self, indices: Collection[str]) -> bool:
        """Return whether all are known by the name of one of these indices, not by an alias."""
        return all(ref.index in indices for ref in self._found.values())

    def refs(self) -> list[DocumentRef]:
        """Return the documents of the sample."""
        return [self._found[number] for number in sorted(self._found)[:SAMPLE]]


def now() -> str:
    """Return the present time, in ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def learn(
    name: str, documents: Documents, when: str, patience: float = PATIENCE, known: LowestContents | None = None
) -> Plan[LearntRarity]:
    """Learn from the fingerprinted documents behind a name, and note it in each of the indices that have fields.

    ``when`` is the present time, in ISO 8601. The documents are read, unless as many as there are ``known`` already.
    """
    mappings = yield from retry(GetMappings(name), patience)
    indices = [index for index, entry in sorted(entries(mappings, documents.prefix).items()) if entry]
    lowest = known if known and known.lie_in(indices) else None
    total = yield from retry_each(fingerprinted(name, documents), patience)
    if lowest is None or lowest.met != total:
        lowest = LowestContents()
        with counting("Choosing documents to learn from", total) as advance:
            for index in indices:
                yield from _add_those_of(index, documents, patience, lowest, advance)
    texts = yield from _texts(documents, lowest.refs(), patience)
    if not texts:
        raise IndexStateError(
            f"No document of {name!r} has a current fingerprint, so there is nothing to learn from. "
            "Run: es-simhash backfill."
        )
    learnt = LearntRarity(rarity_of(documents.scheme, texts), when, lowest.met)
    learnt = learnt.after(noted_rarity({index: mappings[index] for index in indices}, documents))
    for index in indices:
        yield from retry_each(note_rarity(index, documents, learnt), patience)
    return learnt


def learn_once(
    name: str, documents: Documents, when: str, patience: float = PATIENCE, known: LowestContents | None = None
) -> Plan[Learnt]:
    """Learn, unless that was done before or there are few documents, which are compared as they are.

    A note in some of the indices behind the name is copied to the others. Errors are returned: such
    as that the login may not change a mapping.
    """
    if not is_by_rarity(documents.scheme, documents.scheme.verification):
        return None
    try:
        return (yield from _learn_if_missing(name, documents, when, patience, known))
    except EngineError as error:
        return error


def _learn_if_missing(
    name: str, documents: Documents, when: str, patience: float, lowest: LowestContents | None
) -> Plan[LearntRarity | None]:
    mappings = yield from retry(GetMappings(name), patience)
    own = {index: mappings[index] for index, entry in entries(mappings, documents.prefix).items() if entry}
    known = noted_rarity(own, documents)
    lacking = [index for index in sorted(own) if noted_rarity({index: own[index]}, documents) is None]
    if not lacking or (known is None and (yield from retry_each(fingerprinted(name, documents), patience)) < SAMPLE):
        return None
    for index in lacking:
        yield from retry_each(check_may_note(index), patience)
    if known is None:
        return (yield from learn(name, documents, when, patience, lowest))
    for index in lacking:
        yield from retry_each(note_rarity(index, documents, known), patience)
    return None


def _add_those_of(
    index: str, documents: Documents, patience: float, lowest: LowestContents, advance: OnProgress[int]
) -> Plan[None]:
    """Read the documents of one more index."""
    field = f"{documents.prefix}.content"
    query: Json = {"bool": {"filter": [{"term": {f"{documents.prefix}.scheme": documents.scheme.id}}]}}
    reading = Reading(index, query, [field], None, patience)
    while hits := (yield from reading.next()):
        sources = (object_in(hit.get("_source"), documents.prefix) for hit in hits)
        lowest.add((own.get("content"), DocumentRef.of(hit)) for own, hit in zip(sources, hits, strict=True))
        advance(lowest.met)


def _number(content: object) -> int:
    """Return a content hash as a number; what is none, as one beyond all others."""
    try:
        return int.from_bytes(urlsafe_b64decode(str(content)), "big")
    except ValueError:
        return _BEYOND


def _texts(documents: Documents, refs: list[DocumentRef], patience: float) -> Plan[list[str]]:
    """Read the texts of documents that are still those of the fingerprints."""
    source = [*documents.fields, f"{documents.prefix}.content"]
    texts: list[str] = []
    size = ReplySize()
    for index in sorted({ref.index for ref in refs}):
        own = [ref for ref in refs if ref.index == index]
        ids, routings = [ref.id for ref in own], [ref.routing for ref in own]
        replies = yield from documents_by_id(index, ids, source, routings, patience=patience, size=size)
        sources = (reply.get("_source") or {} for reply in replies)
        texts += [text for text in (unchanged_text(documents, source) for source in sources) if text]
    return texts
