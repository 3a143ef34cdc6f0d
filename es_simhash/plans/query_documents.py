"""Query documents: the texts whose near-duplicates are searched for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.documents.actions import Document, check_mapping, checked_id, id_of
from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.documents.sources import text_of
from es_simhash.errors import DocumentError, MissingError
from es_simhash.plans.operations import Plan, Search
from es_simhash.plans.reply_size import documents_by_id, with_source


@dataclass(frozen=True)
class QueryDocument:
    """A text whose near-duplicates are searched for, and the document that it comes from, which is never a match.

    ``document`` has its values in the fields of a scope and, unless the text ``is_bare``, the texts of source fields.
    """

    text: str
    document: Document
    id: str | None = None
    index: str | None = None
    is_bare: bool = False

    @classmethod
    def of_text(cls, text: str, values: Document) -> QueryDocument:
        """Return a bare text, to compare with each source field, and its values in the fields of a scope."""
        return cls(text, values, is_bare=True)

    @classmethod
    def of_document(
        cls, documents: Documents, document: Document, id: str | None = None, index: str | None = None
    ) -> QueryDocument:
        """Return the text of a document, indexed or not."""
        return cls(documents.text_of(document), document, id, index)

    @classmethod
    def of_action(cls, documents: Documents, action: Document) -> QueryDocument:
        """Return the text of a bulk action: ``_id`` if present, and ``_source`` or the fields themselves."""
        id_ = checked_id(check_mapping(action, "is"))
        body = check_mapping(action.get("_source", action), "has a body")
        return cls.of_document(documents, body, id_, action.get("_index"))

    def texts(self, documents: Documents) -> dict[str, str]:
        """Return the text for each source field."""
        if self.is_bare:
            return dict.fromkeys(documents.fields, self.text)
        return {path: text_of(self.document, [path]) for path in documents.fields}

    def is_self(self, hit: Json) -> bool:
        """Return whether a hit is this document itself."""
        return bool(hit["_id"] == self.id and self.index in (None, hit["_index"]))


def query_documents(
    documents: Documents, actions: Sequence[Document], first: int = 0, on_reject: OnReject | None = None
) -> dict[int, QueryDocument]:
    """Return documents by position, starting with ``first``.

    A document that cannot be read raises a `DocumentError` that names it, or goes to ``on_reject`` and is left out.
    """
    wanted: dict[int, QueryDocument] = {}
    for position, action in enumerate(actions, first):
        try:
            wanted[position] = QueryDocument.of_action(documents, action)
        except DocumentError as error:
            Rejected.given(id_of(action), position, error.problem).hand_to(on_reject)
    return wanted


def query_documents_by_id(
    index: str, documents: Documents, ids: Sequence[str], others: Sequence[str]
) -> Plan[list[QueryDocument]]:
    """Read documents of the index by id: their texts, and ``others`` of their fields."""
    fields = [*documents.fields, *others]
    found = yield from documents_by_id(index, ids, fields)
    hits = {hit["_id"]: hit for hit in found if hit["found"]}
    missing = [id_ for id_ in ids if id_ not in hits]
    if missing:
        # An id alone does not lead to a document with its own routing value.
        body = {"query": {"ids": {"values": missing}}, "size": len(missing), "_source": False}
        reply = yield Search(index, body)
        hits |= {hit["_id"]: hit for hit in (yield from with_source(index, reply["hits"]["hits"], fields))}
    for id_ in missing:
        if id_ not in hits:
            raise MissingError(f"There is no document {id_!r} in the index {index!r}. Check the id.")
    wanted = (hits[id_] for id_ in ids)
    actions = [{"_id": hit["_id"], "_index": hit["_index"], "_source": hit.get("_source") or {}} for hit in wanted]
    return list(query_documents(documents, actions).values())
