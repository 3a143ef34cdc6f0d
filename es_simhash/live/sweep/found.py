"""Documents as they were read, and the updates that bring their fingerprints up to date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import Rejected
from es_simhash.errors import DocumentError, InputError
from es_simhash.plans.foreign_values import REMEDY, foreign_in
from es_simhash.plans.operations import Action
from es_simhash.scheme.own_fields import DEFERRED, content_hash


@dataclass(frozen=True)
class Place:
    """Where a document is, and what it was when it was read, in the form of a condition for writing it."""

    index: str
    id: str
    routing: str | None
    version: dict[str, int]

    @classmethod
    def at(cls, hit: Json) -> Place:
        """That of a hit of a search, or of a reply to a multi-get."""
        version = {f"if{name}": hit[name] for name in ("_seq_no", "_primary_term") if name in hit}
        return cls(hit["_index"], hit["_id"], hit.get("_routing"), version)

    @property
    def metadata(self) -> Json | None:
        """What an action says that is to change this document, unless somebody has changed it since."""
        return {**self.version, **self.way} or None

    @property
    def way(self) -> Json:
        """The routing value, where it has one."""
        return {} if self.routing is None else {"routing": self.routing}

    def rejected(self, reason: str) -> Rejected:
        """The document as one that cannot be done."""
        return Rejected(index=self.index, id=self.id, reason=f"Document {self.id!r} {reason}")


@dataclass(frozen=True)
class Found(Place):
    """A document as it was read: its text (or the problem with it), and our fields."""

    text: str
    problem: str | None
    stored: Json

    @classmethod
    def of(cls, documents: Documents, hit: Json) -> Found:
        """The document of a hit of a search, or of a reply to a multi-get."""
        source = hit.get("_source") or {}
        text, problem = "", None
        try:
            text = documents.text_of(source)
        except DocumentError as error:
            problem = error.problem
        if found := foreign_in(documents, source):
            problem = f"{found}. {REMEDY}"
        stored = source.get(documents.prefix)
        own = stored if isinstance(stored, dict) else {}
        place = Place.at(hit)
        return cls(place.index, place.id, place.routing, place.version, text, problem, own)

    def is_current(self, scheme_id: str) -> bool:
        """Whether the fields are those of this text by this scheme."""
        own = self.stored
        is_done = own.get("scheme") == scheme_id and own.get("status") != DEFERRED
        return is_done and own.get("content") == content_hash(self.text)

    def update(self, documents: Documents, fields: Json) -> Action:
        """The update of our fields alone, unless the document has changed since."""
        # An update is merged into what is there, so that what is there too much needs a null to take it out. The group
        # is one of another text.
        if self.stored:
            fields = {name: None for name in documents.all_names if name in self.stored} | fields
        return Action("update", self.id, {"doc": {documents.prefix: fields}}, self.index, self.metadata)


# A document, and what is to be written of it.
Update: TypeAlias = tuple[Place, Action]


@dataclass
class Prepared:
    """What is to be done about some documents: ``updates`` of some, while others are as they should be, ``current``,
    or ``gone`` by now, or ``rejected``. Those ``unfit`` for a fingerprint are written all the same, without one.
    """

    updates: list[Update] = field(default_factory=list)
    current: int = 0
    gone: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    unfit: list[Rejected] = field(default_factory=list)
    characters: int = 0


def sources(documents: Documents) -> list[str]:
    """The parts of documents that must be read."""
    # The whole object: of paths within it nothing is returned where somebody else has a plain value.
    return [*documents.fields, documents.prefix]


def prepare(documents: Documents, hits: Sequence[Json]) -> Prepared:
    """Fingerprint the documents of hits whose fields are not those of their texts."""
    prepared = Prepared()
    due: list[Found] = []
    for found in (Found.of(documents, hit) for hit in hits):
        prepared.characters += len(found.text)
        if found.problem is not None:
            prepared.rejected.append(found.rejected(found.problem))
        elif found.is_current(documents.scheme.id):
            prepared.current += 1
        else:
            due.append(found)
    for found, fields in zip(due, documents.fields_of([found.text for found in due]), strict=True):
        if isinstance(fields, InputError):
            prepared.rejected.append(found.rejected(fields.problem))
        else:
            prepared.updates.append((found, found.update(documents, fields)))
    return prepared
