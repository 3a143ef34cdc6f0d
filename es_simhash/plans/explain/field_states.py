"""The two that are compared: what was given of each, and what its fields in the index are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.scheme import own_fields
from es_simhash.scheme.own_fields import DEFERRED
from es_simhash.scheme.scheme import Scheme

# What the fields of a document are: none, since it is a ``text`` only; those of its text; those of an older text; still
# to be made; of another scheme; not what the scheme makes of any text; not there.
State: TypeAlias = Literal["text", "current", "stale", "deferred", "foreign", "damaged", "missing"]


@dataclass(frozen=True)
class ComparedDocument:
    """A text; or a document of an index, with its text and what lies in the object of its fingerprint's fields.

    ``is_seen`` tells whether searches see the fields as they are by now; None where that was not asked.
    """

    name: str
    text: str
    index: str | None = None
    stored: Json | None = None
    is_seen: bool | None = None


@dataclass(frozen=True)
class ExaminedDocument:
    """A subject, the fields ``made`` of its text as it is now, and how those that are stored compare with them.

    ``held`` are the fields by which it is found: those that are stored, or where these are of no use those made.
    """

    subject: ComparedDocument
    made: Json
    held: Json
    state: State

    @property
    def name(self) -> str:
        """What it is called."""
        return self.subject.name

    @property
    def is_held(self) -> bool:
        """Whether the index holds fields of the scheme, so that it can be asked about them."""
        return self.held is not self.made


def examine(scheme: Scheme, subject: ComparedDocument) -> ExaminedDocument:
    """What the fields of a subject are worth."""
    [batch] = scheme.fingerprint_batches([subject.text])
    [made] = own_fields.write(scheme, scheme.id, [subject.text], batch)
    stored = subject.stored or {}
    is_empty = stored.get("status") == "empty" and stored.get("scheme") == scheme.id
    is_usable = stored.get("status") != DEFERRED and (
        is_empty or own_fields.read(scheme, scheme.id, stored) is not None
    )
    return ExaminedDocument(subject, made, stored if is_usable else made, _state(scheme, subject, made, is_usable))


def _state(scheme: Scheme, subject: ComparedDocument, made: Json, is_usable: bool) -> State:
    stored = subject.stored or {}
    if subject.index is None:
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
