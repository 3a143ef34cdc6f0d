"""One action of a bulk request: its texts to fingerprint, and the same action with their fields.

Actions have the forms of ``helpers.bulk``: the document in ``_source``, or next to ``_id``, ``_op_type`` and the
other metadata; of an update the same with ``doc``, ``upsert`` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from es_simhash._core.json_codec import Json, sets_value_at
from es_simhash.documents.sources import as_id, text_of
from es_simhash.errors import DocumentError
from es_simhash.scheme import mapping, own_fields
from es_simhash.scheme.fingerprint import Fingerprint
from es_simhash.scheme.settings import Settings

Document: TypeAlias = Mapping[str, Any]

# dict first: it is quickest to test.
_MAPPINGS = (dict, Mapping)


@dataclass(frozen=True)
class Target:
    """The texts to fingerprint, and where to: the source fields, the scheme's settings, the prefix."""

    settings: Settings
    sources: Sequence[str]
    prefix: str

    @cached_property
    def names(self) -> list[str]:
        """The names of the fields, cached because every document needs them."""
        return own_fields.names(self.settings)

    @cached_property
    def own(self) -> frozenset[str]:
        """The names of the fields, for look-ups."""
        return frozenset(self.names)

    @cached_property
    def replaced(self) -> frozenset[str]:
        """The names that the fields replace in a document, which may also be written with dots."""
        return frozenset(f"{self.prefix}.{name}" for name in self.names) | {self.prefix}


@dataclass
class Slot:
    """A document in an action, and the fields to add once its text is fingerprinted: its fingerprint, and the group."""

    document: Document
    text: str | None
    fields: Json | None = None
    fingerprint: Fingerprint | None = None
    group: Json = field(default_factory=dict)
    emptied: Json = field(default_factory=dict)


@dataclass
class Task:
    """An action in progress: its documents by their names in it ("" for the action's own).

    With a ``problem`` it has no result.
    """

    target: Target
    action: Document
    slots: dict[str, Slot] = field(default_factory=dict)
    problem: str | None = None
    _is_wrapped: bool = field(init=False)
    _body: Document = field(init=False)

    def __post_init__(self) -> None:
        try:
            self._read()
        except DocumentError as error:
            self.problem = error.problem
            self.slots.clear()

    @property
    def id(self) -> str | None:
        """The id that the action names."""
        return id_of(self.action)

    def _read(self) -> None:
        check_mapping(self.action, "is")
        checked_id(self.action)
        self._is_wrapped = _is_wrapped(self.action)
        self._body = check_mapping(self.action["_source"] if self._is_wrapped else self.action, "has a body")
        kind = self.action.get("_op_type", "index")
        if kind in ("index", "create"):
            self._read_slot("", self._body)
        elif kind == "update":
            self._read_update()
        elif kind != "delete":
            raise DocumentError(f"has the _op_type {_quoted(kind)}. Give index, create, update or delete.")

    def result(self) -> Json:
        """Return the action with the fields; raise its problem as a `DocumentError`."""
        if self.problem:
            raise DocumentError(self.problem)
        made = {name: self._with_fields(slot) for name, slot in self.slots.items()}
        body = made.get("") or {**self._body, **made}
        return {**self.action, "_source": body} if self._is_wrapped else body

    def _read_slot(self, name: str, document: Document) -> None:
        self.slots[name] = Slot(document, text_of(document, self.target.sources))

    def _read_update(self) -> None:
        """Fingerprint an update that gives all source fields; defer one that gives only some."""
        if self._body.get("upsert") is not None:
            upsert = check_mapping(self._body["upsert"], "has an upsert")
            if self._body.get("scripted_upsert"):
                # The script decides the text.
                self.slots["upsert"] = Slot(upsert, None, {"status": own_fields.DEFERRED})
            else:
                self._read_slot("upsert", upsert)
        document = check_mapping(self._body.get("doc") or {}, "has a doc")
        given = [sets_value_at(document, path) for path in self.target.sources]
        if all(given):
            self._read_slot("doc", document)
        elif self._body.get("doc_as_upsert"):
            names = ", ".join(self.target.sources)
            raise DocumentError(f"is upserted without all of its source fields. Give {names} (null where empty).")
        elif any(given):
            self.slots["doc"] = Slot(document, None, own_fields.deferred(self.target.settings))
        if "doc" in self.slots:
            # An update is merged into the document, so a null removes what the new fingerprint lacks; and the group,
            # which was that of the old text.
            self.slots["doc"].emptied = dict.fromkeys((*self.target.names, mapping.GROUP))

    def _with_fields(self, slot: Slot) -> Json:
        """Copy the document with the fields; whatever else our object holds stays."""
        prefix, kept = self.target.prefix, slot.document.get(self.target.prefix)
        if kept is None or kept == []:
            kept = {}
        # A group that is given replaces all fields of another.
        replaced = self.target.own.union(mapping.NAMES) if slot.group else self.target.own
        kept = _without(replaced, check_mapping(kept, f"has, where the fields belong in {prefix!r}, a value"))
        fields = {**slot.emptied, **kept, **(slot.fields or {}), **slot.group}
        return {**_without(self.target.replaced, slot.document), prefix: fields}


def _is_wrapped(action: Document) -> bool:
    """Return whether the body is in ``_source``, which in an update may instead select what the reply holds."""
    source = action.get("_source")
    is_update = action.get("_op_type") == "update"
    return isinstance(source, _MAPPINGS) or ("_source" in action and not is_update)


def _without(names: frozenset[str], document: Document) -> Document:
    if names.isdisjoint(document):  # as nearly always
        return document
    return {name: value for name, value in document.items() if name not in names}


def id_of(action: Any) -> str | None:
    """Return the id that an action names, if any, to say which it is; of what is none, the beginning."""
    if not isinstance(action, _MAPPINGS):
        return None
    try:
        return checked_id(action)
    except DocumentError:
        return _quoted(action["_id"])


def checked_id(action: Document) -> str | None:
    """Return the id that an action names, if any: a text, or the digits of a whole number."""
    named = action.get("_id")
    if named is None or named == "":
        return named
    if (id_ := as_id(named)) is not None:
        return id_
    if isinstance(named, int) and not isinstance(named, bool):
        raise DocumentError("has an _id of more than a thousand digits. Give a shorter one.")
    raise DocumentError(f"has the _id {_quoted(named)}, of type {type(named).__name__}. Give a text or a whole number.")


def _quoted(value: object) -> str:
    """Return the beginning of what Python shows of a value, which may be nested, huge, or an error."""
    try:
        return f"{value!r:.80}"
    except Exception:  # whatever the value's own class raises
        return f"(a {type(value).__name__} that cannot be shown)"


def check_mapping(value: Any, has_what: str) -> Document:
    """Return the value if it is a mapping; ``has_what`` begins the problem otherwise."""
    if not isinstance(value, _MAPPINGS):
        raise DocumentError(f"{has_what} of type {type(value).__name__}. Give a mapping.")
    return value
