"""Explaining two documents of an index: read both, and ask the engine which keys they share."""

from __future__ import annotations

from collections.abc import Sequence

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import DocumentError, IndexStateError, InputError, MissingError
from es_simhash.plans.explain.explanation import Explanation, explain
from es_simhash.plans.explain.field_states import ComparedDocument, ExaminedDocument, examine
from es_simhash.plans.explain.shared_keys import clauses
from es_simhash.plans.operations import Plan, Search, is_server
from es_simhash.plans.reply_size import documents_by_id, with_source
from es_simhash.plans.search_terms import SearchTerms

# An id may stand for several documents: in other indices, and with other routing values.
_SAME_IDS = 10


def explain_pair(terms: SearchTerms, ids: tuple[str, str]) -> Plan[Explanation]:
    """Explain why two documents of an index are near-duplicates, or why they are not."""
    index, documents = terms.index, terms.documents
    if ids[0] == ids[1]:
        raise InputError(f"The document {ids[0]!r} was given twice. Name two.")
    pair = yield from _read(terms, ids)
    first, second = (examine(documents.scheme, each) for each in pair)
    named = yield from _named_by_engine(index, documents, first, second)
    yield from terms.experience.read(index, documents)
    return explain(
        documents.scheme,
        terms.criteria,
        (first, second),
        named,
        terms.verifier(),
        terms.scope,
        terms.rarity.previous,
        terms.experience.documents,
    )


def _read(terms: SearchTerms, ids: Sequence[str]) -> Plan[list[ComparedDocument]]:
    """Read both documents as last written, and whether searches see them so."""
    index, documents = terms.index, terms.documents
    source = [*documents.fields, documents.prefix, *terms.scope_paths]
    found = yield from documents_by_id(index, ids, source)
    # An id alone does not lead to a document with its own routing value, but searches find it.
    body = {"query": {"ids": {"values": list(ids)}}, "size": _SAME_IDS, "_source": False}
    hits = yield from with_source(index, (yield Search(index, body))["hits"]["hits"], source)
    return [_compared(index, documents, reply, [hit for hit in hits if hit["_id"] == reply["_id"]]) for reply in found]


def _compared(index: str, documents: Documents, reply: Json, hits: Sequence[Json]) -> ComparedDocument:
    if not reply["found"]:
        reply = _only(index, reply["_id"], hits)
    own, document = documents.prefix, reply.get("_source") or {}
    seen = [hit for hit in hits if hit["_index"] == reply["_index"]]
    stored = document.get(own)
    try:
        text = documents.text_of(document)
    except DocumentError as error:
        raise DocumentError(f"Document {reply['_id']!r} {error.problem}") from None
    return ComparedDocument(
        reply["_id"],
        text,
        reply["_index"],
        stored if isinstance(stored, dict) else None,
        any((hit.get("_source") or {}).get(own) == stored for hit in seen),
        document,
    )


def _only(index: str, id_: str, hits: Sequence[Json]) -> Json:
    """Return the one hit of an id."""
    if not hits:
        raise MissingError(f"There is no document {id_!r} in the index {index!r}. Check the id.")
    if len(hits) > 1:
        raise IndexStateError(
            f"There are several documents {id_!r} in {index!r}, with different routing or in different indices. "
            "Name the one index that is meant, or give the document another id."
        )
    return hits[0]


def _named_by_engine(
    index: str, documents: Documents, first: ExaminedDocument, second: ExaminedDocument
) -> Plan[list[str] | None]:
    """Return the names of the first one's keys that the engine finds in the second; None if it cannot be asked."""
    if not (first.is_held and second.is_held and second.document.is_seen):
        return None
    if not (yield from is_server()):  # the embedded engine knows no named queries
        return None
    query = {
        "bool": {
            "filter": [{"ids": {"values": [second.name]}}],
            "should": clauses(documents.scheme, first.held, documents.prefix),
        }
    }
    reply = yield Search(index, {"query": query, "size": _SAME_IDS, "_source": False})
    hits = [hit for hit in reply["hits"]["hits"] if hit["_index"] == second.document.index]
    return [name for hit in hits for name in hit.get("matched_queries", [])]
