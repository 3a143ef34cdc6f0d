"""Learning how rare features are in an index, for the comparisons of texts, and noting it in the mapping."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from datetime import datetime, timezone
from typing import TypeAlias

from es_simhash._core.environment import PATIENCE
from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents, unchanged_text
from es_simhash.errors import EngineError, IndexStateError
from es_simhash.live.sweep.document_ref import DocumentRef
from es_simhash.live.sweep.reading import Reading
from es_simhash.plans.index_rarity import fingerprinted, note_rarity, noted_rarity
from es_simhash.plans.mapping_notes import check_may_note
from es_simhash.plans.operation_retry import retry
from es_simhash.plans.operations import GetDocuments, GetMappings, Plan
from es_simhash.scheme.mapping import entries
from es_simhash.scheme.verdict.learnt import LearntRarity
from es_simhash.scheme.verdict.rarity import SAMPLE
from es_simhash.scheme.verdict.verifier import is_by_rarity, rarity_of

_READ_AT_ONCE = 200

# What was learnt, or why nothing could be noted; None if there was no need.
Learnt: TypeAlias = LearntRarity | EngineError | None

# The documents of the sample so far, by the numbers that their content hashes are.
_Lowest = dict[int, DocumentRef]


def now() -> str:
    """Return the present time, in ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def learn(name: str, documents: Documents, when: str, patience: float = PATIENCE) -> Plan[LearntRarity]:
    """Learn from the fingerprinted documents behind a name, and note it in each of the indices that have fields.

    ``when`` is the present time, in ISO 8601.
    """
    own = entries((yield GetMappings(name)), documents.prefix)
    indices = [index for index, entry in sorted(own.items()) if entry]
    lowest: _Lowest = {}
    among = 0
    for index in indices:
        lowest, read = yield from _with_those_of(index, documents, patience, lowest)
        among += read
    texts = yield from _texts(documents, lowest, patience)
    if not texts:
        raise IndexStateError(
            f"No document of {name!r} has a current fingerprint, so there is nothing to learn from. "
            "Run: es-simhash backfill."
        )
    learnt = LearntRarity(rarity_of(documents.scheme, texts), when, among)
    for index in indices:
        yield from note_rarity(index, documents, learnt)
    return learnt


def learn_once(name: str, documents: Documents, when: str, patience: float = PATIENCE) -> Plan[Learnt]:
    """Learn, unless that was done before or there are few documents, which are compared as they are.

    What is noted in some of the indices behind the name is noted in the others, too. What goes wrong is returned: such
    as that the login may not change a mapping.
    """
    if not is_by_rarity(documents.scheme, documents.scheme.verification):
        return None
    try:
        return (yield from _learn_if_missing(name, documents, when, patience))
    except EngineError as error:
        return error


def _learn_if_missing(name: str, documents: Documents, when: str, patience: float) -> Plan[LearntRarity | None]:
    mappings = yield GetMappings(name)
    own = {index: mappings[index] for index, entry in entries(mappings, documents.prefix).items() if entry}
    known = noted_rarity(own, documents)
    lacking = [index for index in sorted(own) if noted_rarity({index: own[index]}, documents) is None]
    if not lacking or (known is None and (yield from fingerprinted(name, documents)) < SAMPLE):
        return None
    for index in lacking:
        yield from check_may_note(index)
    if known is None:
        return (yield from learn(name, documents, when, patience))
    for index in lacking:
        yield from note_rarity(index, documents, known)
    return None


def _with_those_of(index: str, documents: Documents, patience: float, lowest: _Lowest) -> Plan[tuple[_Lowest, int]]:
    """Take in the documents of one more index, and count them."""
    field = f"{documents.prefix}.content"
    query: Json = {"bool": {"filter": [{"term": {f"{documents.prefix}.scheme": documents.scheme.id}}]}}
    reading, read = Reading(index, query, [field], None, patience), 0
    while hits := (yield from reading.next()):
        read += len(hits)
        for hit in hits:
            content = ((hit.get("_source") or {}).get(documents.prefix) or {}).get("content")
            lowest.setdefault(_number(content), DocumentRef.of(hit))
        if len(lowest) > 2 * SAMPLE:
            lowest = {number: lowest[number] for number in sorted(lowest)[:SAMPLE]}
    return lowest, read


def _number(content: object) -> int:
    """Return a content hash as a number; one that none can be, beyond all others."""
    try:
        return int.from_bytes(urlsafe_b64decode(str(content)), "big")
    except ValueError:
        return 1 << 64


def _texts(documents: Documents, lowest: _Lowest, patience: float) -> Plan[list[str]]:
    """Read the texts of the sample that are still those of the fingerprints."""
    refs = [lowest[number] for number in sorted(lowest)[:SAMPLE]]
    source = [*documents.fields, f"{documents.prefix}.content"]
    texts: list[str] = []
    for index in sorted({ref.index for ref in refs}):
        own = [ref for ref in refs if ref.index == index]
        for start in range(0, len(own), _READ_AT_ONCE):
            some = own[start : start + _READ_AT_ONCE]
            asked = GetDocuments(index, [ref.id for ref in some], source, [ref.routing for ref in some])
            replies: list[Json] = yield from retry(asked, patience)
            sources = (reply.get("_source") or {} for reply in replies)
            texts += [text for text in (unchanged_text(documents, source) for source in sources) if text]
    return texts
