"""The work of a backfill: update the documents whose fields are not those of their texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import DocumentError, InputError
from es_simhash.live.learning import LowestContents
from es_simhash.live.sweep.reading import DocumentRef, named_by
from es_simhash.live.sweep.writing import Prepared, Update, settle_by_reading_again
from es_simhash.plans.operations import Action, Plan
from es_simhash.plans.text_fields import REMEDY, foreign_in
from es_simhash.scheme.mapping import of_empty
from es_simhash.scheme.own_fields import DEFERRED, content_hash


@dataclass(slots=True)
class ReadDocument(DocumentRef):
    """A document as it was read: its text, or the problem with it, and our fields."""

    text: str
    problem: str | None
    fields: Json

    @classmethod
    def parse(cls, documents: Documents, hit: Json) -> ReadDocument:
        """Parse a hit of a search, or of a reply to a multi-get."""
        source = hit.get("_source") or {}
        text, problem = "", None
        try:
            text = documents.text_of(source)
        except DocumentError as error:
            problem = error.problem
        problem = _problem_of(documents, source) or problem
        own = source.get(documents.prefix)
        return cls(*named_by(hit), text, problem, own if isinstance(own, dict) else {})

    def is_current(self, scheme_id: str) -> bool:
        """Return whether the fields are those of this text under a scheme."""
        own = self.fields
        is_done = own.get("scheme") == scheme_id and own.get("status") != DEFERRED
        return is_done and own.get("content") == content_hash(self.text)

    def update(self, documents: Documents, fields: Json) -> Action:
        """Make the action that replaces our fields, unless the document has changed since it was read."""
        # An update is merged into the old fields, so obsolete ones need a null. The group belongs to the old text.
        if self.fields:
            fields = {name: None for name in documents.all_names if name in self.fields} | fields
        return Action("update", self.id, {"doc": {documents.prefix: fields}}, self.index, self.metadata)


def _problem_of(documents: Documents, source: Json) -> str | None:
    """Return what a document has instead of our fields, if anything."""
    found = foreign_in(documents, source)
    return found and f"{found}. {REMEDY}"


@dataclass(frozen=True)
class Fingerprinting:
    """The work: each document gets the fields of its text; the ``lowest`` contents are there to learn from."""

    documents: Documents
    lowest: LowestContents = field(default_factory=LowestContents)

    @property
    def source(self) -> Sequence[str]:
        """The source fields, and the object of our own."""
        # The whole object: where somebody else has a plain value, paths within it find nothing.
        return (*self.documents.fields, self.documents.prefix)

    def prepare(self, hits: Sequence[Json]) -> Prepared:
        """Fingerprint the documents whose fields are not those of their texts."""
        documents, prepared = self.documents, Prepared()
        due: list[ReadDocument] = []
        done: list[tuple[object, DocumentRef]] = []
        for document in (ReadDocument.parse(documents, hit) for hit in hits):
            prepared.characters += len(document.text)
            if document.problem is not None:
                prepared.rejected.append(document.rejected(document.problem))
            elif document.is_current(documents.scheme.id):
                prepared.current += 1
                done.append((document.fields["content"], document))
            else:
                due.append(document)
        for document, fields in zip(due, documents.fields_of([each.text for each in due]), strict=True):
            if isinstance(fields, InputError):
                prepared.rejected.append(document.rejected(fields.problem))
            else:
                # All others are grouped in the end.
                gets_group = documents.policy.groups == "online" and fields["status"] == "empty"
                own = of_empty(document.index, document.id, fields["content"]) if gets_group else {}
                prepared.updates.append((document, document.update(documents, fields | own)))
                done.append((fields["content"], document))
        self.lowest.add(done)
        return prepared

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        """Fingerprint the documents as they are now."""
        return (yield from settle_by_reading_again(self, conflicts, patience))
