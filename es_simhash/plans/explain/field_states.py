"""The two documents compared, and the state of their fingerprint fields: current, stale, deferred, foreign, damaged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.scheme import own_fields
from es_simhash.scheme.own_fields import DEFERRED
from es_simhash.scheme.scheme import Scheme

# A bare ``text`` has no fields. Fields of a document are those of its text, those of an older text, still to be made,
# of another scheme, not what the scheme makes from any text, or missing.
State: TypeAlias = Literal["text", "current", "stale", "deferred", "foreign", "damaged", "missing"]


@dataclass(frozen=True)
class ComparedDocument:
    """A text; or a document of an index, with its text and its ``stored`` fingerprint fields.

    ``is_seen`` says whether searches already see these fields; None if that was not checked. ``source`` has the values
    in the fields of a scope.
    """

    name: str
    text: str
    index: str | None = None
    stored: Json | None = None
    is_seen: bool | None = None
    source: Json = field(default_factory=dict)


@dataclass(frozen=True)
class ExaminedDocument:
    """A document, the fields ``made`` from its current text, and the state of those that are stored.

    ``held`` are the fields it is found by: the stored ones, or those made where the stored ones are unusable.
    """

    JSON = ("name", "index", "state", "is_seen", "status", "scheme", "characters")

    document: ComparedDocument
    made: Json
    held: Json
    state: State

    @property
    def name(self) -> str:
        """The name to show."""
        return self.document.name

    @property
    def index(self) -> str | None:
        """Its index; None for a text."""
        return self.document.index

    @property
    def is_seen(self) -> bool | None:
        """Whether searches already see its fields; None if that was not checked."""
        return self.document.is_seen

    @property
    def status(self) -> str:
        """The status of its text."""
        return str(self.made["status"])

    @property
    def scheme(self) -> str | None:
        """The id of the scheme of its fields."""
        found: str | None = (self.document.stored or self.made).get("scheme")
        return found

    @property
    def characters(self) -> int:
        """The length of its text."""
        return len(self.document.text)

    @property
    def is_held(self) -> bool:
        """Whether the index holds usable fields of the scheme, so that the engine can be asked about them."""
        return self.held is not self.made


def examine(scheme: Scheme, document: ComparedDocument) -> ExaminedDocument:
    """Determine the state of a document's fields."""
    [batch] = scheme.fingerprint_batches([document.text])
    [made] = own_fields.write(scheme, scheme.id, [document.text], batch)
    stored = document.stored or {}
    is_empty = stored.get("status") == "empty" and stored.get("scheme") == scheme.id
    is_usable = stored.get("status") != DEFERRED and (
        is_empty or own_fields.read(scheme, scheme.id, stored) is not None
    )
    return ExaminedDocument(document, made, stored if is_usable else made, _state(scheme, document, made, is_usable))


def _state(scheme: Scheme, document: ComparedDocument, made: Json, is_usable: bool) -> State:
    stored = document.stored or {}
    if document.index is None:
        return "text"
    if stored.get("status") == DEFERRED:
        return "deferred"
    if "scheme" not in stored:
        return "missing"
    if stored["scheme"] != scheme.id:
        return "foreign"
    if all(stored.get(name) == made.get(name) for name in own_fields.names(scheme)):
        return "current"
    return "stale" if is_usable and stored.get("content") != made["content"] else "damaged"
